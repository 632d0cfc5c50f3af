// See objects.h. kp._kp._Call, the base of kp.Kernel: what its calls came to, so that the same call again is a replay.
//
// kp.Kernel says in Python what a call means, in _call(), and tells which recording it came to: a number from
// ext_anonymous_launch, or with arrays a plan of arrays.c, and the names from outside that this holds for. They are
// remembered under the call's arguments, written as words: a tensor is its serial, a number its value, an array its
// type and shape. Anything else has no words, and such a call goes through Python each time. A call that differs in
// numbers alone which are push constants needs no Python either: they are put in place of the old ones in a recording.
// Nothing of the user's stays alive for it but the names of keyword arguments.
#include "objects.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 16, MAX_WORDS = 128, MAX_ARGUMENTS = 24, MAX_SCALARS = 12 };

// An argument that is a push constant.
typedef struct scalar {
    size_t word; // where the entry has its kind
    uint32_t offset, size;
    kp_dtype dtype;
} scalar;

typedef struct entry {
    uint64_t *words; // NULL: free
    size_t count;    //
    uint64_t recipe; // the recording, or ...
    PyObject *plan;  // ... the capsule of one with arrays; NULL: there are none
    uint64_t used;   // when, counted
    PyObject *names; // of keyword arguments, whose addresses are in the words; NULL: none
    size_t scalar_count;
    scalar scalars[MAX_SCALARS];
} entry;

typedef struct ext_call {
    PyObject_HEAD kp_ext *ext;
    PyObject *watches; // list of (dict or object, name, its value); without a value: it has none. NULL: no entries
    uint64_t calls;
    entry entries[KEPT];
} ext_call;

// ---------------------------------------------------------------------------------------------------------------------
// Arguments as words
// ---------------------------------------------------------------------------------------------------------------------

// Of NumPy's numbers there are kinds behind these, in the order of kp_ext.numbers: a parameter without a type takes
// theirs.
typedef enum word_kind { TENSOR, ARRAY, AXIS, FLOAT, INTEGER, TRUTH, TUPLE, NAME, NUMPY } word_kind;

typedef struct key {
    uint64_t words[MAX_WORDS];
    size_t count;
    ext_core *core;                   // of the first tensor, borrowed
    size_t starts[MAX_ARGUMENTS];     // of the arguments by position
    size_t object_count, array_count; //
    PyObject *objects[MAX_ARGUMENTS]; // the tensors and arrays, as they come
    ext_cargo cargo[MAX_ARGUMENTS];   // the same
    Py_buffer buffers[MAX_ARGUMENTS]; // of the arrays
} key;

static bool add(key *k, int kind, uint64_t bits) {
    if (k->count + 2 > MAX_WORDS)
        return false;
    k->words[k->count++] = (uint64_t)kind;
    k->words[k->count++] = bits;
    return true;
}

static bool add_value(kp_ext *ext, PyObject *object, key *k);

static bool add_tuple(kp_ext *ext, PyObject *tuple, key *k) {
    Py_ssize_t count = PyTuple_Size(tuple);
    bool fits = add(k, TUPLE, (uint64_t)count);
    for (Py_ssize_t i = 0; fits && i < count; i++)
        fits = add_value(ext, PyTuple_GetItem(tuple, i), k);
    return fits;
}

static bool add_object(PyObject *object, void *elements, key *k) {
    if (k->object_count == MAX_ARGUMENTS)
        return false;
    k->objects[k->object_count] = object;
    k->cargo[k->object_count++] = (ext_cargo){.memory = object, .elements = elements};
    return true;
}

static bool add_tensor(ext_tensor *t, key *k) {
    if (t->core == NULL || t->doomed)
        return false;
    if (k->core == NULL)
        k->core = t->core;
    return add(k, TENSOR, t->serial) && add_object((PyObject *)t, NULL, k);
}

// Which of the arrays has the same memory and shape first; the last one where none has. What the elements are is in the
// key already.
static size_t first_alike(const key *k) {
    const Py_buffer *last = &k->buffers[k->array_count - 1];
    size_t axes = (size_t)last->ndim, i = 0;
    for (; i + 1 < k->array_count; i++) {
        const Py_buffer *b = &k->buffers[i];
        if (b->buf == last->buf && b->ndim == last->ndim && b->itemsize == last->itemsize &&
            (axes == 0 || memcmp(b->shape, last->shape, axes * sizeof *b->shape) == 0))
            break;
    }
    return i;
}

// All but the type.
static bool add_layout(PyObject *object, key *k) {
    const Py_buffer *b = &k->buffers[k->array_count - 1];
    bool fits = add_object(object, b->buf, k) && add(k, AXIS, (uint64_t)b->readonly) &&
                add(k, AXIS, (uint64_t)b->ndim << 32 | first_alike(k));
    for (int i = 0; fits && i < b->ndim; i++)
        fits = add(k, AXIS, (uint64_t)b->shape[i]);
    return fits;
}

// The dtype says what they are.
static bool add_structs(kp_ext *ext, PyObject *object, key *k) {
    PyObject *dtype = PyObject_GetAttrString(object, "dtype");
    PyObject *one = dtype != NULL ? ext_struct_one(ext, dtype) : NULL;
    bool fits = one != NULL && add(k, ARRAY, (uint64_t)(uintptr_t)one << 1 | 1) && add_layout(object, k);
    PyErr_Clear();
    Py_XDECREF(dtype);
    return fits;
}

// Only arrays whose elements lie side by side as the device has them; the others have to be converted.
static bool add_array(kp_ext *ext, PyObject *object, key *k) {
    Py_buffer *b = &k->buffers[k->array_count];
    ext_element element;
    if (k->array_count == MAX_ARGUMENTS || PyObject_GetBuffer(object, b, PyBUF_FULL_RO) < 0) {
        PyErr_Clear();
        return false;
    }
    k->array_count++;
    if (b->format == NULL || !PyBuffer_IsContiguous(b, 'C'))
        return false;
    if (b->format[0] == 'T')
        return add_structs(ext, object, k);
    if (ext_element_parse(b->format, b->itemsize, "", &element) < 0) {
        PyErr_Clear();
        return false;
    }
    int dtype = ext_element_dtype(element);
    return dtype >= 0 && !element.swapped && add(k, ARRAY, (uint64_t)dtype << 1) && add_layout(object, k);
}

// False when it has no words. Exact types alone: those of the user's may say something else each time.
static bool add_value(kp_ext *ext, PyObject *object, key *k) {
    PyTypeObject *type = Py_TYPE(object);
    uint64_t bits;
    if (type == ext->tensor_type || type == ext->image_type)
        return add_tensor((ext_tensor *)object, k);
    if (type == ext->ndarray)
        return add_array(ext, object, k);
    int number = 0;
    while (number < EXT_NUMBERS && type != ext->numbers[number])
        number++;
    if (type == &PyFloat_Type || number < 2) {
        double value = PyFloat_AsDouble(object);
        memcpy(&bits, &value, sizeof bits);
        return add(k, number < 2 ? NUMPY + number : FLOAT, bits);
    }
    if (type == &PyLong_Type || number < EXT_NUMBERS) {
        int beyond;
        long long value = PyLong_AsLongLongAndOverflow(object, &beyond);
        return beyond == 0 && add(k, number < EXT_NUMBERS ? NUMPY + number : INTEGER, (uint64_t)value);
    }
    if (type == &PyBool_Type)
        return add(k, TRUTH, object == Py_True);
    return type == &PyTuple_Type && add_tuple(ext, object, k);
}

// False when a call with these is not remembered.
static bool read_key(kp_ext *ext, PyObject *args, PyObject *kwargs, key *k) {
    Py_ssize_t count = PyTuple_Size(args), position = 0;
    PyObject *name, *value;
    k->count = k->object_count = k->array_count = 0;
    k->core = NULL;
    if (count > MAX_ARGUMENTS)
        return false;
    for (Py_ssize_t i = 0; i < count; i++) {
        k->starts[i] = k->count;
        if (!add_value(ext, PyTuple_GetItem(args, i), k))
            return false;
    }
    while (kwargs != NULL && PyDict_Next(kwargs, &position, &name, &value)) {
        if (!add(k, NAME, (uint64_t)(uintptr_t)name) || !add_value(ext, value, k))
            return false;
    }
    if (k->core == NULL && k->array_count != 0 && ext->default_manager != NULL)
        k->core = ((ext_manager *)ext->default_manager)->core;
    return k->core != NULL || k->array_count != 0;
}

static void release_key(key *k) {
    while (k->array_count > 0)
        PyBuffer_Release(&k->buffers[--k->array_count]);
}

// ---------------------------------------------------------------------------------------------------------------------
// What is remembered
// ---------------------------------------------------------------------------------------------------------------------

static void forget(entry *e) {
    PyObject *names = e->names, *plan = e->plan;
    free(e->words);
    *e = (entry){0};
    Py_XDECREF(names);
    Py_XDECREF(plan);
}

static void forget_all(ext_call *c) {
    PyObject *watches = c->watches;
    c->watches = NULL;
    for (size_t i = 0; i < KEPT; i++)
        forget(&c->entries[i]);
    Py_XDECREF(watches);
}

static entry *find(ext_call *c, const key *k) {
    for (size_t i = 0; i < KEPT; i++) {
        entry *e = &c->entries[i];
        if (e->count == k->count && memcmp(e->words, k->words, k->count * sizeof *k->words) == 0)
            return e;
    }
    return NULL;
}

// Whether they differ in scalars alone, and not in the scalars' kinds.
static bool is_similar(const entry *e, const key *k) {
    if (e->count != k->count || e->scalar_count == 0)
        return false;
    size_t from = 0;
    for (size_t i = 0; i < e->scalar_count; i++) { // in order
        size_t upto = e->scalars[i].word + 1;
        if (memcmp(e->words + from, k->words + from, (upto - from) * sizeof *k->words) != 0)
            return false;
        from = upto + 1;
    }
    return memcmp(e->words + from, k->words + from, (e->count - from) * sizeof *k->words) == 0;
}

static entry *find_similar(ext_call *c, const key *k) {
    for (size_t i = 0; i < KEPT; i++) {
        if (is_similar(&c->entries[i], k))
            return &c->entries[i];
    }
    return NULL;
}

// The entry of this key, a free one, or the one unused for longest.
static entry *place_for(ext_call *c, const key *k) {
    entry *best = find(c, k);
    for (size_t i = 0; best == NULL && i < KEPT; i++) {
        if (c->entries[i].words == NULL)
            best = &c->entries[i];
    }
    if (best != NULL)
        return best;
    best = &c->entries[0];
    for (size_t i = 1; i < KEPT; i++) {
        if (c->entries[i].used < best->used)
            best = &c->entries[i];
    }
    return best;
}

// Reads (position, offset, bytes, dtype) of each push constant. Where it does not fit, there are none.
static int read_scalars(const key *k, PyObject *layout, entry *e) {
    Py_ssize_t count = PyTuple_Size(layout);
    for (Py_ssize_t i = 0; i < count && count <= MAX_SCALARS; i++) {
        int position;
        scalar *s = &e->scalars[i];
        const char *dtype;
        if (!PyArg_ParseTuple(PyTuple_GetItem(layout, i), "iIIs:layout", &position, &s->offset, &s->size, &dtype))
            return -1;
        if (position < 0 || position >= MAX_ARGUMENTS || kp_dtype_find(dtype, &s->dtype) != KP_OK)
            return 0;
        s->word = k->starts[position];
    }
    e->scalar_count = count <= MAX_SCALARS ? (size_t)count : 0;
    return 0;
}

// Without memory, nothing is remembered. `made` is the number of a recording, or a plan.
static int remember(ext_call *c, const key *k, PyObject *kwargs, PyObject *watches, PyObject *made, PyObject *layout) {
    ext_plan *plan = ext_plan_of(made);
    uint64_t recipe = plan == NULL ? PyLong_AsUnsignedLongLong(made) : 0;
    if (plan == NULL && PyErr_Occurred())
        return -1;
    if (plan == NULL ? recipe == 0 || k->array_count != 0 : !ext_plan_match(plan, k->objects, k->object_count))
        return 0;
    if (c->watches != watches) {
        forget_all(c);
        c->watches = Py_NewRef(watches);
    }
    PyObject *names = kwargs != NULL ? PyDict_Keys(kwargs) : NULL;
    if (kwargs != NULL && names == NULL)
        return -1;
    uint64_t *words = malloc(k->count * sizeof *words);
    if (words == NULL) {
        Py_XDECREF(names);
        return 0;
    }
    memcpy(words, k->words, k->count * sizeof *words);
    entry *e = place_for(c, k);
    forget(e);
    *e = (entry){.words = words, .count = k->count, .recipe = recipe, .used = ++c->calls, .names = names};
    e->plan = plan != NULL ? Py_NewRef(made) : NULL;
    return read_scalars(k, layout, e);
}

// Whether a name means what it did: 1, 0, or -1 with an exception.
static int is_same(PyObject *watch) {
    PyObject *owner = PyTuple_GetItem(watch, 0), *name = PyTuple_GetItem(watch, 1);
    PyObject *wanted = PyTuple_Size(watch) > 2 ? PyTuple_GetItem(watch, 2) : NULL;
    if (PyDict_CheckExact(owner)) {
        PyObject *value = PyDict_GetItemWithError(owner, name);
        return value == NULL && PyErr_Occurred() ? -1 : value == wanted;
    }
    PyObject *value = PyObject_GetAttr(owner, name);
    if (value == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError) && !PyErr_ExceptionMatches(PyExc_ValueError))
            return -1;
        PyErr_Clear();
    }
    Py_XDECREF(value);
    return value == wanted;
}

// Whether all of them do. May run code of the user's.
static int are_same(ext_call *c) {
    PyObject *watches = Py_XNewRef(c->watches);
    int same = watches != NULL;
    for (Py_ssize_t i = 0; same > 0 && i < PyList_Size(watches); i++)
        same = is_same(PyList_GetItem(watches, i));
    Py_XDECREF(watches);
    return same;
}

// ---------------------------------------------------------------------------------------------------------------------
// Calling
// ---------------------------------------------------------------------------------------------------------------------

static bool pack_integer(const scalar *s, int64_t value, char *to) {
    unsigned bits = 8 * s->size;
    bool is_signed = s->dtype == KP_I8 || s->dtype == KP_I16 || s->dtype == KP_I32 || s->dtype == KP_I64;
    int64_t most = bits == 64 ? INT64_MAX : is_signed ? ((int64_t)1 << (bits - 1)) - 1 : ((int64_t)1 << bits) - 1;
    if (value > most || value < (is_signed ? -most - 1 : 0))
        return false;
    const uint64_t two = (uint64_t)value;
    const uint8_t b1 = (uint8_t)two;
    const uint16_t b2 = (uint16_t)two;
    const uint32_t b4 = (uint32_t)two;
    memcpy(to,
           s->size == 1   ? (const void *)&b1
           : s->size == 2 ? (const void *)&b2
           : s->size == 4 ? (const void *)&b4
                          : &two,
           s->size);
    return true;
}

// As ext_value_put() does; false for what that is to decide.
static bool pack(const scalar *s, const uint64_t *word, ext_patch *out) {
    double number = (double)(int64_t)word[1];
    bool is_float = word[0] == FLOAT || word[0] == NUMPY || word[0] == NUMPY + 1;
    *out = (ext_patch){.offset = s->offset, .size = s->size};
    if (is_float)
        memcpy(&number, &word[1], sizeof number);
    if (s->dtype == KP_BOOL ? is_float || word[0] > NUMPY : word[0] == TRUTH)
        return false;
    if (s->dtype == KP_BOOL)
        return (s->size == 1 || s->size == 4) &&
               pack_integer(&(scalar){.size = s->size, .dtype = KP_U32}, number != 0, out->bytes);
    if (s->dtype == KP_F32 && s->size == 4) {
        float single = (float)number;
        memcpy(out->bytes, &single, sizeof single);
        return isinf(number) || !isinf(single);
    }
    if (s->dtype == KP_F64 && s->size == 8) {
        memcpy(out->bytes, &number, sizeof number);
        return true;
    }
    bool integer = s->dtype != KP_F16 && s->dtype != KP_F32 && s->dtype != KP_F64;
    return integer && !is_float && s->size == kp_dtype_size(s->dtype) && pack_integer(s, (int64_t)word[1], out->bytes);
}

// A plan may be forgotten while it runs.
static int run_plan(ext_call *c, const key *k, PyObject *plan, const ext_patch *patches, size_t patch_count) {
    if (k->core == NULL || !ext_core_usable(k->core))
        return 0;
    Py_INCREF(plan);
    int result = ext_plan_run(c->ext, k->core, ext_plan_of(plan), k->cargo, patches, patch_count);
    Py_DECREF(plan);
    return result == 0 ? 1 : -1;
}

// A call that differs from one that came before in its push constants alone.
static int replay_similar(ext_call *c, const key *k) {
    ext_patch patches[MAX_SCALARS];
    entry *e = find_similar(c, k);
    if (e == NULL)
        return 0;
    for (size_t i = 0; i < e->scalar_count; i++) {
        if (!pack(&e->scalars[i], k->words + e->scalars[i].word, &patches[i]))
            return 0;
    }
    if (e->plan != NULL)
        return run_plan(c, k, e->plan, patches, e->scalar_count);
    uint64_t recipe = e->recipe;
    PyObject *watches = Py_NewRef(c->watches);
    int done = ext_anonymous_change(c->ext, k->core, patches, e->scalar_count, &recipe);
    if (done > 0 && c->watches == watches && (e = find_similar(c, k)) != NULL) { // others may have called meanwhile
        memcpy(e->words, k->words, k->count * sizeof *k->words);
        e->recipe = recipe;
        e->used = ++c->calls;
    }
    Py_DECREF(watches);
    return done;
}

// 1: done. 0: this call is to go through Python. -1 with an exception.
static int replay(ext_call *c, const key *k) {
    int same = are_same(c);
    if (same <= 0)
        return same;
    entry *e = find(c, k);
    if (e == NULL)
        return replay_similar(c, k);
    e->used = ++c->calls;
    return e->plan != NULL ? run_plan(c, k, e->plan, NULL, 0) : ext_anonymous_replay(c->ext, k->core, e->recipe);
}

// _call() gives None, or (watches, recipe or plan, layout).
static PyObject *call_slowly(ext_call *c, PyObject *args, PyObject *kwargs, const key *k) {
    PyObject *method = PyObject_GetAttrString((PyObject *)c, "_call");
    PyObject *made = method != NULL ? PyObject_Call(method, args, kwargs) : NULL;
    PyObject *watches, *layout, *recipe;
    Py_XDECREF(method);
    if (made == NULL)
        return NULL;
    int result = 0;
    if (made != Py_None &&
        !PyArg_ParseTuple(made, "O!OO!:_call", &PyList_Type, &watches, &recipe, &PyTuple_Type, &layout))
        result = -1;
    else if (made != Py_None && k != NULL)
        result = remember(c, k, kwargs, watches, recipe, layout);
    Py_DECREF(made);
    return result == 0 ? Py_NewRef(Py_None) : NULL;
}

static PyObject *call(PyObject *self, PyObject *args, PyObject *kwargs) {
    ext_call *c = (ext_call *)self;
    key k;
    if (kwargs != NULL && PyDict_Size(kwargs) == 0)
        kwargs = NULL;
    // The words are from before the call: if a tensor's device memory changes meanwhile, they never come again.
    bool has_words = read_key(c->ext, args, kwargs, &k);
    int done = has_words ? replay(c, &k) : 0;
    PyObject *result = done > 0 ? Py_NewRef(Py_None) : NULL;
    if (done == 0)
        result = call_slowly(c, args, kwargs, has_words ? &k : NULL);
    release_key(&k);
    return result;
}

static PyObject *call_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)args; // for __init__
    (void)kwargs;
    kp_ext *ext = ext_of_type(type);
    allocfunc alloc = (allocfunc)(uintptr_t)PyType_GetSlot(type, Py_tp_alloc);
    ext_call *c = ext != NULL ? (ext_call *)alloc(type, 0) : NULL;
    if (c != NULL)
        c->ext = ext;
    return (PyObject *)c;
}

static int call_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((ext_call *)self)->watches);
    return 0;
}

static int call_clear(PyObject *self) {
    forget_all((ext_call *)self);
    return 0;
}

static void call_dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    forget_all((ext_call *)self);
    ext_free(self);
}

const char *ext_call_hint(const kp_ext *ext, PyObject *object) {
    return PyObject_TypeCheck(object, ext->call_type) ? "; kernel.algorithm(mgr, [...]) makes an algorithm of a kernel"
                                                      : "";
}

PyDoc_STRVAR(call_doc, "The base of kp.Kernel: remembers what calls came to.");

static PyType_Slot call_slots[] = {
    {Py_tp_doc, EXT_SLOT(call_doc)},
    {Py_tp_new, EXT_SLOT(call_new)},
    {Py_tp_dealloc, EXT_SLOT(call_dealloc)},
    {Py_tp_clear, EXT_SLOT(call_clear)},
    {Py_tp_traverse, EXT_SLOT(call_traverse)},
    {Py_tp_call, EXT_SLOT(call)},
    {0, NULL},
};
static PyType_Spec call_spec = {"kp._kp._Call", sizeof(ext_call), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, call_slots};

int ext_call_init(kp_ext *ext, PyObject *module) {
    ext->call_type = ext_add_type(module, &call_spec, NULL);
    return ext->call_type != NULL ? 0 : -1;
}
