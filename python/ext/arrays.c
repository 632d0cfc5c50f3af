// See objects.h. Calls of kernels with arrays. Each array gets a temporary of its own, a tensor or an image from
// spares.c, and an array that comes twice one in all. What the kernel may read is copied in, what it writes is copied
// back: small arrays by way of the temporary's host side, with syncs recorded around the dispatch, large ones by
// kp_tensor_upload and kp_tensor_download.
//
// What the call came to, its plan, has all but the elements, so that py_call.c can run it again for arrays of the same
// types and shapes.
#include "objects.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST = 64,       // arguments: syncs are noted as bits
    LARGE = 4 << 20, // bytes from which on kp_tensor_upload is quicker: it copies in pieces of as many
    QUICK = 1 << 15, // bytes below which giving the GIL away costs more than it frees
    PUSH_ROOM = 256, // bytes of push constants that can be patched
};
static const char capsule_name[] = "kp.plan";

typedef struct argument {
    bool copied;       // an array: a temporary stands for it
    bool in, out;      // ... copied to it, and back
    bool moves;        // ... by kp_tensor_upload and kp_tensor_download
    bool direct;       // ... back to where its elements were read
    bool plain;        // ... and read where they lie in the object that the caller gave
    size_t same;       // the first argument with the same memory, perhaps this one
    size_t object;     // which of the call's objects it is
    PyObject *given;   // ... borrowed, as long as the call that made the plan
    ext_wanted wanted; //
} argument;

struct ext_plan {
    PyObject *program;
    bool matched;      // it holds the dtypes of structs
    ext_launch launch; // push and specs are owned
    size_t count;
    argument list[];
};

// ---------------------------------------------------------------------------------------------------------------------
// Plans
// ---------------------------------------------------------------------------------------------------------------------

static void free_plan(ext_plan *plan) {
    if (plan == NULL)
        return;
    free((void *)(uintptr_t)plan->launch.push);
    free((void *)(uintptr_t)plan->launch.specs);
    for (size_t k = 0; plan->matched && k < plan->count; k++)
        Py_XDECREF(plan->list[k].wanted.structure);
    Py_XDECREF(plan->program);
    free(plan);
}

static void free_capsule(PyObject *capsule) { free_plan(PyCapsule_GetPointer(capsule, capsule_name)); }

static void *copy_of(const void *bytes, size_t size) {
    void *copy = malloc(size + 1);
    if (copy != NULL && size != 0)
        memcpy(copy, bytes, size);
    return copy;
}

static ext_plan *new_plan(PyObject *program, size_t count, const ext_launch *launch) {
    ext_plan *plan = calloc(1, sizeof *plan + count * sizeof *plan->list);
    if (plan == NULL)
        return NULL;
    plan->program = Py_NewRef(program);
    plan->count = count;
    plan->launch = *launch;
    plan->launch.push = copy_of(launch->push, launch->push_size);
    plan->launch.specs = copy_of(launch->specs, EXT_SPEC_BYTES * launch->spec_count);
    if (plan->launch.push != NULL && plan->launch.specs != NULL)
        return plan;
    free_plan(plan);
    return NULL;
}

ext_plan *ext_plan_of(PyObject *capsule) {
    return PyCapsule_IsValid(capsule, capsule_name) ? PyCapsule_GetPointer(capsule, capsule_name) : NULL;
}

// Each object has to be one argument's: an array may be a number, too, whose value counts.
bool ext_plan_match(ext_plan *plan, PyObject *const *objects, size_t count) {
    uint64_t taken = 0;
    if (plan->launch.push_size > PUSH_ROOM || plan->count != count)
        return false;
    for (size_t k = 0; k < count; k++) {
        argument *a = &plan->list[k];
        size_t j = 0;
        while (j < count && (objects[j] != a->given || (taken >> j & 1) != 0))
            j++;
        if (j == count || (a->copied && !a->plain))
            return false;
        taken |= (uint64_t)1 << j;
        a->object = j;
    }
    for (size_t k = 0; k < count && !plan->matched; k++)
        Py_XINCREF(plan->list[k].wanted.structure);
    plan->matched = true;
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// Running one
// ---------------------------------------------------------------------------------------------------------------------

static ext_tensor *item(PyObject *tuple, size_t k) { return (ext_tensor *)PyTuple_GetItem(tuple, (Py_ssize_t)k); }

static bool has_temporary(const ext_plan *plan, size_t k) { return plan->list[k].copied && plan->list[k].same == k; }

// Gives the temporaries back. An exception that is set stays.
static void unload(ext_core *core, const ext_plan *plan, PyObject *tuple) {
    PyObject *type, *value, *traceback; // code of the user's may run
    PyErr_Fetch(&type, &value, &traceback);
    for (size_t k = 0; k < plan->count; k++) {
        PyObject *memory = has_temporary(plan, k) ? (PyObject *)item(tuple, k) : NULL;
        if (memory != NULL)
            ext_spares_return(core, Py_NewRef(memory), &plan->list[k].wanted);
    }
    Py_DECREF(tuple);
    PyErr_Restore(type, value, traceback);
}

// The memory of each argument, as a tuple.
static PyObject *load(kp_ext *ext, ext_core *core, const ext_plan *plan, const ext_cargo *objects) {
    PyObject *tuple = PyTuple_New((Py_ssize_t)plan->count);
    for (size_t k = 0; tuple != NULL && k < plan->count; k++) {
        const argument *a = &plan->list[k];
        PyObject *memory = !a->copied               ? Py_NewRef(objects[a->object].memory)
                           : has_temporary(plan, k) ? ext_spares_take(ext, core, &a->wanted, "arguments")
                                                    : Py_NewRef((PyObject *)item(tuple, a->same));
        if (memory == NULL) {
            unload(core, plan, tuple);
            return NULL;
        }
        PyTuple_SetItem(tuple, (Py_ssize_t)k, memory);
    }
    return tuple;
}

static kp_result move_one(const argument *a, kp_memory *memory, void *elements, bool up) {
    uint64_t bytes = kp_tensor_bytes(memory);
    if (a->moves)
        return up ? kp_tensor_upload(memory, elements, bytes) : kp_tensor_download(memory, elements, bytes);
    void *host = bytes != 0 ? kp_tensor_data(memory) : NULL;
    kp_view *view = NULL;
    kp_result result = bytes != 0 && host == NULL ? kp_view_create(memory, &view) : KP_OK; // which says why
    if (view != NULL)
        host = kp_view_data(view);
    if (host != NULL)
        memcpy(up ? host : elements, up ? elements : host, (size_t)bytes);
    kp_view_destroy(view);
    return result;
}

static bool is_moved(const ext_plan *plan, size_t k, bool up) {
    const argument *a = &plan->list[k];
    return has_temporary(plan, k) && (up ? a->in : a->out && a->direct);
}

// Elements to the temporaries, or back.
static int move(kp_ext *ext, ext_core *core, const ext_plan *plan, PyObject *tuple, const ext_cargo *objects, bool up) {
    uint64_t bytes = 0;
    for (size_t k = 0; k < plan->count; k++)
        bytes += is_moved(plan, k, up) ? kp_tensor_bytes(item(tuple, k)->handle) : 0;
    PyThreadState *thread = bytes >= QUICK ? ext_core_enter(core) : NULL;
    kp_result result = KP_OK;
    for (size_t k = 0; result == KP_OK && k < plan->count; k++) {
        if (is_moved(plan, k, up))
            result = move_one(&plan->list[k], item(tuple, k)->handle, objects[plan->list[k].object].elements, up);
    }
    if (thread != NULL)
        ext_core_leave(core, thread);
    return ext_error_check(ext, result);
}

typedef struct call call; // with results that NumPy puts in their places
static int fill_targets(const call *c, PyObject *tuple);

static int carry(kp_ext *ext, ext_core *core, const ext_plan *plan, const ext_launch *launch, PyObject *tuple,
                 const ext_cargo *objects) {
    uint64_t recipe;
    int result = move(ext, core, plan, tuple, objects, true);
    if (result == 0)
        result = ext_anonymous_launch(ext, core, plan->program, tuple, launch, &recipe);
    return result == 0 ? move(ext, core, plan, tuple, objects, false) : -1;
}

// From taking the temporaries to giving them back. `c`: the call that made the plan, or NULL.
static int run_once(kp_ext *ext, ext_core *core, const ext_plan *plan, const ext_launch *launch,
                    const ext_cargo *objects, const call *c) {
    ext_core_pin(core);
    PyObject *tuple = load(ext, core, plan, objects);
    int result = tuple != NULL ? carry(ext, core, plan, launch, tuple, objects) : -1;
    if (result == 0 && c != NULL)
        result = fill_targets(c, tuple);
    if (tuple != NULL)
        unload(core, plan, tuple);
    ext_core_unpin(core);
    return result;
}

static int run(kp_ext *ext, ext_core *core, const ext_plan *plan, const ext_launch *launch, const ext_cargo *objects,
               const call *c) {
    int result = run_once(ext, core, plan, launch, objects, c);
    if (result < 0 && ext_spares_relieve(ext, core))
        result = run_once(ext, core, plan, launch, objects, c);
    return result;
}

int ext_plan_run(kp_ext *ext, ext_core *core, const ext_plan *plan, const ext_cargo *objects, const ext_patch *patches,
                 size_t patch_count) {
    char push[PUSH_ROOM];
    ext_launch launch = plan->launch;
    if (patch_count != 0) {
        memcpy(push, launch.push, launch.push_size);
        launch.push = push;
    }
    for (size_t i = 0; i < patch_count; i++)
        memcpy(push + patches[i].offset, patches[i].bytes, patches[i].size);
    return ext_core_use(ext, core) != NULL ? run(ext, core, plan, &launch, objects, NULL) : -1;
}

// ---------------------------------------------------------------------------------------------------------------------
// The arguments of a call as Python has it
// ---------------------------------------------------------------------------------------------------------------------

// What is read of an array.
typedef struct reading {
    ext_data data;
    PyObject *target; // where results go: an array or a list, borrowed; NULL: nowhere
} reading;

struct call {
    kp_ext *ext;
    ext_core *core;
    const kp_program *program;
    const char *name;
    PyObject *items; // tuple: of each argument a kp.Memory, or (given, readable, target, shape, image)
    ext_plan *plan;
    reading *readings;
};

static bool is_memory(const call *c, size_t k) {
    return PyObject_TypeCheck(PyTuple_GetItem(c->items, (Py_ssize_t)k), c->ext->memory_type);
}

// The bytes of structs, whose dtype is `dtype`.
static int read_structs(kp_ext *ext, PyObject *array, PyObject *dtype, argument *a, ext_data *data) {
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *dense = numpy != NULL ? PyObject_CallMethod(numpy, "ascontiguousarray", "O", array) : NULL;
    int result = dense != NULL ? PyObject_GetBuffer(dense, &data->buffer, PyBUF_ND) : -1;
    if (result < 0)
        data->buffer.obj = NULL;
    Py_XDECREF(numpy);
    Py_XDECREF(dense); // the buffer holds it
    data->dtype = KP_U8;
    data->bytes = data->buffer.buf;
    data->count = result == 0 && data->buffer.itemsize != 0 ? (size_t)(data->buffer.len / data->buffer.itemsize) : 0;
    a->wanted.structure = result == 0 ? ext_struct_one(ext, dtype) : NULL;
    return result == 0 && a->wanted.structure == NULL ? -1 : result;
}

// (size from x on, channels, normalized)
static int read_image(PyObject *image, argument *a) {
    PyObject *size;
    unsigned channels;
    int normalized;
    if (!PyArg_ParseTuple(image, "O!Ip:launch", &PyTuple_Type, &size, &channels, &normalized))
        return -1;
    Py_ssize_t axes = PyTuple_Size(size);
    for (Py_ssize_t i = 0; i < axes; i++) { // 1 to 3
        long long axis = PyLong_AsLongLong(PyTuple_GetItem(size, axes - 1 - i));
        if (axis < 0 || axis > UINT32_MAX) {
            PyErr_Format(PyExc_ValueError, "an axis of %lld pixels is more than images have", axis);
            return -1;
        }
        a->wanted.shape[i] = (uint64_t)axis;
    }
    a->wanted.image = true;
    a->wanted.normalized = normalized != 0;
    a->wanted.ndim = (uint32_t)axes + 1;
    a->wanted.shape[axes] = channels;
    return 0;
}

// The axes of the array, or those that Python says; one for what has none, or more than tensors may.
static int read_shape(PyObject *shape, const ext_data *data, const char *what, ext_wanted *w) {
    const Py_buffer *buffer = &data->buffer;
    if (shape != Py_None && ext_axes_read(shape, &w->ndim, w->shape) < 0)
        return -1;
    if (shape != Py_None && ext_argument_count(w) != data->count) {
        PyErr_Format(PyExc_ValueError, "%s: has %zu numbers, which do not have the shape %R", what, data->count, shape);
        return -1;
    }
    if (shape != Py_None)
        return 0;
    w->ndim = 1;
    w->shape[0] = data->count;
    if (buffer->obj == NULL || buffer->ndim < 1 || buffer->ndim > KP_MAX_DIMS)
        return 0;
    w->ndim = (uint32_t)buffer->ndim;
    for (int i = 0; i < buffer->ndim; i++)
        w->shape[i] = (uint64_t)buffer->shape[i];
    return 0;
}

static int read_array(kp_ext *ext, const char *what, const kp_param *p, PyObject *tuple, argument *a, reading *r) {
    PyObject *readable, *target, *shape, *image, *dtype = NULL;
    if (!PyArg_ParseTuple(tuple, "OOOOO:launch", &a->given, &readable, &target, &shape, &image))
        return -1;
    int result = image == Py_None && (dtype = ext_struct_dtype(readable)) != NULL
                     ? read_structs(ext, readable, dtype, a, &r->data)
                     : ext_data_read(readable, image == Py_None ? (int)p->dtype : (int)EXT_DATA_OWN, EXT_DATA_STRICT,
                                     what, &r->data);
    Py_XDECREF(dtype);
    if (result == 0)
        result = image != Py_None ? read_image(image, a) : read_shape(shape, &r->data, what, &a->wanted);
    const ext_data *data = &r->data;
    bool borrowed = result == 0 && data->owned == NULL && data->buffer.obj != NULL;
    a->wanted.dtype = data->dtype;
    a->copied = true;
    a->out = target != Py_None;
    a->plain = borrowed && data->buffer.obj == a->given;
    a->direct = borrowed && !data->buffer.readonly && data->buffer.obj == target;
    r->target = a->out ? target : NULL;
    return result;
}

static bool same_elements(const ext_data *a, const ext_data *b) {
    const Py_buffer *x = &a->buffer, *y = &b->buffer;
    size_t axes = (size_t)x->ndim;
    return x->obj != NULL && y->obj != NULL && x->buf == y->buf && x->ndim == y->ndim && x->itemsize == y->itemsize &&
           a->dtype == b->dtype && a->owned == NULL && b->owned == NULL && x->shape != NULL && y->shape != NULL &&
           memcmp(x->shape, y->shape, axes * sizeof *x->shape) == 0;
}

// Argument `k` may have the memory of an earlier one, which is then used as both say.
static int merge(call *c, const char *what, size_t k) {
    argument *a = &c->plan->list[k];
    a->same = k;
    for (size_t j = 0; j < k && a->same == k; j++) {
        argument *first = &c->plan->list[j];
        if (!first->copied || first->same != j)
            continue;
        if (first->given == a->given && first->wanted.image != a->wanted.image) {
            PyErr_Format(PyExc_TypeError, "%s: is the same array as another argument, of which one is an image", what);
            return -1;
        }
        if (first->given != a->given &&
            (first->wanted.image || a->wanted.image || first->wanted.structure != a->wanted.structure ||
             !same_elements(&c->readings[j].data, &c->readings[k].data)))
            continue;
        a->same = j;
        first->direct = first->out ? first->direct : a->direct;
        first->plain = first->plain && (a->plain || first->given == a->given);
        first->out = first->out || a->out;
        if (c->readings[j].target == NULL)
            c->readings[j].target = c->readings[k].target;
    }
    return 0;
}

static int read_argument(call *c, const kp_param *p, size_t k) {
    char what[EXT_ARGUMENT_NAME];
    PyObject *object = PyTuple_GetItem(c->items, (Py_ssize_t)k);
    argument *a = &c->plan->list[k];
    ext_argument_name(c->name, p, what);
    a->object = a->same = k;
    if (is_memory(c, k)) {
        a->given = object;
        a->wanted = ext_argument_of((ext_tensor *)object);
        return 0; // Python has looked at it
    }
    if (read_array(c->ext, what, p, object, a, &c->readings[k]) < 0 || merge(c, what, k) < 0)
        return -1;
    uint64_t count = ext_argument_count(&a->wanted);
    if (p->kind != KP_PARAM_BUFFER || count % p->components == 0)
        return 0;
    PyErr_Format(PyExc_ValueError, "%s: has %llu numbers, %s needs a multiple of %u", what, (unsigned long long)count,
                 p->type, p->components);
    return -1;
}

// What an argument held is not needed where the kernel writes all of it.
static bool is_filled(const kp_param *p, const ext_wanted *w, const uint32_t extent[3]) {
    bool image = ext_argument_is_image(p), covered = p->fills;
    if (p->ndim == 1 && !image)
        return covered && extent[0] >= ext_argument_count(w) / p->components;
    for (uint32_t i = 0; i < p->ndim && covered; i++) // x is the last of them
        covered = w->ndim >= p->ndim && extent[i] >= w->shape[p->ndim - 1 - i];
    return covered;
}

static void leave_out_filled(call *c) {
    size_t k = 0;
    for (size_t i = 0; i < c->plan->count; i++)
        c->plan->list[i].in = false;
    for (const kp_param *p = ext_argument_next(c->program, NULL); p != NULL;
         p = ext_argument_next(c->program, p), k++) {
        const argument *a = &c->plan->list[k];
        if (!is_filled(p, &a->wanted, c->plan->launch.extent))
            c->plan->list[a->same].in = true;
    }
}

// How each array moves. Where results have to be put in their places by NumPy, they go by way of the host side.
static void choose_ways(call *c) {
    ext_launch *launch = &c->plan->launch;
    leave_out_filled(c);
    for (size_t k = 0; k < c->plan->count; k++) {
        argument *a = &c->plan->list[k];
        if (!has_temporary(c->plan, k))
            continue;
        const ext_data *data = &c->readings[k].data;
        size_t bytes =
            a->wanted.structure != NULL ? (size_t)data->buffer.len : data->count * kp_dtype_size(data->dtype);
        a->moves = !a->wanted.image && bytes > LARGE && (!a->out || a->direct);
        launch->upload |= (uint64_t)(a->in && !a->moves) << k;
        launch->download |= (uint64_t)(a->out && !a->moves) << k;
    }
}

static int read_arguments(call *c) {
    size_t k = 0;
    for (const kp_param *p = ext_argument_next(c->program, NULL); p != NULL; p = ext_argument_next(c->program, p)) {
        if (PyTuple_GetItem(c->items, (Py_ssize_t)k) == NULL || read_argument(c, p, k++) < 0)
            return -1;
    }
    return 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Results that NumPy puts in their places
// ---------------------------------------------------------------------------------------------------------------------

static int fill_list(PyObject *list, ext_tensor *t) {
    const char *at = kp_tensor_data(t->handle);
    PyObject *items = PyList_New(0);
    for (Py_ssize_t i = 0; items != NULL && i < t->count; i++) {
        PyObject *number = ext_element_get(t->dtype, at + i * t->stride);
        if (number == NULL || PyList_Append(items, number) < 0)
            Py_CLEAR(items);
        Py_XDECREF(number);
    }
    int result = items != NULL ? PyList_SetSlice(list, 0, PY_SSIZE_T_MAX, items) : -1;
    Py_XDECREF(items);
    return result;
}

// target[...] = data.reshape(target.shape)
static int fill_array(PyObject *target, PyObject *memory) {
    PyObject *data = PyObject_CallMethod(memory, "data", NULL), *shape = PyObject_GetAttrString(target, "shape");
    PyObject *shaped = data != NULL && shape != NULL ? PyObject_CallMethod(data, "reshape", "O", shape) : NULL;
    int result = shaped != NULL ? PyObject_SetItem(target, Py_Ellipsis, shaped) : -1;
    Py_XDECREF(data);
    Py_XDECREF(shape);
    Py_XDECREF(shaped);
    return result;
}

static int fill_targets(const call *c, PyObject *tuple) {
    int result = 0;
    for (size_t k = 0; result == 0 && k < c->plan->count; k++) {
        const argument *a = &c->plan->list[k];
        PyObject *target = c->readings[k].target, *memory = (PyObject *)item(tuple, k);
        if (has_temporary(c->plan, k) && a->out && !a->direct)
            result = PyList_Check(target) ? fill_list(target, (ext_tensor *)memory) : fill_array(target, memory);
    }
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// The call
// ---------------------------------------------------------------------------------------------------------------------

// Three counts of the extent that Python says, or else the kernel's own. Whether there is none: 1; -1 with an
// exception.
static int read_extent(const call *c, PyObject *given, uint32_t extent[3]) {
    int result;
    if (given != Py_None) {
        result = ext_launch_three(given, "extent", extent);
    } else {
        size_t number;
        const kp_param *p = ext_argument_written(c->program, &number);
        const ext_wanted none = {0}, *w = p != NULL ? &c->plan->list[number].wanted : &none;
        kp_program named = *c->program;
        named.name = c->name;
        result = ext_error_check(c->ext, kp_program_extent(&named, p, w->ndim, w->shape, extent));
    }
    return result < 0 ? -1 : extent[0] == 0 || extent[1] == 0 || extent[2] == 0;
}

static int run_first(const call *c) {
    ext_cargo *objects = ext_core_use(c->ext, c->core) != NULL ? calloc(c->plan->count + 1, sizeof *objects) : NULL;
    if (objects == NULL) {
        if (!PyErr_Occurred())
            PyErr_NoMemory();
        return -1;
    }
    for (size_t k = 0; k < c->plan->count; k++)
        objects[k] = (ext_cargo){.memory = PyTuple_GetItem(c->items, (Py_ssize_t)k),
                                 .elements = (void *)(uintptr_t)c->readings[k].data.bytes};
    int result = run(c->ext, c->core, c->plan, &c->plan->launch, objects, c);
    free(objects);
    return result;
}

// The number of the recording, where all arguments are memory.
static PyObject *launch_memories(call *c, PyObject *program) {
    uint64_t recipe = 0;
    int result = ext_anonymous_launch(c->ext, c->core, program, c->items, &c->plan->launch, &recipe);
    return result == 0 ? PyLong_FromUnsignedLongLong(recipe) : NULL;
}

// Takes the plan over.
static PyObject *launch_arrays(call *c) {
    PyObject *capsule = run_first(c) == 0 ? PyCapsule_New(c->plan, capsule_name, free_capsule) : NULL;
    if (capsule != NULL)
        c->plan = NULL;
    return capsule;
}

static void end(call *c) {
    size_t count = (size_t)PyTuple_Size(c->items);
    for (size_t k = 0; c->readings != NULL && k < count; k++)
        ext_data_release(&c->readings[k].data);
    free(c->readings);
    free_plan(c->plan);
}

// The core of the first kp.Memory, which is usable, or else of `manager`.
static int find_core(call *c, PyObject *manager) {
    for (size_t k = 0; k < (size_t)PyTuple_Size(c->items); k++) {
        ext_tensor *t = (ext_tensor *)PyTuple_GetItem(c->items, (Py_ssize_t)k);
        if (!is_memory(c, k))
            continue;
        c->core = t->core;
        return 0;
    }
    if (!PyObject_TypeCheck(manager, c->ext->manager_type)) {
        PyErr_SetString(PyExc_TypeError, "a kernel without memory needs a manager");
        return -1;
    }
    c->core = ((ext_manager *)manager)->core;
    c->ext->default_manager = manager;
    return 0;
}

// NumPy's types, where it is there.
static void find_types(kp_ext *ext) {
    static const char *const names[EXT_NUMBERS] = {"float32", "float64", "int32", "int64"};
    PyObject *name = PyUnicode_FromString("numpy"), *numpy = name != NULL ? PyImport_GetModule(name) : NULL;
    for (int i = 0; numpy != NULL && i < EXT_NUMBERS; i++)
        EXT_SET(ext->numbers[i], (PyTypeObject *)PyObject_GetAttrString(numpy, names[i]));
    if (numpy != NULL)
        EXT_SET(ext->ndarray, (PyTypeObject *)PyObject_GetAttrString(numpy, "ndarray"));
    Py_XDECREF(name);
    Py_XDECREF(numpy);
    PyErr_Clear();
}

static int begin(call *c, PyObject *program, const ext_launch *launch) {
    size_t count = (size_t)PyTuple_Size(c->items);
    if (count > MOST) {
        PyErr_Format(PyExc_TypeError, "%s() has %zu buffers, at most %d are possible", c->name, count, MOST);
        return -1;
    }
    c->plan = new_plan(program, count, launch);
    c->readings = calloc(count + 1, sizeof *c->readings);
    if (c->plan != NULL && c->readings != NULL)
        return 0;
    PyErr_NoMemory();
    return -1;
}

PyObject *ext_arrays_launch(PyObject *module, PyObject *args) {
    call c = {.ext = PyModule_GetState(module)};
    PyObject *program, *extent, *manager;
    const char *push, *specs;
    Py_ssize_t push_size, specs_size;
    if (!PyArg_ParseTuple(args, "O!sO!Oy#y#O:launch", c.ext->program_type, &program, &c.name, &PyTuple_Type, &c.items,
                          &extent, &push, &push_size, &specs, &specs_size, &manager))
        return NULL;
    ext_launch launch = {.push = push,
                         .push_size = (size_t)push_size,
                         .specs = specs,
                         .spec_count = (size_t)specs_size / EXT_SPEC_BYTES};
    bool all_memory = true;
    PyObject *made = NULL;
    c.program = ((ext_program *)program)->handle;
    for (size_t k = 0; k < (size_t)PyTuple_Size(c.items); k++)
        all_memory = all_memory && is_memory(&c, k);
    if (c.ext->ndarray == NULL)
        find_types(c.ext);
    int result = begin(&c, program, &launch);
    if (result == 0)
        result = read_arguments(&c);
    if (result == 0)
        result = read_extent(&c, extent, c.plan->launch.extent);
    if (result == 1)
        made = PyLong_FromLong(0);
    else if (result == 0 && ext_memories_check(c.ext, c.program, c.name, c.items) == 0 && find_core(&c, manager) == 0) {
        choose_ways(&c);
        ext_log_follow();
        made = all_memory ? launch_memories(&c, program) : launch_arrays(&c);
    }
    end(&c);
    return made;
}
