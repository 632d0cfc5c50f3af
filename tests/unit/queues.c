// vulkan/queues: which queues are opened on devices with the families that real ones have.
#include "test.h"

#include "vulkan/queues.h"

#define COMPUTE KP_QUEUES_COMPUTE
#define TRANSFER KP_QUEUES_TRANSFER

typedef struct family {
    uint32_t count;
    bool compute, transfer, graphics, only_copies;
} family;

// An NVIDIA card: all; copies alone; compute; two for video, which can copy.
static const family card[] = {{16, true, true, true, false},
                              {2, false, true, false, true},
                              {8, true, true, false, false},
                              {1, false, true, false, false},
                              {1, false, true, false, false}};
static const family one[] = {{1, true, true, true, false}};      // drivers for the CPU, many phones
static const family two[] = {{2, true, true, true, false}};      //
static const family display[] = {{1, false, true, true, false}}; // nothing computes
static const family strange[] = {
    {1, true, true, false, false}, {1, false, false, true, false}, {1, false, true, false, true}};

typedef struct device {
    kp_info info;
    kp_info_limits limits;
} device;

static void make(const family *families, uint32_t count, device *d) {
    memset(d, 0, sizeof *d);
    d->info.queue_family_count = count;
    for (uint32_t i = 0; i < count; i++) {
        d->info.queue_families[i].count = families[i].count;
        d->info.queue_families[i].compute = families[i].compute;
        d->info.queue_families[i].transfer = families[i].transfer;
        d->info.queue_families[i].graphics = families[i].graphics;
        d->limits.only_copies[i] = families[i].only_copies;
    }
}

typedef struct pick {
    uint32_t family, index, owner;
} pick;

// What is asked for gives these queues; the last of them is the one beside them if there is one more than asked for.
static void gives(const family *families, uint32_t family_count, const uint32_t *asked, size_t asked_count, bool copies,
                  const pick *right, uint32_t right_count) {
    device d;
    kp_queues_plan plan;
    make(families, family_count, &d);
    assert_ok(kp_queues_choose(
        &d.info, &d.limits,
        &(kp_queues_request){.families = asked, .count = asked_count, .copies = copies, .label = "m"}, &plan));
    assert_int_equal(plan.count, right_count);
    assert_int_equal(plan.named, asked_count != 0 ? asked_count : 1);
    uint32_t opened[KP_INFO_MAX_FAMILIES] = {0};
    for (uint32_t i = 0; i < right_count; i++) {
        if (plan.families[i] != right[i].family || plan.indices[i] != right[i].index ||
            plan.owners[i] != right[i].owner)
            fail_msg("queue %u is queue %u of family %u, owner %u", i, plan.indices[i], plan.families[i],
                     plan.owners[i]);
        opened[right[i].family] += right[i].owner == i;
    }
    uint32_t used = 0;
    for (uint32_t f = 0; f < family_count; f++) {
        assert_int_equal(plan.opened[f], opened[f]);
        used += opened[f] != 0;
    }
    assert_int_equal(plan.used_count, used);
}

#define GIVES(families, copies, asked, ...)                                                                     \
    gives(families, COUNT_OF(families), asked, sizeof(asked) / sizeof(uint32_t), copies, (pick[]){__VA_ARGS__}, \
          COUNT_OF(((pick[]){__VA_ARGS__})))
#define ASKED(...) ((uint32_t[]){__VA_ARGS__})

static void one_queue_by_default_and_one_for_copies_beside_it(void **state) {
    (void)state;
    gives(card, COUNT_OF(card), NULL, 0, false, &(pick){2, 0, 0}, 1);
    gives(card, COUNT_OF(card), NULL, 0, true, (pick[]){{2, 0, 0}, {1, 0, 1}}, 2);
    gives(one, COUNT_OF(one), NULL, 0, true, &(pick){0, 0, 0}, 1);
    gives(strange, COUNT_OF(strange), NULL, 0, true, (pick[]){{0, 0, 0}, {2, 0, 1}}, 2);
}

static void indices_are_taken_as_they_are(void **state) {
    (void)state;
    GIVES(card, false, ASKED(0, 2, 0), {0, 0, 0}, {2, 0, 1}, {0, 1, 2});
    GIVES(card, true, ASKED(0), {0, 0, 0}, {1, 0, 1});
    GIVES(card, true, ASKED(0, 1), {0, 0, 0}, {1, 0, 1}); // one that copies was asked for
    GIVES(card, true, ASKED(3), {3, 0, 0});               // ... also if it is one for video
}

static void uses_get_queues_of_their_own_where_there_are_some(void **state) {
    (void)state;
    GIVES(card, true, ASKED(COMPUTE, TRANSFER), {2, 0, 0}, {1, 0, 1});
    GIVES(card, true, ASKED(TRANSFER, COMPUTE, COMPUTE), {1, 0, 0}, {2, 0, 1}, {2, 1, 2});
    GIVES(card, false, ASKED(TRANSFER, TRANSFER, TRANSFER), {1, 0, 0}, {1, 1, 1}, {2, 0, 2});
    GIVES(card, false, ASKED(COMPUTE, 2, TRANSFER, 1), {2, 1, 0}, {2, 0, 1}, {1, 1, 2}, {1, 0, 3});
    GIVES(two, true, ASKED(COMPUTE, TRANSFER), {0, 0, 0}, {0, 1, 1});
}

static void uses_share_where_there_are_too_few(void **state) {
    (void)state;
    GIVES(one, true, ASKED(COMPUTE, TRANSFER), {0, 0, 0}, {0, 0, 0});
    GIVES(one, true, ASKED(TRANSFER, COMPUTE, COMPUTE), {0, 0, 0}, {0, 0, 0}, {0, 0, 0});
    GIVES(one, false, ASKED(COMPUTE, 0), {0, 0, 0}, {0, 0, 0}); // whichever comes first
    GIVES(two, true, ASKED(COMPUTE, COMPUTE, COMPUTE, COMPUTE, TRANSFER), {0, 0, 0}, {0, 1, 1}, {0, 0, 0}, {0, 1, 1},
          {0, 0, 0});
    GIVES(strange, false, ASKED(TRANSFER, COMPUTE, COMPUTE), {2, 0, 0}, {0, 0, 1}, {0, 0, 1});
}

static void many_more_than_there_are(void **state) {
    (void)state;
    uint32_t asked[KP_QUEUES_MAX + 1];
    pick right[KP_QUEUES_MAX];
    for (uint32_t i = 0; i <= KP_QUEUES_MAX; i++)
        asked[i] = COMPUTE;
    for (uint32_t i = 0; i < KP_QUEUES_MAX; i++)
        right[i] = (pick){0, i % 2, i % 2};
    gives(two, COUNT_OF(two), asked, KP_QUEUES_MAX, true, right, KP_QUEUES_MAX);
    device d;
    kp_queues_plan plan;
    make(two, COUNT_OF(two), &d);
    assert_fails(kp_queues_choose(&d.info, &d.limits,
                                  &(kp_queues_request){.families = asked, .count = KP_QUEUES_MAX + 1, .label = "m"},
                                  &plan),
                 KP_ERROR_LIMIT, "m: at most 256 queues, 257 were asked for");
}

static void what_is_not_there_is_refused(void **state) {
    (void)state;
    static const struct {
        const family *families;
        uint32_t family_count, asked[4];
        bool indices_alone;
        kp_result result;
        const char *words;
    } cases[] = {
        {card,
         5,
         {5},
         false,
         KP_ERROR_ARGUMENT,
         "m: there is no queue family 5; families that compute: 0 (16 queues), 2 (8 queues)"},
        {one,
         1,
         {COMPUTE},
         true,
         KP_ERROR_ARGUMENT,
         "m: there is no queue family 4294967294; families that compute: 0 (1 queue)"},
        {card,
         5,
         {1, 1, 1},
         false,
         KP_ERROR_ARGUMENT,
         "m: queue family 1 was asked for 3 queues and has 2; families that compute: 0 (16 queues), 2 (8 queues)"},
        {strange,
         3,
         {1},
         false,
         KP_ERROR_ARGUMENT,
         "m: queue family 1 can neither compute nor copy; families that compute: 0 (1 queue)"},
        {display, 1, {COMPUTE}, false, KP_ERROR_UNSUPPORTED, "m: the device has no compute queue"},
        {display, 1, {TRANSFER}, false, KP_ERROR_UNSUPPORTED, "m: the device has no compute queue"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        device d;
        kp_queues_plan plan;
        size_t count = 1;
        while (count < 4 && cases[i].asked[count] != 0)
            count++;
        make(cases[i].families, cases[i].family_count, &d);
        assert_fails(kp_queues_choose(&d.info, &d.limits,
                                      &(kp_queues_request){.families = cases[i].asked,
                                                           .count = count,
                                                           .indices_alone = cases[i].indices_alone,
                                                           .label = "m"},
                                      &plan),
                     cases[i].result, cases[i].words);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_queue_by_default_and_one_for_copies_beside_it),
        cmocka_unit_test(indices_are_taken_as_they_are),
        cmocka_unit_test(uses_get_queues_of_their_own_where_there_are_some),
        cmocka_unit_test(uses_share_where_there_are_too_few),
        cmocka_unit_test(many_more_than_there_are),
        cmocka_unit_test(what_is_not_there_is_refused),
    };
    return cmocka_run_group_tests_name("unit.queues", tests, NULL, NULL);
}
