// See objects.h. What calls with arrays put their data in, kept for the next call: tensors and images that are found
// again by shape and type. A kp.Memory holds the core, so those that wait here, which the core holds, do without
// theirs.
//
// Which of several equal ones is taken does not depend on what happened in between: so the same call gets the same
// memory, and what was recorded for it is a replay.
#include "objects.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT = 64 };                             // at most
static const uint64_t ROOM = (uint64_t)1 << 29; // bytes in all, but no more than ...
enum { PART = 8 };                              // ... this part of the device's memory
static const uint64_t LITTLE = 1 << 24;         // bytes that every device has to spare

typedef struct ext_spare {
    ext_tensor *memory; // without core
    ext_wanted wanted;
    uint64_t used; // when it was given back, counted
} ext_spare;

static void destroy(void *handle) { kp_memory_destroy(handle); }

static void drop(ext_core *core, ext_tensor *t) {
    kp_memory *handle = t->handle;
    t->handle = NULL;
    ext_core_release(core, destroy, handle);
    Py_DECREF(t);
}

bool ext_spares_clear(ext_core *core) {
    ext_spare *spares = core->spares;
    size_t count = core->spare_count;
    core->spares = NULL;
    core->spare_count = 0;
    core->spare_bytes = 0;
    for (size_t i = 0; i < count; i++)
        drop(core, spares[i].memory);
    free(spares);
    return count != 0;
}

bool ext_spares_relieve(kp_ext *ext, ext_core *core) {
    if (!ext_error_matches(ext, KP_ERROR_DEVICE_MEMORY) || core->spare_count == 0)
        return false;
    PyErr_Clear();
    return ext_spares_clear(core);
}

// Out of the list; its reference goes to the caller.
static ext_tensor *remove_at(ext_core *core, size_t at) {
    ext_tensor *t = core->spares[at].memory;
    core->spare_bytes -= kp_tensor_bytes(t->handle);
    core->spares[at] = core->spares[--core->spare_count];
    return t;
}

static bool is_wanted(const ext_wanted *a, const ext_wanted *b) {
    return a->image == b->image && a->normalized == b->normalized && a->dtype == b->dtype && a->ndim == b->ndim &&
           a->structure == b->structure && memcmp(a->shape, b->shape, a->ndim * sizeof *a->shape) == 0;
}

static PyObject *make(kp_ext *ext, ext_core *core, const ext_wanted *w, const char *what) {
    const uint64_t *shape = w->shape;
    unsigned axes = w->ndim - 1; // of an image
    if (w->image)
        return ext_image_new(ext, core, Py_None, (int)w->dtype,
                             &(kp_image_desc){.dtype = w->dtype,
                                              .normalized = w->normalized,
                                              .channels = (uint32_t)shape[axes],
                                              .width = (uint32_t)shape[axes - 1],
                                              .height = axes > 1 ? (uint32_t)shape[axes - 2] : 0,
                                              .depth = axes > 2 ? (uint32_t)shape[axes - 3] : 0,
                                              .uninitialized = true});
    kp_tensor_desc desc = {.dtype = w->dtype, .ndim = w->ndim, .uninitialized = true};
    memcpy(desc.shape, shape, w->ndim * sizeof *shape);
    return w->structure != NULL ? ext_struct_create(ext, core, w->structure, what, &desc)
                                : ext_tensor_from_desc(ext, core, &desc);
}

PyObject *ext_spares_take(kp_ext *ext, ext_core *core, const ext_wanted *w, const char *what) {
    size_t best = core->spare_count;
    for (size_t i = 0; i < core->spare_count; i++) {
        if (is_wanted(&core->spares[i].wanted, w) &&
            (best == core->spare_count || core->spares[i].memory->serial < core->spares[best].memory->serial))
            best = i;
    }
    if (best == core->spare_count)
        return make(ext, core, w, what);
    ext_tensor *t = remove_at(core, best);
    t->core = ext_core_hold(core);
    return (PyObject *)t;
}

static uint64_t room_of(const ext_core *core) {
    kp_device_info info;
    if (core->spare_bytes <= LITTLE || kp_manager_device(core->handle, &info) != KP_OK)
        return LITTLE;
    return info.memory / PART < ROOM ? info.memory / PART : ROOM;
}

static void drop_oldest(ext_core *core) {
    size_t oldest = 0;
    for (size_t i = 1; i < core->spare_count; i++) {
        if (core->spares[i].used < core->spares[oldest].used)
            oldest = i;
    }
    drop(core, remove_at(core, oldest));
}

void ext_spares_return(ext_core *core, PyObject *memory, const ext_wanted *w) {
    static uint64_t returns;
    ext_tensor *t = (ext_tensor *)memory;
    ext_spare *spares = NULL;
    if (ext_core_usable(core) && ext_memory_alive(t))
        spares = realloc(core->spares, (core->spare_count + 1) * sizeof *spares);
    if (spares == NULL) {
        Py_DECREF(t);
        return;
    }
    core->spares = spares;
    spares[core->spare_count++] = (ext_spare){t, *w, ++returns};
    spares[core->spare_count - 1].wanted.structure = t->numpy; // which it holds
    core->spare_bytes += kp_tensor_bytes(t->handle);
    t->core = NULL;
    ext_core_drop(core); // the caller has it pinned
    while (core->spare_count > KEPT || core->spare_bytes > room_of(core))
        drop_oldest(core);
}
