// See objects.h. A few sequences of a manager's, kept with what they recorded: the same op on the same tensors with the
// same shader object is then a replay. What is kept of tensors are serials, not references, so nothing of the user's
// stays alive for it. The GIL guards the slots; a thread that leaves it marks its slot busy, and finds it again by
// index, for the array may move.
#include "objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEPT = 32,
    IN_FLIGHT_MAX = 64,
    LAUNCH = EXT_CLASSIC_OP_COUNT,
    ALIKE = 4,       // recordings that differ in push constants alone; beyond it one of them changes
    PUSH_ROOM = 256, // bytes of push constants that may change without Python
};

static uint64_t recipes; // the last one given

// What a slot recorded, and what is asked of it.
typedef struct request {
    int op;          // ext_classic_op or LAUNCH
    PyObject *tuple; // of memories
    PyObject *extra; // the shader object
    const ext_launch *launch;
} request;

typedef struct ext_slot {
    kp_sequence *sequence;
    bool running;            // submitted, and not awaited
    bool busy;               // a thread is in it without the GIL
    uint64_t used;           // when it was last submitted, counted
    kp_algorithm *algorithm; // that it recorded; a bare handle, since a kp.Algorithm holds the core that holds this
    int op;                  // what it recorded; count 0: nothing that can be replayed
    PyObject *extra;         //
    uint64_t *serials;       // of its tensors
    size_t count;            //
    ext_launch launch;       // of a LAUNCH; `push` and `specs` are owned
    uint64_t recipe;         // the same for slots that recorded the same LAUNCH; 0: none
} ext_slot;

static int succeeded(kp_ext *ext, kp_result result) { return ext_error_check(ext, result); }

// ---------------------------------------------------------------------------------------------------------------------
// What was recorded
// ---------------------------------------------------------------------------------------------------------------------

// Only objects that cannot change stand for the same shader when they are the same object.
static bool is_fixed(const request *r) {
    return r->op == LAUNCH || r->extra == Py_None || PyBytes_CheckExact(r->extra) || PyUnicode_CheckExact(r->extra);
}

static uint64_t serial_of(PyObject *tuple, size_t i) {
    return ((ext_tensor *)PyTuple_GetItem(tuple, (Py_ssize_t)i))->serial;
}

static bool same_push(const ext_launch *a, const ext_launch *b) {
    return a->push_size == b->push_size && (a->push_size == 0 || memcmp(a->push, b->push, a->push_size) == 0);
}

// But for the push constants.
static bool similar_launch(const ext_launch *a, const ext_launch *b) {
    return memcmp(a->extent, b->extent, sizeof a->extent) == 0 && a->upload == b->upload &&
           a->download == b->download && a->push_size == b->push_size && a->spec_count == b->spec_count &&
           (a->spec_count == 0 || memcmp(a->specs, b->specs, EXT_SPEC_BYTES * a->spec_count) == 0);
}

// But for the push constants of a LAUNCH.
static bool recorded_similar(const ext_slot *slot, const request *r) {
    if (slot->count == 0 || slot->op != r->op || slot->extra != r->extra ||
        slot->count != (size_t)PyTuple_Size(r->tuple) || (r->op == LAUNCH && !similar_launch(&slot->launch, r->launch)))
        return false;
    for (size_t i = 0; i < slot->count; i++) {
        if (slot->serials[i] != serial_of(r->tuple, i))
            return false;
    }
    return true;
}

static bool recorded_same(const ext_slot *slot, const request *r) {
    return recorded_similar(slot, r) && (r->op != LAUNCH || same_push(&slot->launch, r->launch));
}

static void destroy_algorithm(void *handle) { kp_algorithm_destroy(handle); }

static void destroy_sequence(void *handle) { kp_sequence_destroy(handle); }

static void forget(ext_core *core, ext_slot *slot) {
    PyObject *extra = slot->extra;
    ext_core_release(core, destroy_algorithm, slot->algorithm);
    slot->algorithm = NULL;
    free(slot->serials);
    free((void *)(uintptr_t)slot->launch.push);
    free((void *)(uintptr_t)slot->launch.specs);
    slot->launch = (ext_launch){0};
    slot->serials = NULL;
    slot->count = 0;
    slot->recipe = 0;
    slot->extra = NULL;
    Py_XDECREF(extra);
}

// The number of what `r` records: that of a slot that recorded the same, or a new one.
static uint64_t recipe_of(const ext_core *core, const request *r) {
    for (size_t i = 0; i < core->slot_count; i++) {
        if (core->slots[i].recipe != 0 && recorded_same(&core->slots[i], r))
            return core->slots[i].recipe;
    }
    return ++recipes;
}

// Notes what was recorded. Takes `algorithm` over. That it cannot be noted is no failure.
static void note(ext_core *core, ext_slot *slot, const request *r, PyObject *algorithm) {
    if (algorithm != NULL) {
        slot->algorithm = ((ext_algorithm *)algorithm)->handle;
        ((ext_algorithm *)algorithm)->handle = NULL;
        Py_DECREF(algorithm);
    }
    size_t count = (size_t)PyTuple_Size(r->tuple);
    // A file may change, and creating is never the same twice.
    if (r->op == EXT_TENSOR_CREATE || r->op == EXT_ALGO_FILE || !is_fixed(r) ||
        (slot->serials = calloc(count, sizeof *slot->serials)) == NULL)
        return;
    if (r->op == LAUNCH) {
        void *push = malloc(r->launch->push_size + 1);
        char *specs = malloc(EXT_SPEC_BYTES * r->launch->spec_count + 1);
        if (push == NULL || specs == NULL) {
            free(push);
            free(specs);
            return;
        }
        if (r->launch->spec_count > 0)
            memcpy(specs, r->launch->specs, EXT_SPEC_BYTES * r->launch->spec_count);
        if (r->launch->push_size > 0)
            memcpy(push, r->launch->push, r->launch->push_size);
        slot->launch = *r->launch;
        slot->launch.push = push;
        slot->launch.specs = specs;
        slot->recipe = recipe_of(core, r);
    }
    for (size_t i = 0; i < count; i++)
        slot->serials[i] = serial_of(r->tuple, i);
    slot->count = count;
    slot->op = r->op;
    slot->extra = Py_NewRef(r->extra);
}

// ---------------------------------------------------------------------------------------------------------------------
// Slots
// ---------------------------------------------------------------------------------------------------------------------

// What a kernel had to tell is for eval_await_def().
static void keep_failure(ext_core *core, kp_result result) {
    if (result == KP_OK || core->failed != KP_OK)
        return;
    core->failed = result;
    snprintf(core->failure, sizeof core->failure, "%s", kp_last_error());
}

// A running slot whose work is done becomes free.
static bool is_free(ext_core *core, ext_slot *slot) {
    if (slot->busy)
        return false;
    kp_result result = slot->running ? kp_sequence_await(slot->sequence, 0) : KP_OK;
    if (result == KP_ERROR_TIMEOUT)
        return false;
    keep_failure(core, result);
    slot->running = false;
    return true;
}

static kp_result await(void *sequence, uint64_t timeout) { return kp_sequence_await(sequence, timeout); }

static int await_slot(kp_ext *ext, ext_core *core, size_t index, uint64_t timeout) {
    kp_sequence *sequence = core->slots[index].sequence;
    core->slots[index].busy = true;
    int result = ext_core_wait(ext, core, await, sequence, timeout);
    core->slots[index].busy = false;
    core->slots[index].running = kp_sequence_is_running(sequence);
    return result;
}

// The slot that was started first of those that still run; false when there is none.
static bool oldest_running(const ext_core *core, size_t *out) {
    bool found = false;
    for (size_t i = 0; i < core->slot_count; i++) {
        const ext_slot *slot = &core->slots[i];
        if (slot->running && !slot->busy && (!found || slot->used < core->slots[*out].used)) {
            *out = i;
            found = true;
        }
    }
    return found;
}

static int add_slot(kp_ext *ext, ext_core *core, size_t *out) {
    kp_manager *manager = ext_core_use(ext, core);
    kp_sequence *sequence;
    if (manager == NULL || succeeded(ext, kp_sequence_create(manager, NULL, &sequence)) < 0)
        return -1;
    ext_slot *slots = realloc(core->slots, (core->slot_count + 1) * sizeof *slots);
    if (slots == NULL) {
        kp_sequence_destroy(sequence);
        PyErr_NoMemory();
        return -1;
    }
    core->slots = slots;
    core->slots[core->slot_count] = (ext_slot){.sequence = sequence};
    *out = core->slot_count++;
    return 0;
}

// A free slot: one that recorded the same, else a new one while few are kept, else the one unused for longest.
static int pick_slot(kp_ext *ext, ext_core *core, const request *r, size_t *out) {
    bool found = false;
    for (size_t i = 0; i < core->slot_count; i++) {
        ext_slot *slot = &core->slots[i];
        if (!is_free(core, slot))
            continue;
        if (recorded_same(slot, r)) {
            *out = i;
            return 0;
        }
        if (!found || slot->used < core->slots[*out].used)
            *out = i;
        found = true;
    }
    if (found && core->slot_count >= KEPT)
        return 0;
    if (core->slot_count >= IN_FLIGHT_MAX && oldest_running(core, out))
        return await_slot(ext, core, *out, UINT64_MAX);
    return add_slot(ext, core, out);
}

static kp_result submit(ext_core *core, size_t index, bool async) {
    static uint64_t submissions;
    kp_sequence *sequence = core->slots[index].sequence;
    core->slots[index].busy = true;
    core->slots[index].used = ++submissions;
    PyThreadState *thread = ext_core_enter(core);
    kp_result result = async ? kp_sequence_eval_async(sequence) : kp_sequence_eval(sequence);
    ext_core_leave(core, thread);
    core->slots[index].busy = false;
    if (result == KP_OK && async)
        core->slots[index].running = core->submitted = true;
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Recording and running
// ---------------------------------------------------------------------------------------------------------------------

typedef kp_result (*sync_fn)(kp_sequence *sequence, kp_memory *const *memory, size_t count);

static kp_result record_sync(kp_sequence *sequence, const ext_memories *m, uint64_t mask, sync_fn sync) {
    kp_result result = KP_OK;
    for (size_t i = 0; result == KP_OK && i < m->count && i < 64; i++) {
        if ((mask >> i & 1) != 0)
            result = sync(sequence, &m->handles[i], 1);
    }
    return result;
}

static int record_launch(kp_ext *ext, ext_core *core, kp_sequence *sequence, const request *r, PyObject **algorithm) {
    const ext_launch *l = r->launch;
    const kp_dispatch_desc dispatch = {
        .extent = {l->extent[0], l->extent[1], l->extent[2]}, .push = l->push, .push_size = l->push_size};
    const ext_algorithm_desc desc = {.spirv = r->extra,
                                     .spec_words = l->specs,
                                     .spec_count = l->spec_count,
                                     .push_bytes = l->push,
                                     .push_size = l->push_size};
    ext_memories m;
    *algorithm = ext_algorithm_new(ext, core, r->tuple, &desc);
    if (*algorithm == NULL)
        return -1;
    int result = ext_memories_read(ext, core, r->tuple, "arguments", &m);
    if (result == 0) {
        result = succeeded(ext, record_sync(sequence, &m, l->upload, kp_record_sync_device));
        if (result == 0)
            result = succeeded(ext, kp_record_dispatch(sequence, ((ext_algorithm *)*algorithm)->handle, &dispatch));
        if (result == 0)
            result = succeeded(ext, record_sync(sequence, &m, l->download, kp_record_sync_local));
        ext_memories_release(&m);
    }
    if (result < 0)
        Py_CLEAR(*algorithm);
    return result;
}

static int record_in_slot(kp_ext *ext, ext_core *core, size_t index, const request *r) {
    PyObject *algorithm = NULL;
    kp_sequence *sequence = core->slots[index].sequence;
    core->slots[index].busy = true; // recording may give the GIL away
    forget(core, &core->slots[index]);
    int result = succeeded(ext, kp_sequence_clear(sequence));
    if (result == 0 && r->op == LAUNCH)
        result = record_launch(ext, core, sequence, r, &algorithm);
    else if (result == 0)
        result = ext_classic_record(ext, core, sequence, (ext_classic_op)r->op, r->tuple, r->extra, &algorithm);
    if (result == 0)
        note(core, &core->slots[index], r, algorithm);
    core->slots[index].busy = false;
    return result;
}

// Whether two slots recorded the same launch, but for the push constants.
static bool are_similar(const ext_slot *a, const ext_slot *b) {
    return a->recipe != 0 && b->recipe != 0 && a->extra == b->extra && a->count == b->count &&
           memcmp(a->serials, b->serials, a->count * sizeof *a->serials) == 0 && similar_launch(&a->launch, &b->launch);
}

// A free slot that recorded what `like` did with the push constants `changed`; else, where there are ALIKE, the one of
// those that was not used for longest. False when there is none.
static bool pick_similar(ext_core *core, const ext_slot *like, const ext_launch *changed, size_t *out) {
    size_t similar = 0;
    bool found = false;
    for (size_t i = 0; i < core->slot_count; i++) {
        ext_slot *slot = &core->slots[i];
        if (!are_similar(slot, like) || !is_free(core, slot))
            continue;
        similar++;
        if (same_push(&slot->launch, changed)) {
            *out = i;
            return true;
        }
        if (!found || slot->used < core->slots[*out].used)
            *out = i;
        found = true;
    }
    return similar >= ALIKE;
}

// Records the launch again with other push constants; `m` has the memory that it syncs, if any. On failure the slot
// holds nothing.
static kp_result record_change(ext_core *core, ext_slot *slot, const ext_launch *changed, const ext_memories *m) {
    const kp_dispatch_desc dispatch = {.extent = {changed->extent[0], changed->extent[1], changed->extent[2]},
                                       .push = changed->push,
                                       .push_size = changed->push_size};
    kp_result result = kp_sequence_clear(slot->sequence);
    if (result == KP_OK)
        result = record_sync(slot->sequence, m, changed->upload, kp_record_sync_device);
    if (result == KP_OK)
        result = kp_record_dispatch(slot->sequence, slot->algorithm, &dispatch);
    if (result == KP_OK)
        result = record_sync(slot->sequence, m, changed->download, kp_record_sync_local);
    if (result != KP_OK) {
        forget(core, slot);
        return result;
    }
    memcpy((void *)(uintptr_t)slot->launch.push, changed->push, changed->push_size);
    slot->recipe = ++recipes;
    return KP_OK;
}

// A slot that recorded what `r` asks for, but for the push constants, gets those: true. False: none is to be changed.
static bool change_similar(kp_ext *ext, ext_core *core, const request *r, size_t *index) {
    ext_memories m;
    size_t like = 0;
    while (like < core->slot_count && (core->slots[like].recipe == 0 || !recorded_similar(&core->slots[like], r)))
        like++;
    if (like == core->slot_count || !pick_similar(core, &core->slots[like], r->launch, index))
        return false;
    if (same_push(&core->slots[*index].launch, r->launch))
        return true;
    if (ext_memories_read(ext, core, r->tuple, "arguments", &m) < 0) {
        PyErr_Clear();
        return false;
    }
    kp_result result = record_change(core, &core->slots[*index], r->launch, &m);
    ext_memories_release(&m);
    return result == KP_OK;
}

static int run_pinned(kp_ext *ext, ext_core *core, const request *r, bool async, uint64_t *recipe) {
    size_t index = 0;
    if (ext_core_use(ext, core) == NULL)
        return -1;
    if (!(r->op == LAUNCH && change_similar(ext, core, r, &index)) && pick_slot(ext, core, r, &index) < 0)
        return -1;
    if (recorded_same(&core->slots[index], r)) {
        *recipe = core->slots[index].recipe;
        kp_result result = submit(core, index, async);
        if (result != KP_ERROR_STATE)
            return succeeded(ext, result);
        if (ext_core_use(ext, core) == NULL)
            return -1;
        // something is destroyed: recording again says what
    }
    if (record_in_slot(ext, core, index, r) < 0)
        return -1;
    *recipe = core->slots[index].recipe;
    return succeeded(ext, submit(core, index, async));
}

// Reading a shader may run code of the user's, which may destroy the manager.
static int run(kp_ext *ext, ext_core *core, const request *r, bool async, uint64_t *recipe) {
    ext_core_pin(core);
    int result = run_pinned(ext, core, r, async, recipe);
    ext_core_unpin(core);
    return result;
}

int ext_anonymous_eval(kp_ext *ext, ext_core *core, ext_classic_op op, PyObject *tensors, PyObject *extra, bool async) {
    PyObject *tuple = ext_memories_tuple(ext, tensors, "tensors");
    if (tuple == NULL)
        return -1;
    uint64_t recipe;
    int result = run(ext, core, &(request){(int)op, tuple, extra, NULL}, async, &recipe);
    Py_DECREF(tuple);
    return result;
}

int ext_anonymous_launch(kp_ext *ext, ext_core *core, PyObject *program, PyObject *tuple, const ext_launch *launch,
                         uint64_t *recipe) {
    return run(ext, core, &(request){LAUNCH, tuple, program, launch}, false, recipe);
}

int ext_anonymous_replay(kp_ext *ext, ext_core *core, uint64_t recipe) {
    size_t index = 0;
    if (!ext_core_usable(core))
        return 0;
    while (index < core->slot_count && (core->slots[index].recipe != recipe || !is_free(core, &core->slots[index])))
        index++;
    if (index == core->slot_count)
        return 0;
    ext_core_pin(core);
    kp_result result = submit(core, index, false);
    ext_core_unpin(core);
    return result == KP_ERROR_STATE ? 0 : succeeded(ext, result) < 0 ? -1 : 1;
}

int ext_anonymous_change(kp_ext *ext, ext_core *core, const ext_patch *patches, size_t count, uint64_t *recipe) {
    char push[PUSH_ROOM];
    size_t index = 0;
    while (index < core->slot_count && core->slots[index].recipe != *recipe)
        index++;
    if (index == core->slot_count || !ext_core_usable(core))
        return 0;
    const ext_slot *like = &core->slots[index];
    ext_launch changed = like->launch;
    if (changed.push_size > sizeof push || changed.upload != 0 || changed.download != 0)
        return 0;
    memcpy(push, changed.push, changed.push_size);
    changed.push = push;
    for (size_t i = 0; i < count; i++) {
        if (patches[i].offset + patches[i].size > changed.push_size)
            return 0;
        memcpy(push + patches[i].offset, patches[i].bytes, patches[i].size);
    }
    if (!pick_similar(core, like, &changed, &index))
        return 0;
    if (!same_push(&core->slots[index].launch, &changed) &&
        record_change(core, &core->slots[index], &changed, &(ext_memories){0}) != KP_OK)
        return 0;
    *recipe = core->slots[index].recipe;
    return ext_anonymous_replay(ext, core, *recipe);
}

int ext_anonymous_await(kp_ext *ext, ext_core *core, uint64_t timeout) {
    if (ext_core_use(ext, core) == NULL)
        return -1;
    if (!core->submitted) {
        ext_error_format(ext, KP_ERROR_STATE,
                         "nothing to wait for: no eval_async_<op>_def was called since the last await");
        return -1;
    }
    uint64_t start = ext_core_now();
    size_t index = 0;
    int result = 0;
    if (core->failed != KP_OK) {
        ext_error_format(ext, core->failed, "%s", core->failure);
        core->failed = KP_OK;
        return -1;
    }
    ext_core_pin(core);
    while (result == 0 && oldest_running(core, &index)) { // what was started earlier is done earlier: one queue
        uint64_t spent = timeout == UINT64_MAX ? 0 : ext_core_now() - start;
        result = await_slot(ext, core, index, spent < timeout ? timeout - spent : 0);
    }
    if (result == 0)
        core->submitted = false;
    ext_core_unpin(core);
    return result;
}

void ext_anonymous_clear(ext_core *core) {
    ext_slot *slots = core->slots;
    size_t count = core->slot_count;
    core->slots = NULL;
    core->slot_count = 0;
    core->submitted = false;
    for (size_t i = 0; i < count; i++) {
        ext_core_release(core, destroy_sequence, slots[i].sequence);
        forget(core, &slots[i]);
    }
    free(slots);
}
