// See ext.h. kp._kp._Call, the base of kp.Kernel: what its calls came to, so that the same call again is a replay.
//
// kp.Kernel says in Python what a call means, in _call(), and tells which recording it came to: a number from
// ext_anonymous_launch, and the names from outside that this holds for. Both are remembered under the call's
// arguments, written as words: a tensor is its serial, a number its value. Anything else has no words, and such a call
// goes through Python each time. Nothing of the user's stays alive for it but the names of keyword arguments.
#include "ext.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT = 16, MAX_WORDS = 64 };

typedef struct entry {
    uint64_t *words; // NULL: free
    size_t count;    //
    uint64_t recipe; // the recording
    uint64_t used;   // when, counted
    PyObject *names; // of keyword arguments, whose addresses are in the words; NULL: none
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

typedef enum word_kind { TENSOR, FLOAT, INTEGER, TRUTH, TUPLE, NAME } word_kind;

typedef struct key {
    uint64_t words[MAX_WORDS];
    size_t count;
    ext_core *core; // of the first tensor, borrowed
} key;

static bool add(key *k, word_kind kind, uint64_t bits) {
    if (k->count + 2 > MAX_WORDS)
        return false;
    k->words[k->count++] = kind;
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

static bool add_tensor(const ext_tensor *t, key *k) {
    if (t->core == NULL || t->doomed)
        return false;
    if (k->core == NULL)
        k->core = t->core;
    return add(k, TENSOR, t->serial);
}

// False when it has no words. Exact types alone: those of the user's may say something else each time.
static bool add_value(kp_ext *ext, PyObject *object, key *k) {
    PyTypeObject *type = Py_TYPE(object);
    uint64_t bits;
    if (type == ext->tensor_type || type == ext->image_type)
        return add_tensor((ext_tensor *)object, k);
    if (type == &PyFloat_Type) {
        double value = PyFloat_AsDouble(object);
        memcpy(&bits, &value, sizeof bits);
        return add(k, FLOAT, bits);
    }
    if (type == &PyLong_Type) {
        int beyond;
        long long value = PyLong_AsLongLongAndOverflow(object, &beyond);
        return beyond == 0 && add(k, INTEGER, (uint64_t)value);
    }
    if (type == &PyBool_Type)
        return add(k, TRUTH, object == Py_True);
    return type == &PyTuple_Type && add_tuple(ext, object, k);
}

// False when a call with these is not remembered.
static bool read_key(kp_ext *ext, PyObject *args, PyObject *kwargs, key *k) {
    Py_ssize_t count = PyTuple_Size(args), position = 0;
    PyObject *name, *value;
    k->count = 0;
    k->core = NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!add_value(ext, PyTuple_GetItem(args, i), k))
            return false;
    }
    while (kwargs != NULL && PyDict_Next(kwargs, &position, &name, &value)) {
        if (!add(k, NAME, (uint64_t)(uintptr_t)name) || !add_value(ext, value, k))
            return false;
    }
    return k->core != NULL;
}

// ---------------------------------------------------------------------------------------------------------------------
// What is remembered
// ---------------------------------------------------------------------------------------------------------------------

static void forget(entry *e) {
    PyObject *names = e->names;
    free(e->words);
    *e = (entry){0};
    Py_XDECREF(names);
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

// Without memory, nothing is remembered.
static int remember(ext_call *c, const key *k, PyObject *kwargs, PyObject *watches, uint64_t recipe) {
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
    *e = (entry){words, k->count, recipe, ++c->calls, names};
    return 0;
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

// 1: done. 0: this call is to go through Python. -1 with an exception.
static int replay(ext_call *c, const key *k) {
    int same = are_same(c);
    if (same <= 0)
        return same;
    entry *e = find(c, k);
    if (e == NULL)
        return 0;
    e->used = ++c->calls;
    return ext_anonymous_replay(c->ext, k->core, e->recipe);
}

// _call() gives None, or (watches, recipe).
static PyObject *call_slowly(ext_call *c, PyObject *args, PyObject *kwargs, const key *k) {
    PyObject *method = PyObject_GetAttrString((PyObject *)c, "_call");
    PyObject *made = method != NULL ? PyObject_Call(method, args, kwargs) : NULL;
    PyObject *watches;
    unsigned long long recipe;
    Py_XDECREF(method);
    if (made == NULL)
        return NULL;
    int result = 0;
    if (made != Py_None && !PyArg_ParseTuple(made, "O!K:_call", &PyList_Type, &watches, &recipe))
        result = -1;
    else if (made != Py_None && k != NULL)
        result = remember(c, k, kwargs, watches, recipe);
    Py_DECREF(made);
    return result == 0 ? Py_NewRef(Py_None) : NULL;
}

static PyObject *call(PyObject *self, PyObject *args, PyObject *kwargs) {
    ext_call *c = (ext_call *)self;
    key k;
    if (kwargs != NULL && PyDict_Size(kwargs) == 0)
        kwargs = NULL;
    if (!read_key(c->ext, args, kwargs, &k))
        return call_slowly(c, args, kwargs, NULL);
    // The words are from before the call: if a tensor's device memory changes meanwhile, they never come again.
    int done = replay(c, &k);
    return done == 0 ? call_slowly(c, args, kwargs, &k) : done > 0 ? Py_NewRef(Py_None) : NULL;
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
