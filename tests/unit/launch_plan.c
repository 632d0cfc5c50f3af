// runtime/launch_plan: whatever the extent and the limits, carrying a plan out as base/launch.h says runs each index
// exactly once, and stays inside the limits; what is refused could not have been launched.
#include "test.h"

#include "runtime/launch_plan.h"

static const kp_launch_device gpu = {.max_workgroup_count = {2147483647, 65535, 65535},
                                     .max_workgroup_size = {1024, 1024, 64},
                                     .max_workgroup_invocations = 1024,
                                     .max_push_constants = 256,
                                     .subgroup_size = 32,
                                     .type = KP_DEVICE_DISCRETE};
static const kp_launch_device lavapipe = {.max_workgroup_count = {65535, 65535, 65535},
                                          .max_workgroup_size = {1024, 1024, 1024},
                                          .max_workgroup_invocations = 1024,
                                          .max_push_constants = 256,
                                          .subgroup_size = 8,
                                          .type = KP_DEVICE_CPU,
                                          .driver = KP_LAUNCH_DRIVER_LAVAPIPE};
static const kp_launch_device swiftshader = {.max_workgroup_count = {65535, 65535, 65535},
                                             .max_workgroup_size = {256, 256, 64},
                                             .max_workgroup_invocations = 256,
                                             .max_push_constants = 128,
                                             .subgroup_size = 4,
                                             .type = KP_DEVICE_CPU,
                                             .driver = KP_LAUNCH_DRIVER_SWIFTSHADER};

static kp_launch_request request_of(uint32_t x, uint32_t y, uint32_t z) {
    return (kp_launch_request){.extent = {x, y, z}, .push_size = 4};
}

// ---------------------------------------------------------------------------------------------------------------------
// The contract, carried out
// ---------------------------------------------------------------------------------------------------------------------

static void run_index(const kp_launch_plan *p, uint32_t x, uint32_t y, uint32_t z, uint8_t *runs) {
    const uint32_t *e = p->push.extent;
    if (x < e[0] && y < e[1] && z < e[2])
        runs[((size_t)z * e[1] + y) * e[0] + x]++;
}

static void run_invocation(const kp_launch_plan *p, const uint32_t b[3], const uint32_t l[3], uint8_t *runs) {
    uint32_t block = p->local[0] * p->items;
    for (uint32_t k = 0; k < p->items; k++) {
        uint32_t x = b[0] * block + (p->adjacent ? l[0] * p->items + k : l[0] + k * p->local[0]);
        run_index(p, x, b[1] * p->local[1] + l[1], b[2] * p->local[2] + l[2], runs);
    }
}

static void run_workgroup(const kp_launch_plan *p, const uint32_t w[3], uint8_t *runs) {
    uint32_t b[3] = {w[0], w[1], w[2]};
    if (p->folded) {
        const uint32_t *blocks = p->push.blocks;
        uint32_t n = w[0] + p->groups[0] * (w[1] + p->groups[1] * w[2]);
        b[0] = n % blocks[0];
        b[1] = n / blocks[0] % blocks[1];
        b[2] = n / blocks[0] / blocks[1];
        if (b[2] >= blocks[2])
            return;
    }
    for (uint32_t z = 0; z < p->local[2]; z++) {
        for (uint32_t y = 0; y < p->local[1]; y++) {
            for (uint32_t x = 0; x < p->local[0]; x++)
                run_invocation(p, b, (const uint32_t[]){x, y, z}, runs);
        }
    }
}

static uint64_t volume(const uint32_t v[3]) { return (uint64_t)v[0] * v[1] * v[2]; }

static void simulate(const kp_launch_plan *p) {
    size_t count = (size_t)volume(p->push.extent);
    uint8_t *runs = calloc(count, 1);
    assert_non_null(runs);
    for (uint32_t z = 0; z < p->groups[2]; z++) {
        for (uint32_t y = 0; y < p->groups[1]; y++) {
            for (uint32_t x = 0; x < p->groups[0]; x++)
                run_workgroup(p, (const uint32_t[]){x, y, z}, runs);
        }
    }
    for (size_t k = 0; k < count; k++)
        assert_int_equal(runs[k], 1);
    free(runs);
}

// ---------------------------------------------------------------------------------------------------------------------
// What holds for any plan
// ---------------------------------------------------------------------------------------------------------------------

static bool is_power_of_two(uint32_t n) { return n != 0 && (n & (n - 1)) == 0; }

static void assert_inside_limits(const kp_launch_device *d, const kp_launch_plan *p) {
    for (int axis = 0; axis < 3; axis++) {
        assert_in_range(p->local[axis], 1, d->max_workgroup_size[axis]);
        assert_in_range(p->groups[axis], 1, d->max_workgroup_count[axis]);
    }
    assert_true(volume(p->local) <= d->max_workgroup_invocations);
}

static void assert_sound(const kp_launch_device *d, const kp_launch_request *r, const kp_launch_plan *p) {
    assert_inside_limits(d, p);
    if (!p->blocks) {
        assert_memory_equal(p->groups, r->extent, sizeof p->groups);
        assert_true(volume(p->local) == 1 && p->items == 1 && !p->folded && !p->adjacent);
        assert_true(((uint64_t)r->push_size + 3) / 4 * 4 + sizeof(kp_launch_push) > d->max_push_constants);
        return;
    }
    assert_memory_equal(p->push.extent, r->extent, sizeof r->extent);
    assert_int_equal(p->push_offset % 4, 0);
    assert_in_range(p->push_offset, r->push_size, r->push_size + 3);
    assert_true(p->push_offset + sizeof(kp_launch_push) <= d->max_push_constants);
    for (int axis = 0; axis < 3; axis++) {
        uint64_t block = axis == 0 ? (uint64_t)p->local[0] * p->items : p->local[axis], blocks = p->push.blocks[axis];
        assert_true(is_power_of_two((uint32_t)block));
        assert_true(blocks * block >= r->extent[axis] && (blocks - 1) * block < r->extent[axis]);
        assert_true(blocks * block <= (uint64_t)1 << 31); // so no 32-bit sum in the shader overflows
    }
    if (p->folded)
        assert_true(volume(p->groups) >= volume(p->push.blocks) && volume(p->groups) <= UINT32_MAX);
    else
        assert_memory_equal(p->groups, p->push.blocks, sizeof p->groups);
}

static kp_launch_plan plan_of(const kp_launch_device *d, kp_launch_request r) {
    kp_launch_plan p;
    assert_ok(kp_launch_plan_make(d, &r, &p));
    assert_sound(d, &r, &p);
    return p;
}

static uint32_t up_to(test_random *random, uint32_t n) { return 1 + test_below(random, n); }

// A number with every size of number equally likely.
static uint32_t any_size(test_random *random, uint32_t bits) {
    return 1 + (uint32_t)(test_next(random) & (((uint64_t)1 << test_below(random, bits + 1)) - 1));
}

// ---------------------------------------------------------------------------------------------------------------------
// Tests
// ---------------------------------------------------------------------------------------------------------------------

static const kp_launch_device *const devices[] = {&gpu, &lavapipe, &swiftshader};

static void test_every_short_extent_runs_each_index_once(void **state) {
    (void)state;
    for (size_t d = 0; d < COUNT_OF(devices); d++) {
        for (uint32_t x = 1; x <= 700; x++) {
            kp_launch_plan p = plan_of(devices[d], request_of(x, 1, 1));
            simulate(&p);
        }
        for (uint32_t n = 1; n <= 12 * 12 * 12; n++) {
            kp_launch_plan p = plan_of(devices[d], request_of(1 + n % 12, 1 + n / 12 % 12, 1 + n / 144 % 12));
            simulate(&p);
        }
    }
}

static void test_extents_at_the_edges_of_blocks_and_tiers(void **state) {
    (void)state;
    for (size_t d = 0; d < COUNT_OF(devices); d++) {
        for (uint32_t power = 8; power <= 21; power++) {
            for (uint32_t x = (1u << power) - 1; x <= (1u << power) + 1; x++) {
                kp_launch_plan p = plan_of(devices[d], request_of(x, 1, 1));
                simulate(&p);
            }
        }
    }
}

static void test_shapes_of_one_million_indices(void **state) {
    (void)state;
    static const uint32_t shapes[][3] = {{1, 1000003, 1}, {3, 333331, 1}, {1, 1, 1000003}, {5, 5, 40001},
                                         {1000, 1000, 1}, {500001, 2, 1}, {2, 2, 250007},  {100, 100, 101},
                                         {7, 142857, 1},  {1, 1009, 1013}};
    for (size_t d = 0; d < COUNT_OF(devices); d++) {
        for (size_t k = 0; k < COUNT_OF(shapes); k++) {
            kp_launch_plan p = plan_of(devices[d], request_of(shapes[k][0], shapes[k][1], shapes[k][2]));
            simulate(&p);
        }
    }
}

// Limits down to 1: some launches do not fit. These must be the ones for which the device has too few workgroups.
static void test_random_limits(void **state) {
    (void)state;
    test_random random = {7};
    unsigned launched = 0, folded = 0, refused = 0;
    for (int round = 0; round < 30000; round++) {
        kp_launch_device d = {.max_workgroup_invocations = any_size(&random, 10),
                              .max_push_constants = 4 * test_below(&random, 12),
                              .subgroup_size = test_below(&random, 70),
                              .type = (kp_device_type)test_below(&random, 5),
                              .driver = (kp_launch_driver)test_below(&random, 3)};
        kp_launch_request r = {.push_size = test_below(&random, 20), .loops = test_below(&random, 2) == 0};
        for (int axis = 0; axis < 3; axis++) {
            d.max_workgroup_count[axis] = any_size(&random, 7);
            d.max_workgroup_size[axis] = any_size(&random, 10);
            r.extent[axis] = any_size(&random, 5);
        }
        r.extent[0] = test_below(&random, 4) == 0 ? up_to(&random, 5000) : r.extent[0];
        kp_launch_plan p;
        if (kp_launch_plan_make(&d, &r, &p) == KP_OK) {
            assert_sound(&d, &r, &p);
            if (p.blocks)
                simulate(&p);
            launched++;
            folded += p.folded;
        } else {
            assert_true(volume(r.extent) > 1);
            refused++;
        }
    }
    assert_true(launched > 10000 && folded > 1000 && refused > 1000);
}

static void test_fold_is_refused_only_when_the_device_is_too_small(void **state) {
    (void)state;
    test_random random = {11};
    for (int round = 0; round < 20000; round++) {
        kp_launch_device d = {.max_workgroup_size = {1, 1, 1},
                              .max_workgroup_invocations = 1,
                              .max_push_constants = 128,
                              .driver = KP_LAUNCH_DRIVER_LAVAPIPE};
        kp_launch_request r = {.loops = true}; // one item, one invocation: a workgroup for each index
        for (int axis = 0; axis < 3; axis++) {
            d.max_workgroup_count[axis] = up_to(&random, 9);
            r.extent[axis] = up_to(&random, 9);
        }
        kp_launch_plan p;
        kp_result result = kp_launch_plan_make(&d, &r, &p);
        assert_int_equal(result, volume(r.extent) <= volume(d.max_workgroup_count) ? KP_OK : KP_ERROR_LIMIT);
        if (result == KP_OK) {
            assert_sound(&d, &r, &p);
            simulate(&p);
        }
    }
}

static void test_large_extents_are_sound(void **state) {
    (void)state;
    test_random random = {3};
    for (int round = 0; round < 200000; round++) {
        const kp_launch_device *d = devices[test_below(&random, COUNT_OF(devices))];
        kp_launch_request r = {.push_size = test_below(&random, 140), .loops = test_below(&random, 2) == 0};
        for (int axis = 0; axis < 3; axis++)
            r.extent[axis] = any_size(&random, axis == 0 ? 30 : 20);
        kp_launch_plan p;
        kp_result result = kp_launch_plan_make(d, &r, &p);
        if (result == KP_OK)
            assert_sound(d, &r, &p);
        else
            assert_int_equal(result, KP_ERROR_LIMIT);
    }
}

static void test_the_longest_extent_on_each_axis(void **state) {
    (void)state;
    for (size_t d = 0; d < COUNT_OF(devices); d++) {
        for (int axis = 0; axis < 3; axis++) {
            kp_launch_request r = request_of(1, 1, 1);
            r.extent[axis] = INT32_MAX;
            plan_of(devices[d], r);
        }
    }
}

static void assert_setting(const kp_launch_device *d, uint32_t extent, uint32_t local, uint32_t items, bool adjacent) {
    kp_launch_plan p = plan_of(d, request_of(extent, 1, 1));
    assert_int_equal(p.local[0], local);
    assert_int_equal(p.items, items);
    assert_int_equal(p.adjacent, adjacent);
}

static void test_large_launches_get_the_measured_setting(void **state) {
    (void)state;
    assert_setting(&gpu, 1u << 28, 1024, 8, false);
    assert_setting(&lavapipe, 1u << 24, 1024, 8, true);
    assert_setting(&swiftshader, 1u << 24, 256, 32, true);
}

static void test_small_launches_spread_over_the_device(void **state) {
    (void)state;
    assert_true(plan_of(&gpu, request_of(1u << 20, 1, 1)).groups[0] >= 128);
    assert_true(plan_of(&gpu, request_of(1u << 15, 1, 1)).groups[0] >= 128);
    assert_true(plan_of(&gpu, request_of(4096, 1, 1)).groups[0] >= 128);
    assert_true(plan_of(&lavapipe, request_of(1u << 18, 1, 1)).groups[0] >= 32);
    assert_true(plan_of(&lavapipe, request_of(1u << 16, 1, 1)).groups[0] >= 32);
    assert_true(plan_of(&lavapipe, request_of(512, 1, 1)).groups[0] >= 32);
    assert_true(plan_of(&swiftshader, request_of(1u << 17, 1, 1)).groups[0] >= 16);
}

static void test_one_axis_has_three_settings(void **state) {
    (void)state;
    for (size_t d = 0; d < COUNT_OF(devices); d++) {
        uint32_t settings[16][2];
        size_t count = 0;
        for (uint32_t x = 1; x < 1u << 30; x += x / 13 + 1) {
            kp_launch_plan p = plan_of(devices[d], request_of(x, 1, 1));
            assert_int_equal(p.local[1] * p.local[2], 1);
            size_t k = 0;
            while (k < count && (settings[k][0] != p.local[0] || settings[k][1] != p.items))
                k++;
            assert_true(k < COUNT_OF(settings));
            settings[k][0] = p.local[0];
            settings[k][1] = p.items;
            count += k == count;
        }
        assert_int_equal(count, 3);
    }
}

static void test_shapes_are_full_workgroups(void **state) {
    (void)state;
    static const uint32_t shapes[][3] = {{1920, 1080, 1},  {3840, 2160, 1}, {1, 10000000, 1}, {3, 10000000, 1},
                                         {1u << 24, 2, 1}, {256, 256, 256}, {5, 5, 1000000}};
    for (size_t k = 0; k < COUNT_OF(shapes); k++) {
        kp_launch_plan p = plan_of(&gpu, request_of(shapes[k][0], shapes[k][1], shapes[k][2]));
        assert_true(volume(p.local) >= 256);
    }
    assert_int_equal(plan_of(&gpu, request_of(1920, 1080, 1)).local[0], 32);
    assert_int_equal(plan_of(&gpu, request_of(1, 10000000, 1)).local[0], 1);
}

static void test_loops_on_lavapipe_get_one_item(void **state) {
    (void)state;
    kp_launch_request r = request_of(1u << 24, 1, 1);
    r.loops = true;
    assert_int_equal(plan_of(&lavapipe, r).items, 1);
    assert_int_equal(plan_of(&gpu, r).items, 8);
    assert_int_equal(plan_of(&swiftshader, r).items, 32);
}

static void test_push_constants_that_leave_no_room(void **state) {
    (void)state;
    kp_launch_request r = request_of(60000, 1, 1);
    r.push_size = 104; // 104 + 24 = 128
    assert_true(plan_of(&swiftshader, r).blocks);
    assert_int_equal(plan_of(&swiftshader, r).push_offset, 104);
    r.push_size = 105;
    assert_false(plan_of(&swiftshader, r).blocks);
    r.push_size = UINT32_MAX;
    assert_false(plan_of(&swiftshader, r).blocks);
    r.extent[0] = 65536;
    kp_launch_plan p;
    r.label = "algorithm 'big'";
    assert_fails(
        kp_launch_plan_make(&swiftshader, &r, &p), KP_ERROR_LIMIT,
        "algorithm 'big': extent (65536, 1, 1) needs 65536 x 1 x 1 workgroups, the device takes 65535 x 65535 x "
        "65535, and at most 2^32 in all");
}

static void test_more_blocks_than_the_limit_fold_evenly(void **state) {
    (void)state;
    kp_launch_plan p = plan_of(&lavapipe, request_of(1u << 30, 1, 1)); // 131,072 blocks
    assert_true(p.folded);
    assert_true(volume(p.groups) <= 131072 + 3);
}

static void test_extents_that_are_refused(void **state) {
    (void)state;
    kp_launch_plan p;
    kp_launch_request zero = request_of(5, 0, 1), long_one = request_of(1u << 31, 1, 1),
                      huge = request_of(1u << 30, 1u << 30, 1);
    assert_fails(kp_launch_plan_make(&gpu, &zero, &p), KP_ERROR_ARGUMENT, "launch: extent on y is 0");
    assert_fails(kp_launch_plan_make(&gpu, &long_one, &p), KP_ERROR_LIMIT,
                 "launch: extent on x is 2147483648, the most is 2147483647");
    assert_fails_like(kp_launch_plan_make(&gpu, &huge, &p), KP_ERROR_LIMIT,
                      "launch: extent (1073741824, 1073741824, 1) needs ");
    kp_launch_device nothing = {.max_push_constants = 128};
    kp_launch_request one = request_of(1, 1, 1);
    assert_fails(kp_launch_plan_make(&nothing, &one, &p), KP_ERROR_LIMIT,
                 "launch: the device launches no workgroups on x");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_short_extent_runs_each_index_once),
        cmocka_unit_test(test_extents_at_the_edges_of_blocks_and_tiers),
        cmocka_unit_test(test_shapes_of_one_million_indices),
        cmocka_unit_test(test_random_limits),
        cmocka_unit_test(test_fold_is_refused_only_when_the_device_is_too_small),
        cmocka_unit_test(test_large_extents_are_sound),
        cmocka_unit_test(test_the_longest_extent_on_each_axis),
        cmocka_unit_test(test_large_launches_get_the_measured_setting),
        cmocka_unit_test(test_small_launches_spread_over_the_device),
        cmocka_unit_test(test_one_axis_has_three_settings),
        cmocka_unit_test(test_shapes_are_full_workgroups),
        cmocka_unit_test(test_loops_on_lavapipe_get_one_item),
        cmocka_unit_test(test_push_constants_that_leave_no_room),
        cmocka_unit_test(test_more_blocks_than_the_limit_fold_evenly),
        cmocka_unit_test(test_extents_that_are_refused),
    };
    return cmocka_run_group_tests_name("launch_plan", tests, NULL, NULL);
}
