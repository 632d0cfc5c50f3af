// See ext.h. What a NumPy array on a tensor has as its base, as Kompute's programs look at it: `tensor.data().base`
// answers is_init(), size() and the rest as the tensor does. It holds the host side by a memoryview on the tensor,
// since NumPy gives the buffer back at once and keeps the object.
#include "objects.h"

typedef struct host_side {
    PyObject_HEAD PyObject *memory; // the tensor or image
    PyObject *view;                 // a memoryview on it
} host_side;

PyObject *ext_host_side_new(kp_ext *ext, PyObject *memory) {
    PyObject *view = PyMemoryView_FromObject(memory);
    if (view == NULL)
        return NULL;
    allocfunc alloc = (allocfunc)(uintptr_t)PyType_GetSlot(ext->host_side_type, Py_tp_alloc);
    host_side *side = (host_side *)alloc(ext->host_side_type, 0);
    if (side == NULL) {
        Py_DECREF(view);
        return NULL;
    }
    side->memory = Py_NewRef(memory);
    side->view = view;
    return (PyObject *)side;
}

static PyObject *get_attribute(PyObject *self, PyObject *name) {
    PyObject *own = PyObject_GenericGetAttr(self, name);
    PyObject *memory = ((host_side *)self)->memory;
    if (own != NULL || memory == NULL || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return own;
    PyErr_Clear();
    return PyObject_GetAttr(memory, name);
}

static int get_buffer(PyObject *self, Py_buffer *buffer, int flags) {
    PyObject *view = ((host_side *)self)->view;
    if (view != NULL)
        return PyObject_GetBuffer(view, buffer, flags); // its owner is the memoryview
    PyErr_SetString(PyExc_BufferError, "the host side is gone");
    return -1;
}

static PyObject *describe(PyObject *self) {
    PyObject *memory = ((host_side *)self)->memory;
    return memory != NULL ? PyUnicode_FromFormat("<host side of %R>", memory) : PyUnicode_FromString("<host side>");
}

static int traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((host_side *)self)->memory);
    Py_VISIT(((host_side *)self)->view);
    return 0;
}

static int clear(PyObject *self) {
    Py_CLEAR(((host_side *)self)->memory);
    Py_CLEAR(((host_side *)self)->view);
    return 0;
}

static void dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    clear(self);
    ext_free(self);
}

static PyType_Slot slots[] = {
    {Py_tp_getattro, EXT_SLOT(get_attribute)},
    {Py_tp_repr, EXT_SLOT(describe)},
    {Py_tp_traverse, EXT_SLOT(traverse)},
    {Py_tp_clear, EXT_SLOT(clear)},
    {Py_tp_dealloc, EXT_SLOT(dealloc)},
    {Py_bf_getbuffer, EXT_SLOT(get_buffer)},
    {0, NULL},
};
static PyType_Spec spec = {"kp.HostSide", sizeof(host_side), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

int ext_host_side_init(kp_ext *ext, PyObject *module) {
    ext->host_side_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return ext->host_side_type != NULL ? 0 : -1;
}
