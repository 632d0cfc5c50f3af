// See queues.h. Indices come first: they say exactly what they want, and uses take what is left.
#include "queues.h"

#include "base/error.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

enum { NONE = KP_INFO_MAX_FAMILIES };

typedef struct chooser {
    const kp_info *info;
    const kp_info_limits *limits;
    const kp_queues_request *request;
    kp_queues_plan *plan;
} chooser;

// "0 (16 queues), 2 (8 queues)": the families that can compute.
static void list_families(const kp_info *info, kp_str *out) {
    for (uint32_t i = 0; i < info->queue_family_count; i++) {
        if (info->queue_families[i].compute)
            kp_str_format(out, "%s%u (%u queue%s)", out->length != 0 ? ", " : "", i, info->queue_families[i].count,
                          info->queue_families[i].count == 1 ? "" : "s");
    }
}

static kp_result bad_family(const chooser *c, const char *words) {
    kp_str text = {0};
    list_families(c->info, &text);
    kp_result result = kp_error_set(KP_ERROR_ARGUMENT, "%s: %s; families that compute: %s", c->request->label, words,
                                    text.data != NULL ? text.data : "none");
    kp_str_free(&text);
    return result;
}

static bool is_use(const chooser *c, uint32_t family) {
    return !c->request->indices_alone && (family == KP_QUEUES_COMPUTE || family == KP_QUEUES_TRANSFER);
}

// The queue `at` is the next one of a family.
static void take(const chooser *c, size_t at, uint32_t family) {
    kp_queues_plan *plan = c->plan;
    plan->families[at] = family;
    plan->indices[at] = plan->opened[family]++;
    plan->owners[at] = (uint32_t)at;
}

static kp_result take_indices(const chooser *c) {
    const kp_queues_request *request = c->request;
    char words[128];
    for (size_t i = 0; i < request->count; i++) {
        uint32_t family = request->families[i];
        if (is_use(c, family))
            continue;
        if (family >= c->info->queue_family_count) {
            snprintf(words, sizeof words, "there is no queue family %u", family);
            return bad_family(c, words);
        }
        if (!c->info->queue_families[family].compute && !c->info->queue_families[family].transfer) {
            snprintf(words, sizeof words, "queue family %u can neither compute nor copy", family);
            return bad_family(c, words);
        }
        take(c, i, family);
    }
    for (uint32_t family = 0; family < c->info->queue_family_count; family++) {
        uint32_t there = c->info->queue_families[family].count;
        if (c->plan->opened[family] > there) {
            snprintf(words, sizeof words, "queue family %u was asked for %u queues and has %u", family,
                     c->plan->opened[family], there);
            return bad_family(c, words);
        }
    }
    return KP_OK;
}

static bool has_left(const chooser *c, uint32_t family) {
    return c->plan->opened[family] < c->info->queue_families[family].count;
}

// A family with a queue left that computes, best one without graphics: its work does not hold up the desktop.
static uint32_t compute_family(const chooser *c) {
    uint32_t found = NONE;
    for (uint32_t i = 0; i < c->info->queue_family_count; i++) {
        if (!c->info->queue_families[i].compute || !has_left(c, i))
            continue;
        if (!c->info->queue_families[i].graphics)
            return i;
        if (found == NONE)
            found = i;
    }
    return found;
}

static uint32_t copy_family(const chooser *c) {
    for (uint32_t i = 0; i < c->info->queue_family_count; i++) {
        if (c->limits->only_copies[i] && has_left(c, i))
            return i;
    }
    return NONE;
}

// Gives the queue `at` one that is there: of those that can do the same, the one that the fewest have.
static bool share(const chooser *c, size_t at, bool compute) {
    kp_queues_plan *plan = c->plan;
    uint32_t users[KP_QUEUES_MAX] = {0}, best = UINT32_MAX;
    for (size_t i = 0; i < c->request->count; i++) {
        if (plan->owners[i] != UINT32_MAX)
            users[plan->owners[i]]++;
    }
    for (uint32_t i = 0; i < c->request->count; i++) {
        if (plan->owners[i] == i && (!compute || c->info->queue_families[plan->families[i]].compute) &&
            (best == UINT32_MAX || users[i] < users[best]))
            best = i;
    }
    if (best == UINT32_MAX)
        return false;
    plan->families[at] = plan->families[best];
    plan->indices[at] = plan->indices[best];
    plan->owners[at] = best;
    return true;
}

static kp_result take_uses(const chooser *c, uint32_t use) {
    bool compute = use == KP_QUEUES_COMPUTE;
    for (size_t i = 0; i < c->request->count; i++) {
        if (!is_use(c, c->request->families[i]) || c->request->families[i] != use)
            continue;
        uint32_t family = compute ? NONE : copy_family(c);
        family = family != NONE ? family : compute_family(c);
        if (family != NONE)
            take(c, i, family);
        else if (!share(c, i, compute))
            return kp_error_set(KP_ERROR_UNSUPPORTED, "%s: the device has no compute queue", c->request->label);
    }
    return KP_OK;
}

// Owners come before those that share: the lowest of them is it.
static void settle_owners(kp_queues_plan *plan) {
    for (uint32_t i = 0; i < plan->count; i++) {
        for (uint32_t k = 0; k <= i; k++) {
            if (plan->families[k] == plan->families[i] && plan->indices[k] == plan->indices[i]) {
                plan->owners[i] = k;
                break;
            }
        }
    }
}

static void note_families(kp_queues_plan *plan, uint32_t from) {
    for (uint32_t i = from; i < plan->count; i++) {
        bool known = false;
        for (uint32_t k = 0; k < plan->used_count; k++)
            known = known || plan->used[k] == plan->families[i];
        if (!known)
            plan->used[plan->used_count++] = plan->families[i];
    }
}

static bool copies_already(const chooser *c) {
    for (uint32_t i = 0; i < c->plan->count; i++) {
        if (!c->info->queue_families[c->plan->families[i]].compute)
            return true;
    }
    return false;
}

kp_result kp_queues_choose(const kp_info *info, const kp_info_limits *limits, const kp_queues_request *request,
                           kp_queues_plan *out) {
    static const uint32_t one[] = {KP_QUEUES_COMPUTE};
    kp_queues_request full = *request;
    if (full.count == 0) {
        full.families = one;
        full.count = 1;
    }
    if (full.count > KP_QUEUES_MAX)
        return kp_error_set(KP_ERROR_LIMIT, "%s: at most %d queues, %zu were asked for", full.label, KP_QUEUES_MAX,
                            full.count);
    *out = (kp_queues_plan){.count = (uint32_t)full.count, .named = (uint32_t)full.count};
    memset(out->owners, 0xFF, sizeof out->owners);
    const chooser c = {.info = info, .limits = limits, .request = &full, .plan = out};
    kp_result result = take_indices(&c);
    if (result == KP_OK)
        result = take_uses(&c, KP_QUEUES_COMPUTE);
    if (result == KP_OK)
        result = take_uses(&c, KP_QUEUES_TRANSFER);
    if (result != KP_OK)
        return result;
    settle_owners(out);
    note_families(out, 0);
    out->named_family_count = out->used_count;
    uint32_t family = full.copies && !copies_already(&c) ? copy_family(&c) : NONE;
    if (family != NONE) {
        take(&c, out->count++, family);
        note_families(out, out->named);
    }
    return KP_OK;
}
