// The extension kp._kp: what its files share. It sees kp through the public headers alone.
//
// One py_<type>.c per Python type. Below them, files that know no Python type of ours: error.c (results to exceptions),
// core.c (who keeps a kp_manager alive, who may use it, the GIL), data.c and element.c (numbers in and out),
// exchange.c (arrays for other libraries), launch.c
// (arguments of algorithms), log.c, device.c. classic.c records the ops of the 0.5 API.
//
// State lives in the module (kp_ext). Every object of ours points to it: its type holds the module, so it is there as
// long as the object. References between Python objects go one way only, to what is used: a sequence to what it
// recorded, an algorithm to its tensors; none goes back to a manager object. All of them share the manager's core
// instead, a counted C struct, so dropping the last reference frees device memory at once, without the collector.
#ifndef KP_EXT_H
#define KP_EXT_H

#include <kp/kp.h>
#define PY_SSIZE_T_CLEAN
#include <Python.h>

enum { EXT_OP_TYPES = 9, EXT_MEMORY_TYPES = 4, EXT_EXCEPTIONS = 11, EXT_NUMBERS = 4 };

typedef struct kp_ext {
    PyObject *exceptions[EXT_EXCEPTIONS]; // error.c
    PyObject *memory_types;               // the enums, and their members by value
    PyObject *data_types;                 //
    PyObject *memory_type_members[EXT_MEMORY_TYPES];
    PyObject *dtype_members[KP_DTYPE_COUNT];
    PyTypeObject *memory_type; // kp.Memory
    PyTypeObject *tensor_type;
    PyTypeObject *image_type;
    PyTypeObject *manager_type;
    PyTypeObject *algorithm_type;
    PyTypeObject *sequence_type;
    PyTypeObject *program_type;
    PyTypeObject *call_type; // the base of kp.Kernel
    PyTypeObject *op_type;   // kp.OpBase
    PyTypeObject *op_types[EXT_OP_TYPES];
    PyTypeObject *external_type;  // kp.ExternalMemory, a struct sequence
    PyTypeObject *semaphore_type; //
    PyTypeObject *device_type;    // kp.Device, kp.QueueFamily, kp.Param: struct sequences
    PyTypeObject *family_type;
    PyTypeObject *param_type;
    PyTypeObject *manager_class; // kp.Manager and kp.Sequence, once set_classes was called
    PyTypeObject *sequence_class;
    PyObject *default_manager; // the one for kernels that are called without tensors, borrowed; NULL: there is none
    PyTypeObject *ndarray;     // numpy.ndarray; NULL until a kernel is called while NumPy is there
    PyTypeObject *numbers[EXT_NUMBERS];     // numpy.float32, float64, int32, int64; likewise
    PyObject *struct_dtypes;                // {dtype: the first one that is equal}; ext_struct_one
    PyObject *frombuffer;                   // numpy.frombuffer and dtypes; NULL until an array is first asked for
    PyObject *numpy_dtypes[KP_DTYPE_COUNT]; //
    uint64_t serials;                       // last serial given to a tensor
} kp_ext;

// The module state behind one of our types, or a subclass of one. NULL with an exception when it is none.
kp_ext *ext_of_type(PyTypeObject *type);

// A function, or a doc string, as Python's slots hold it: C converts between the two kinds of pointers only by way of
// an integer.
#define EXT_SLOT(thing) ((void *)(uintptr_t)(thing))

// Puts a new reference, or NULL, in place of an old one.
#define EXT_SET(target, value)                        \
    do {                                              \
        PyObject *ext_set_old = (PyObject *)(target); \
        (target) = (value);                           \
        Py_XDECREF(ext_set_old);                      \
    } while (0)

// PyType_FromModuleAndSpec and PyModule_AddType. A new reference, or NULL with an exception.
PyTypeObject *ext_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject *base);

// Frees an object of a heap type: the tail of every tp_dealloc.
void ext_free(PyObject *self);

// Whether it can be gone over, but in no order that means something, or holds no numbers: sets, dicts, texts and bytes.
bool ext_unordered(PyObject *object);

// ---------------------------------------------------------------------------------------------------------------------
// error.c
// ---------------------------------------------------------------------------------------------------------------------

int ext_error_init(kp_ext *ext, PyObject *module);

// Raises what the last failing kp call on this thread said. Returns NULL.
PyObject *ext_error_raise(kp_ext *ext, kp_result result);

// 0 for KP_OK; else -1, and raises.
int ext_error_check(kp_ext *ext, kp_result result);

// As ext_error_raise, for a call that read `path`: KP_ERROR_IO becomes the OSError of its errno.
PyObject *ext_error_raise_path(kp_ext *ext, kp_result result, PyObject *path);

// Raises the exception that `result` maps to with words of our own. Returns NULL.
PyObject *ext_error_format(kp_ext *ext, kp_result result, const char *format, ...);

// ---------------------------------------------------------------------------------------------------------------------
// core.c: a kp_manager, shared by the manager object and all that was made from it. All under the GIL.
// ---------------------------------------------------------------------------------------------------------------------

// Something to destroy later; see ext_core_release.
typedef struct ext_late {
    struct ext_late *next;
    void (*destroy)(void *handle);
    void *handle;
} ext_late;

typedef struct ext_core {
    size_t references;
    kp_manager *handle;       // NULL once destroyed
    kp_manager *dying;        // destroyed while `active`: the last one to leave ends it
    size_t active;            // calls that have it pinned
    bool ending;              // kp_manager_destroy runs without the GIL
    ext_late *late;           // what was to be destroyed meanwhile
    PyObject *object;         // the kp.Manager made for it, borrowed; NULL when that is gone
    struct ext_slot *slots;   // anonymous.c
    size_t slot_count;        //
    struct ext_spare *spares; // spares.c
    size_t spare_count;       //
    uint64_t spare_bytes;     //
    bool submitted;           // eval_async_<op>_def was called since the last await
    unsigned long process;    // ext_core_process() at creation
} ext_core;

// Takes `handle` over. NULL with MemoryError; `handle` is destroyed then.
ext_core *ext_core_new(kp_manager *handle);
ext_core *ext_core_hold(ext_core *core);
void ext_core_drop(ext_core *core); // NULL is fine

// Destroys the handle of a child: now, or after the manager that is being destroyed in another thread right now; not at
// all when it is from before a fork. NULL is fine.
void ext_core_release(ext_core *core, void (*destroy)(void *handle), void *handle);

// Whether children of it may be asked anything: false once it is destroyed, or from before a fork.
bool ext_core_usable(const ext_core *core);

// The handle, or NULL with StateError: destroyed, or made before a fork.
kp_manager *ext_core_use(kp_ext *ext, const ext_core *core);

// Destroys the manager now, or when the calls that run without the GIL are back.
void ext_core_destroy(ext_core *core);

// Between the two the manager and its slots stay, whatever calls destroy().
void ext_core_pin(ext_core *core);
void ext_core_unpin(ext_core *core);

// Pinned, and without the GIL.
PyThreadState *ext_core_enter(ext_core *core);
void ext_core_leave(ext_core *core, PyThreadState *thread);

// Around what waits, or asks a driver: without the GIL, and waited for at the end of the interpreter.
PyThreadState *ext_core_go(void);
void ext_core_come(PyThreadState *thread);
void ext_core_close(void); // the interpreter ends: nobody is in the library from here on but the thread that says so

// Counts forks: a number that differs between a process and its children.
unsigned long ext_core_process(void);

// Handles from before a fork are useless in the child: they are left alone there, not destroyed.
bool ext_core_foreign(unsigned long process);

// ---------------------------------------------------------------------------------------------------------------------
// log.c
// ---------------------------------------------------------------------------------------------------------------------

int ext_log_init(PyObject *module); // sends kp's log to logging.getLogger("kp") until the interpreter ends
void ext_log_print(void *payload, const char *text, size_t length); // kp_manager_desc.print: to sys.stdout
void ext_log_follow(void); // takes the logger's level; called where work is made, not where it is run
PyObject *ext_log_level(PyObject *module, PyObject *level);

// ---------------------------------------------------------------------------------------------------------------------
// device.c
// ---------------------------------------------------------------------------------------------------------------------

int ext_device_init(kp_ext *ext, PyObject *module);
PyObject *ext_device_extensions(PyObject *module, PyObject *index);
PyObject *ext_device_all(kp_ext *ext);  // list of kp.Device
PyObject *ext_device_list(kp_ext *ext); // list of Kompute's dicts
PyObject *ext_device_properties(const kp_device_info *info);
PyObject *ext_device_object(kp_ext *ext, const kp_device_info *info);

// ---------------------------------------------------------------------------------------------------------------------
// element.c: one number of a dtype
// ---------------------------------------------------------------------------------------------------------------------

// `format` is a struct-module character as memoryview takes it.
const char *ext_element_format(kp_dtype dtype);
const char *ext_element_numpy(kp_dtype dtype); // "float32"

PyObject *ext_element_get(kp_dtype dtype, const void *at);

// Writes the number `value` to `at`. -1 with TypeError, or OverflowError when it does not fit: infinite is what a float
// becomes that is so already, no other.
int ext_element_set(kp_dtype dtype, void *at, PyObject *value);

// The same of a count, an index or another whole number that is no data: a bool is none.
int ext_element_whole(kp_dtype dtype, PyObject *object, void *at);

// The same of an argument; NULL, which was not given, changes nothing. -1 with a ValueError or TypeError that names
// `what`.
int ext_element_count(kp_dtype dtype, PyObject *object, const char *what, void *at);

// An element of a foreign buffer: kind 'f', 'i', 'u' or '?', its bytes, and whether they are the other way round.
typedef struct ext_element {
    char kind;
    uint8_t size;
    bool swapped;
} ext_element;

// Reads a buffer's format. -1 with a TypeError that gives the reason; `what` names the argument.
int ext_element_parse(const char *format, Py_ssize_t itemsize, const char *what, ext_element *out);

// The dtype with exactly these bytes; -1 when there is none.
int ext_element_dtype(ext_element element);

float ext_element_float(ext_element element, const void *at);
bool ext_element_too_large(ext_element element, const void *at);      // for a float: it would become infinite
void ext_element_copy(ext_element element, const void *at, void *to); // same bytes, in host order

// ---------------------------------------------------------------------------------------------------------------------
// options.c: what a manager is asked for. An argument of NULL or None was not given. -1 or NULL with an exception that
// names `what`.
// ---------------------------------------------------------------------------------------------------------------------

// UTF-8 without NUL, borrowed from a str.
int ext_options_text(PyObject *text, const char *what, const char **out);

// The items of a sequence that is no text: a new tuple.
PyObject *ext_options_list(PyObject *object, const char *what, const char *items);

typedef struct ext_names {
    const char **names;
    size_t count;
    PyObject *held; // what they are borrowed from
} ext_names;

// A list of texts, into a zeroed one, to be released even when this fails.
int ext_options_names(PyObject *object, const char *what, ext_names *out);
void ext_options_release(ext_names *names);

int ext_options_toggle(PyObject *object, kp_toggle *out);

// ---------------------------------------------------------------------------------------------------------------------
// data.c: many numbers
// ---------------------------------------------------------------------------------------------------------------------

// What a data argument came to. `bytes` lie in host order, C-contiguous, and are borrowed or owned.
typedef struct ext_data {
    const void *bytes;
    size_t count; // elements
    kp_dtype dtype;
    void *owned;      // freed by ext_data_release
    Py_buffer buffer; // held when buffer.obj is not NULL
} ext_data;

enum { EXT_DATA_OWN = -1 }; // as `want`: the dtype that the array has

// How an array of another dtype than `want` is met.
typedef enum ext_data_rule {
    EXT_DATA_CONVERT, // by value; only to float32
    EXT_DATA_STRICT,  // TypeError naming both
} ext_data_rule;

// Reads `object`: an array (buffer protocol, or __array__) or a sequence of numbers, nested ones flattened.
// -1 with an exception that names `what`; nothing to release then.
int ext_data_read(PyObject *object, int want, ext_data_rule rule, const char *what, ext_data *out);
void ext_data_release(ext_data *data);
bool ext_data_masked(PyObject *object); // whether it is one of NumPy's masked arrays, and hides some

// Copies what is borrowed, so that it no longer changes with the object. -1 with MemoryError.
int ext_data_own(ext_data *data, size_t bytes);

// Raw bytes of SPIR-V, push constants. `owned` or `buffer` hold them.
int ext_data_spirv(PyObject *object, ext_data *out);

// ---------------------------------------------------------------------------------------------------------------------
// value.c: one value of a type
// ---------------------------------------------------------------------------------------------------------------------

// Writes `value` as the `size` bytes that a constant or a uniform of this type is. -1 with a TypeError, ValueError or
// OverflowError that starts with `who` and the place in quotes: k() argument 'box.low'.
int ext_value_put(const kp_param *param, PyObject *value, const char *who, char *to, size_t size);

// The axes of a value of a type, `count` numbers or structs, as NumPy has them: () of a number, (3,) of a vec3, (3, 3)
// of a mat3.
PyObject *ext_value_shape(const char *type, kp_dtype dtype, const kp_struct *structure, size_t count);

// ---------------------------------------------------------------------------------------------------------------------
// launch.c: arguments of algorithms and dispatches
// ---------------------------------------------------------------------------------------------------------------------

int ext_launch_axes(PyObject *object, const char *what, uint32_t out[3]);  // () to three numbers; the others are 0
int ext_launch_three(PyObject *object, const char *what, uint32_t out[3]); // ... are 1, unless there are none
int ext_launch_extent(PyObject *object, uint32_t out[3]);                  // the same, none of them 0
int ext_launch_workgroup(PyObject *object, uint32_t out[3]);               // the same, all 0 when x is
int ext_launch_push(PyObject *object, const char *what, ext_data *out);    // push constants as bytes
enum {
    EXT_SPEC_BYTES = 9
}; // of a specialization constant in `words`: how many its value has, and eight with it in front
int ext_launch_spec_words(const char *words, size_t count, kp_spec **out);              // *out freed by PyMem_Free
int ext_launch_specs(PyObject *object, ext_data *values, kp_spec **out, size_t *count); // *out freed by PyMem_Free

// ---------------------------------------------------------------------------------------------------------------------
// constants.c: the same by name, from a dict or a structured scalar
// ---------------------------------------------------------------------------------------------------------------------

bool ext_constants_named(PyObject *object); // whether it is one of those

// What the algorithm's module takes. -1 with an exception that names `what`; nothing to release then.
int ext_constants_push(kp_ext *ext, const kp_algorithm *algorithm, PyObject *object, const char *what, ext_data *out);
int ext_constants_specs(kp_ext *ext, const kp_algorithm *algorithm, PyObject *object, const char *what,
                        ext_data *values, kp_spec **out, size_t *count); // *out freed by PyMem_Free

// ---------------------------------------------------------------------------------------------------------------------
// The Python types
// ---------------------------------------------------------------------------------------------------------------------

// The host side of a tensor or image, counted: by the tensor, and by each export of its buffer.
typedef struct ext_host {
    size_t references;
    void *data;            // never NULL
    void *owned;           // malloc'ed, for a tensor that no manager has yet
    kp_view *view;         // or a hold on the tensor's host side
    unsigned long process; // see ext_core_foreign
} ext_host;

// kp.Memory: a kp.Tensor or a kp.Image.
typedef struct ext_tensor {
    PyObject_HEAD kp_ext *ext;
    ext_core *core;    // NULL until a manager has it
    kp_tensor *handle; // NULL until then, and after destroy()
    ext_host *host;    // NULL: not asked for yet, or a storage tensor's
    uint64_t serial;   // changes with the handle, and is never used twice
    Py_ssize_t count;  // elements
    Py_ssize_t stride; // bytes of one
    int ndim;          // C-contiguous:
    Py_ssize_t shape[KP_MAX_DIMS];
    Py_ssize_t strides[KP_MAX_DIMS];
    kp_dtype dtype;
    kp_memory_type memory_type;
    unsigned pins;    // calls that use the handle without the GIL
    bool doomed;      // destroy() came meanwhile
    bool classic;     // made by calling kp.Tensor(...)
    bool image;       // a kp.Image
    bool borrowed;    // its host side is an array's own memory
    PyObject *numpy;  // of structs: their dtype; NULL: they are numbers
    PyObject *format; // ... and the buffer's format, bytes
} ext_tensor;

// ---------------------------------------------------------------------------------------------------------------------
// py_memory.c
// ---------------------------------------------------------------------------------------------------------------------

// kp.MemoryTypes, or its number; NULL changes nothing. -1 with an exception.
int ext_memory_type(PyObject *object, kp_memory_type *out);

// A host side in malloc'ed memory, which it takes over, or a view, which it takes over too; neither: of no elements.
ext_host *ext_memory_host(void *owned, kp_view *view);
void ext_memory_drop_host(ext_host *host); // NULL is fine

// An object with that many elements on one axis, and nothing else yet.
ext_tensor *ext_memory_allocate(kp_ext *ext, PyTypeObject *type, kp_dtype dtype, size_t count,
                                kp_memory_type memory_type);
void ext_memory_set_count(ext_tensor *t, Py_ssize_t count);

// The Python object of a handle, of kp.Tensor or kp.Image, which it takes over, also when it fails.
PyObject *ext_memory_wrap(kp_ext *ext, ext_core *core, kp_memory *handle);

// Puts a handle, or NULL, in place of the old one. The old one goes last: with it may go its manager, which gives the
// GIL away, and other threads must find the tensor whole.
void ext_memory_set_handle(ext_tensor *t, kp_tensor *handle, ext_core *core);

bool ext_memory_alive(const ext_tensor *t); // whether its handle may be used
kp_memory *ext_memory_use(ext_tensor *t);   // the handle, or NULL with StateError

// Where the elements lie, or NULL with an exception. Valid while the GIL is held and nothing of Python runs.
char *ext_memory_elements(ext_tensor *t);

// ---------------------------------------------------------------------------------------------------------------------
// axes.c: shapes. -1 or NULL with an exception.
// ---------------------------------------------------------------------------------------------------------------------

int ext_axes_read(PyObject *object, uint32_t *ndim, uint64_t shape[KP_MAX_DIMS]); // a tuple of ints, or one
PyObject *ext_axes_tuple(const ext_tensor *t);                                    // a new one

// That an array of several axes has those of a tensor of several, or of an image; a ValueError names `what`.
int ext_axes_check(const Py_ssize_t *shape, int ndim, bool image, PyObject *array, const char *what);
int ext_axes_fits(const ext_tensor *t, PyObject *array, const char *what);

// ---------------------------------------------------------------------------------------------------------------------
// structs.c: tensors of structs
// ---------------------------------------------------------------------------------------------------------------------

// The structured dtype of an array, a new reference; NULL without an exception: it has none.
PyObject *ext_struct_dtype(PyObject *object);

// Of dtypes that are equal always the same one, so that they can be compared by address. Borrowed; NULL with an
// exception.
PyObject *ext_struct_one(kp_ext *ext, PyObject *dtype);

// A tensor of an array with that dtype, otherwise as ext_tensor_new. NULL with an exception that names `what`.
PyObject *ext_struct_tensor(kp_ext *ext, ext_core *core, PyObject *object, PyObject *dtype, const char *what,
                            const kp_tensor_desc *kind);

// A tensor of that structured dtype; desc->structure is filled in.
// A structured dtype with the description of its structs, which lives as long; zeroed: none.
typedef struct ext_structure {
    PyObject *dtype, *held;
} ext_structure;

// The structured dtype that an argument names: itself, the `dtype` of a kp.Struct, or what NumPy makes of it. A new
// reference; NULL for any other dtype. -1 with an exception.
int ext_struct_named(PyObject *object, PyObject **out);

// Sets desc->structure. -1 with an exception; else it has to be finished: `tensor`, which is taken over and may be
// NULL, gets its dtype.
int ext_struct_read(kp_ext *ext, PyObject *dtype, const char *what, kp_tensor_desc *desc, ext_structure *out);
PyObject *ext_struct_finish(PyObject *tensor, ext_structure *structure);

PyObject *ext_struct_create(kp_ext *ext, ext_core *core, PyObject *dtype, const char *what, kp_tensor_desc *desc);

// Whether an array has the tensor's dtype. -1 with a TypeError that names `what`.
int ext_struct_check(const ext_tensor *t, PyObject *object, const char *what);

PyObject *ext_struct_assign(ext_tensor *t, PyObject *object); // set_data()
PyObject *ext_struct_repr(ext_tensor *t);

// A program's struct as tuples; None for NULL.
PyObject *ext_struct_describe(const kp_struct *structure);

PyObject *ext_tensor_dtype_text(const ext_tensor *t);                                          // as NumPy says it
PyObject *ext_tensor_list(ext_tensor *t, Py_ssize_t start, Py_ssize_t step, Py_ssize_t count); // elements

// exchange.c: methods of ext_tensor
PyObject *ext_exchange_array(PyObject *memory, PyObject *args, PyObject *kwargs);
PyObject *ext_exchange_dlpack(PyObject *tensor, PyObject *args, PyObject *kwargs);
PyObject *ext_exchange_dlpack_device(PyObject *tensor, PyObject *unused);
PyObject *ext_exchange_html(PyObject *tensor, PyObject *unused);

// view.c: the tensor's part as a handle of its own (NULL: all of it), or NULL with an exception
kp_tensor *ext_view_handle(ext_tensor *t, const kp_tensor_view_desc *desc);

// transfer.c: methods of ext_tensor
PyObject *ext_transfer_upload(PyObject *tensor, PyObject *array);
PyObject *ext_transfer_download(PyObject *tensor, PyObject *args, PyObject *kwargs);

typedef struct ext_algorithm {
    PyObject_HEAD kp_ext *ext;
    ext_core *core;
    kp_algorithm *handle; // NULL: empty, or destroyed
    PyObject *memories;   // tuple
    bool busy;            // a call changes it without the GIL
} ext_algorithm;

typedef struct ext_program {
    PyObject_HEAD kp_ext *ext;
    kp_program *handle;
    PyObject *spirv;  // bytes, once asked for
    PyObject *params; // tuple, once asked for
} ext_program;

typedef struct ext_sequence {
    PyObject_HEAD kp_ext *ext;
    ext_core *core;
    kp_sequence *handle; // NULL after destroy()
    PyObject *recorded;  // list: what the recording uses
    uint32_t timestamps; // how many ops get one
    bool ended;          // the next op starts a fresh recording
    bool begun;          // begin() was called, end() was not
    bool busy;           // a call of another thread runs without the GIL
} ext_sequence;

typedef struct ext_manager {
    PyObject_HEAD kp_ext *ext;
    ext_core *core;
    bool made;          // __init__ was called
    PyObject *named;    // dict: the sequences that have a name
    uint64_t next_name; // for those made without one
} ext_manager;

// A manager of that class on a handle, which it takes over, also when it fails.
PyObject *ext_manager_on(PyTypeObject *type, kp_ext *ext, kp_manager *handle);

// making.c: methods of ext_manager.
typedef struct ext_making {
    kp_tensor_desc desc;     //
    ext_structure structure; // what it points to, for structs
} ext_making;

// Shape, dtype (NULL: float32) and memory type, into a zeroed one (`desc` may have more). -1 with an exception; else it
// has to be finished: `tensor`, which is taken over and may be NULL, gets its dtype. NULL with an exception.
int ext_making_read(ext_manager *m, PyObject *shape, PyObject *dtype, PyObject *type, ext_making *out);
PyObject *ext_making_finish(PyObject *tensor, ext_making *making);

// What Python calls an element type: DataTypes, a name, or anything that NumPy takes for a dtype. -1 with TypeError.
int ext_making_dtype(kp_ext *ext, PyObject *object, kp_dtype *out);

PyObject *ext_making_tensor(PyObject *manager, PyObject *args, PyObject *kwargs);
PyObject *ext_making_tensor_t(PyObject *manager, PyObject *args, PyObject *kwargs);
PyObject *ext_making_full(PyObject *manager, PyObject *args, PyObject *kwargs);
PyObject *ext_making_zeros(PyObject *manager, PyObject *args, PyObject *kwargs);
PyObject *ext_making_empty(PyObject *manager, PyObject *args, PyObject *kwargs);

typedef struct ext_semaphore {
    PyObject_HEAD kp_ext *ext;
    ext_core *core;
    kp_semaphore *handle; // NULL after destroy()
    bool binary;          //
    unsigned waiting;     // threads that wait for it without the GIL
} ext_semaphore;

// external.c: methods of ext_manager and ext_tensor
int ext_external_init(kp_ext *ext, PyObject *module);
PyObject *ext_external_exportable(PyObject *manager, PyObject *args, PyObject *kwargs);
PyObject *ext_external_import(PyObject *manager, PyObject *args, PyObject *kwargs);
PyObject *ext_external_import_image(ext_manager *m, PyObject *memory, const kp_image_desc *desc);
PyObject *ext_external_export(PyObject *memory, PyObject *unused);
// 'opaque_fd', or the word for `other`. -1 with a ValueError that names `what`.
int ext_external_handle(const char *word, const char *what, kp_handle_type other, kp_handle_type *out);

// py_semaphore.c: methods of ext_manager and ext_sequence
PyObject *ext_semaphore_new(PyObject *manager, PyObject *args, PyObject *kwargs);
PyObject *ext_semaphore_import(PyObject *manager, PyObject *args, PyObject *kwargs);
PyObject *ext_semaphore_submit(PyObject *sequence, PyObject *args, PyObject *kwargs);

// native.c: Vulkan's handles, of ext_manager, ext_tensor and ext_semaphore; and ext_manager's class
PyObject *ext_native_manager(PyObject *manager, PyObject *unused);
PyObject *ext_native_memory(PyObject *memory, PyObject *unused);
PyObject *ext_native_semaphore(PyObject *semaphore, PyObject *unused);
extern const char ext_native_semaphore_doc[];
PyObject *ext_native_adopt(PyObject *type, PyObject *args, PyObject *kwargs);

int ext_memory_init(kp_ext *ext, PyObject *module);
int ext_tensor_init(kp_ext *ext, PyObject *module);
int ext_image_init(kp_ext *ext, PyObject *module);
int ext_algorithm_init(kp_ext *ext, PyObject *module);
int ext_program_init(kp_ext *ext, PyObject *module);
int ext_call_init(kp_ext *ext, PyObject *module);
int ext_sequence_init(kp_ext *ext, PyObject *module);
int ext_semaphore_init(kp_ext *ext, PyObject *module);
int ext_op_init(kp_ext *ext, PyObject *module);
int ext_manager_init(kp_ext *ext, PyObject *module);

// The kp.Manager of a core: the one there is, or a new one. A new reference.
PyObject *ext_manager_of(kp_ext *ext, ext_core *core);

// A tensor made by a manager. Takes its numbers from `data`, and of `kind` memory type and label.
PyObject *ext_tensor_new(kp_ext *ext, ext_core *core, const ext_data *data, const kp_tensor_desc *kind);

// borrow.c: the same on the array's own memory, where the device can use that; else a copy. Takes the buffer of `data`.
PyObject *ext_borrow_tensor(kp_ext *ext, ext_core *core, ext_data *data, const kp_tensor_desc *kind);

// Lets go of arrays that no tensor uses any more. May run code of the user's.
void ext_borrow_return(void);

// A tensor as described.
PyObject *ext_tensor_from_desc(kp_ext *ext, ext_core *core, const kp_tensor_desc *desc);

// A view: `key` is an index or a slice of the first axis, or `shape` a tuple of ints, -1 for what is left.
PyObject *ext_view_take(ext_tensor *tensor, PyObject *key);
PyObject *ext_view_reshape(PyObject *tensor, PyObject *args);

// py_image.c: an image, its data from `object`, which may be None, the rest from `desc`; and methods of ext_manager.
PyObject *ext_image_new(kp_ext *ext, ext_core *core, PyObject *object, int want, kp_image_desc *desc);
PyObject *ext_image_image(PyObject *manager, PyObject *args, PyObject *kwargs);
PyObject *ext_image_image_t(PyObject *manager, PyObject *args, PyObject *kwargs);
PyObject *ext_image_import(PyObject *manager, PyObject *args, PyObject *kwargs);

// Makes the device memory of a tensor that was made without a manager; one that this manager has already is fine.
// `position` is for messages.
int ext_tensor_create(ext_tensor *tensor, ext_core *core, Py_ssize_t position);

// The tensors of an argument, and their handles. Zeroed is empty.
typedef struct ext_memories {
    PyObject *tuple;
    size_t count;
    kp_memory **handles;
    kp_memory *few[12];
} ext_memories;

// Reads a sequence of kp.Memory. -1 with a TypeError that names the position.
PyObject *ext_memories_tuple(kp_ext *ext, PyObject *object, const char *what);

// As above, and each must be created, alive, and of this manager.
int ext_memories_read(kp_ext *ext, const ext_core *core, PyObject *object, const char *what, ext_memories *out);
void ext_memories_release(ext_memories *memories);

// Whether those arguments of a kernel that are memory are usable, by one manager. -1 with an exception that names one.
int ext_memories_check(kp_ext *ext, const kp_program *program, const char *kernel, PyObject *tuple);

// Everything but core and memories may be NULL. `program` or `spirv` is used, whichever is given.
typedef struct ext_algorithm_desc {
    const kp_program *program; //
    PyObject *spirv;           // anything that holds SPIR-V; kp.Program included
    PyObject *workgroup;       //
    PyObject *extent;          //
    PyObject *specs;           //
    PyObject *push;            //
    const char *spec_words;    // or specialization constants 0, 1, ..., EXT_SPEC_BYTES each
    size_t spec_count;         //
    const char *push_bytes;    // or push constants as they are
    size_t push_size;          //
    const char *label;         //
} ext_algorithm_desc;

// From now until unpinned, destroy() of these tensors waits: their handles are in use without the GIL.
void ext_memories_pin(const ext_memories *memories);
void ext_memories_unpin(const ext_memories *memories);

// A new kp.Algorithm. GIL released while it is made.
PyObject *ext_algorithm_new(kp_ext *ext, ext_core *core, PyObject *memories, const ext_algorithm_desc *desc);

PyObject *ext_algorithm_of_program(PyObject *program, PyObject *args); // a method of ext_program

// The handle, or NULL with StateError: empty, destroyed, another thread's, from before a fork.
kp_algorithm *ext_algorithm_use(const ext_algorithm *algorithm);

// Turns an empty algorithm into this one. -1 with an exception.
int ext_algorithm_fill(ext_algorithm *algorithm, ext_core *core, PyObject *memories, const ext_algorithm_desc *desc);

PyObject *ext_program_new(kp_ext *ext, kp_program *handle);   // takes `handle` over, also when it fails
PyObject *ext_program_from_text(kp_ext *ext, PyObject *text); // str, bytes, or a list of characters: GLSL or HLSL
PyObject *ext_program_from_file(kp_ext *ext, PyObject *path, const kp_shader_desc *desc);
PyObject *ext_program_compile(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *ext_program_compile_check(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *ext_program_compile_list(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *ext_program_shader(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *ext_program_load(PyObject *module, PyObject *args, PyObject *kwargs);

PyObject *ext_sequence_new(kp_ext *ext, ext_core *core, uint32_t queue, uint32_t timestamps, const char *label);

// The handle, or NULL with StateError: destroyed, another thread's, from before a fork.
kp_sequence *ext_sequence_use(ext_sequence *sequence);

// Keeps `object` as long as the recording that an op was just added to.
int ext_sequence_keep(ext_sequence *sequence, PyObject *object);

// One kp_sequence call that blocks, without the GIL. `timeout` is for awaiting.
typedef enum ext_sequence_call { EXT_EVAL, EXT_EVAL_ASYNC, EXT_AWAIT } ext_sequence_call;
int ext_sequence_run(ext_sequence *sequence, ext_sequence_call call, uint64_t timeout);

// Around what submits or waits, without the GIL: the handle, or NULL with an exception; then 0, or -1 with an
// exception.
kp_sequence *ext_sequence_enter(ext_sequence *sequence, PyThreadState **thread);
int ext_sequence_leave(ext_sequence *sequence, PyThreadState *thread, kp_result result);

// Nanoseconds: any int from 0 up, the largest meaning for ever.
int ext_sequence_timeout(PyObject *object, uint64_t *out);

// Records kp.OpBase `op`. -1 with an exception.
int ext_op_record(PyObject *op, ext_sequence *sequence);

// ---------------------------------------------------------------------------------------------------------------------
// classic.c: the 0.5 API
// ---------------------------------------------------------------------------------------------------------------------

// X(name)
#define EXT_CLASSIC_OPS(X) \
    X(TENSOR_CREATE)       \
    X(TENSOR_COPY)         \
    X(TENSOR_SYNC_DEVICE)  \
    X(TENSOR_SYNC_LOCAL)   \
    X(ALGO_MULT)           \
    X(ALGO_FILE)           \
    X(ALGO_STR)            \
    X(ALGO_DATA)           \
    X(ALGO_LRO)

typedef enum ext_classic_op {
#define EXT_X(name) EXT_##name,
    EXT_CLASSIC_OPS(EXT_X)
#undef EXT_X
        EXT_CLASSIC_OP_COUNT
} ext_classic_op;

// Records one op on `sequence`. `extra` is the shader of an algo op, or None. `*algorithm` is the kp.Algorithm that was
// made for it, or NULL; it must stay as long as the recording. -1 with an exception.
int ext_classic_record(kp_ext *ext, ext_core *core, kp_sequence *sequence, ext_classic_op op, PyObject *tensors,
                       PyObject *extra, PyObject **algorithm);

// Methods of ext_manager.
PyObject *ext_classic_create_sequence(PyObject *manager, PyObject *args, PyObject *kwargs);
PyObject *ext_classic_get_create_sequence(PyObject *manager, PyObject *args, PyObject *kwargs);
PyObject *ext_classic_build_tensor(PyObject *manager, PyObject *args, PyObject *kwargs);
PyObject *ext_classic_eval_op(PyObject *manager, PyObject *args);
PyObject *ext_classic_eval_await(PyObject *manager, PyObject *args, PyObject *kwargs);
PyObject *ext_classic_eval_await_def(PyObject *manager, PyObject *args, PyObject *kwargs);

// ---------------------------------------------------------------------------------------------------------------------
// arguments.c: the parameters of a kernel that take memory
// ---------------------------------------------------------------------------------------------------------------------

// What an argument's memory is like.
typedef struct ext_wanted {
    bool image, normalized;
    kp_dtype dtype;              // of structs: KP_U8
    uint32_t ndim;               // at least 1; of an image with that of the channels, the last
    uint64_t shape[KP_MAX_DIMS]; //
    PyObject *structure;         // of structs: their dtype, borrowed; NULL: they are numbers
} ext_wanted;

bool ext_argument_is_image(const kp_param *p);

// The parameter behind `p` that takes memory, the first one for NULL; NULL: there is none.
const kp_param *ext_argument_next(const kp_program *program, const kp_param *p);

// How messages call it: "multiply() argument 'a'".
enum { EXT_ARGUMENT_NAME = 448 };
void ext_argument_name(const char *kernel, const kp_param *p, char text[EXT_ARGUMENT_NAME]);

ext_wanted ext_argument_of(const ext_tensor *t);
uint64_t ext_argument_count(const ext_wanted *w); // elements

// The first parameter that takes memory and is written, and which of those that take memory it is; NULL: there is none.
const kp_param *ext_argument_written(const kp_program *program, size_t *number);

PyObject *ext_argument_extent(PyObject *module, PyObject *args); // a function of the module

// ---------------------------------------------------------------------------------------------------------------------
// spares.c: the memory that calls with arrays put their data in. Under the GIL.
// ---------------------------------------------------------------------------------------------------------------------

// Memory like that, with anything in it, for the caller alone: a new reference, or NULL with an exception.
PyObject *ext_spares_take(kp_ext *ext, ext_core *core, const ext_wanted *wanted, const char *what);

// Gives it back, for others. Takes the reference. The caller has the core pinned.
void ext_spares_return(ext_core *core, PyObject *memory, const ext_wanted *wanted);

// Destroys all that wait. May run code of the user's. False: there were none.
bool ext_spares_clear(ext_core *core);

// ---------------------------------------------------------------------------------------------------------------------
// anonymous.c: ops that run at once, in sequences nobody sees: eval_<op>_def, eval_async_<op>_def, kernels that are
// called
// ---------------------------------------------------------------------------------------------------------------------

// What a called kernel does besides the dispatch.
typedef struct ext_launch {
    uint32_t extent[3];
    const void *push;
    size_t push_size;
    const char *specs; // specialization constants 0, 1, ..., four bytes each
    size_t spec_count;
    uint64_t upload, download; // bit k: memory k is synced before, after
} ext_launch;

// `extra` is the shader of an algo op, or None. -1 with an exception.
int ext_anonymous_eval(kp_ext *ext, ext_core *core, ext_classic_op op, PyObject *tensors, PyObject *extra, bool async);

// Runs a kp.Program on a tuple of memories and waits. `recipe` gets the number of what was recorded, 0 when that is not
// kept. -1 with an exception.
int ext_anonymous_launch(kp_ext *ext, ext_core *core, PyObject *program, PyObject *tuple, const ext_launch *launch,
                         uint64_t *recipe);

// The same by its number, once more: 1. 0 when it is not there any more, or something is destroyed: launching again
// says what. -1 with an exception.
int ext_anonymous_replay(kp_ext *ext, ext_core *core, uint64_t recipe);

// Bytes of the push constants that change.
typedef struct ext_patch {
    uint32_t offset, size;
    char bytes[8];
} ext_patch;

// The same as `*recipe`, with other push constants: 1, and `*recipe` gets their number. 0 as above, and while few of
// these are recorded: launching records one more.
int ext_anonymous_change(kp_ext *ext, ext_core *core, const ext_patch *patches, size_t count, uint64_t *recipe);

// Waits for all that was started and not awaited. StateError when there is none.
int ext_anonymous_await(kp_ext *ext, ext_core *core, uint64_t timeout);

// Destroys them. No call may be inside.
void ext_anonymous_clear(ext_core *core);

// ---------------------------------------------------------------------------------------------------------------------
// arrays.c: calls of kernels whose arguments are not all memory
// ---------------------------------------------------------------------------------------------------------------------

// What such a call came to: everything but the arrays' elements.
typedef struct ext_plan ext_plan;

// An object of such a call: a kp.Memory, or where an array's elements lie, C-contiguous.
typedef struct ext_cargo {
    PyObject *memory;
    void *elements;
} ext_cargo;

// The plan in the capsule that launch() returned; NULL for another object.
ext_plan *ext_plan_of(PyObject *capsule);

// Whether the plan serves for every call with objects like those of the call that made it, which are these. It takes
// them by position from now on.
bool ext_plan_match(ext_plan *plan, PyObject *const *objects, size_t count);

// Copies in, runs with the push constants changed by the patches, copies back. -1 with an exception.
int ext_plan_run(kp_ext *ext, ext_core *core, const ext_plan *plan, const ext_cargo *objects, const ext_patch *patches,
                 size_t patch_count);

PyObject *ext_arrays_launch(PyObject *module, PyObject *args); // a function of the module

#endif
