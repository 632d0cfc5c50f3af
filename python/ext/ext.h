// The extension kp._kp: what its files share. It sees kp through the public headers alone.
//
// One py_<type>.c per Python type; objects.h has the types, and the files that work on them. Below them, declared here,
// are files that know no Python type of ours.
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
    PyTypeObject *host_side_type; // in no module
    PyTypeObject *call_type;      // the base of kp.Kernel
    PyTypeObject *op_type;        // kp.OpBase
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
    PyObject *make_array;                   // numpy.ndarray and dtypes; NULL until an array is first asked for
    PyObject *numpy_dtypes[KP_DTYPE_COUNT]; //
    uint64_t serials;                       // last serial given to a tensor
} kp_ext;

// The module state behind one of our types, or a subclass of one. NULL with an exception when it is none.
kp_ext *ext_of_type(PyTypeObject *type);

// "", or for a kernel where an algorithm is wanted: how to make one of it. The end of a message.
const char *ext_call_hint(const kp_ext *ext, PyObject *object);

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

// Whether the exception that is set is the one that `result` maps to.
bool ext_error_matches(kp_ext *ext, kp_result result);

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
    kp_result failed;         // of one of those, whose slot was needed before; for the await
    char failure[512];        //
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

// What `wait` waits for, at most `timeout` nanoseconds and without the GIL, in slices: between them signals are seen
// to, so that Ctrl-C ends it. `wait` may be called again after KP_ERROR_TIMEOUT. 0, or -1 with an exception: the work
// goes on after TimeoutError, and after what a signal's handler raised.
typedef kp_result (*ext_core_slice)(void *payload, uint64_t timeout);
int ext_core_wait(kp_ext *ext, ext_core *core, ext_core_slice wait, void *payload, uint64_t timeout);
uint64_t ext_core_now(void); // nanoseconds, from no point in particular

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

// Specialization constants 0, 1, ... as bytes: of each the size of its value, and eight with that in front.
enum { EXT_SPEC_BYTES = 9 };
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

#endif
