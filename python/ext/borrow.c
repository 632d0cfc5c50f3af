// See objects.h. Tensors that work on an array's own memory. kp says that it is done with it on whatever thread,
// without the GIL: so the buffers are put on a list, and given back where the GIL is held and nothing is half done.
#include "objects.h"

#include <stdatomic.h>
#include <stdlib.h>

typedef struct borrow {
    struct borrow *next;
    Py_buffer buffer;
} borrow;

static _Atomic(borrow *) done; // of the process: buffers know their interpreter's objects

void ext_borrow_return(void) {
    borrow *list = atomic_load_explicit(&done, memory_order_relaxed) != NULL ? atomic_exchange(&done, NULL) : NULL;
    while (list != NULL) {
        borrow *next = list->next;
        PyBuffer_Release(&list->buffer); // may run code of the user's
        free(list);
        list = next;
    }
}

static int return_later(void *unused) {
    (void)unused;
    ext_borrow_return();
    return 0;
}

static void release(void *payload) {
    borrow *b = payload;
    b->next = atomic_load(&done);
    while (!atomic_compare_exchange_weak(&done, &b->next, b)) {
    }
    Py_AddPendingCall(return_later, NULL); // a full list of calls does no harm: the next tensor returns them
}

static bool can_borrow(const ext_data *data, kp_memory_type memory_type) {
    return data->owned == NULL && data->buffer.obj != NULL && !data->buffer.readonly && data->count != 0 &&
           data->bytes == data->buffer.buf && memory_type != KP_MEMORY_STORAGE;
}

PyObject *ext_borrow_tensor(kp_ext *ext, ext_core *core, ext_data *data, const kp_tensor_desc *kind) {
    if (!can_borrow(data, kind->memory_type))
        return ext_tensor_new(ext, core, data, kind);
    borrow *b = malloc(sizeof *b);
    if (b == NULL)
        return PyErr_NoMemory();
    b->buffer = data->buffer;
    data->buffer.obj = NULL;
    const kp_tensor_desc desc = {.dtype = data->dtype,
                                 .count = data->count,
                                 .data = data->bytes,
                                 .import_data = true,
                                 .release = release,
                                 .release_payload = b,
                                 .memory_type = kind->memory_type,
                                 .label = kind->label};
    kp_tensor *handle;
    PyObject *tensor = NULL;
    if (ext_tensor_handle(ext, core, &desc, &handle) == 0)
        tensor = ext_memory_wrap(ext, core, handle); // what destroys the handle releases the array
    else
        release(b);
    if (tensor != NULL)
        ((ext_tensor *)tensor)->borrowed = kp_tensor_data(((ext_tensor *)tensor)->handle) == data->bytes;
    ext_borrow_return();
    return tensor;
}
