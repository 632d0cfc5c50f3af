// The Python types of kp._kp, and what is made of them.
#ifndef KP_EXT_OBJECTS_H
#define KP_EXT_OBJECTS_H

#include "ext.h"

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

typedef struct ext_semaphore {
    PyObject_HEAD kp_ext *ext;
    ext_core *core;
    kp_semaphore *handle; // NULL after destroy()
    bool binary;          //
    unsigned waiting;     // threads that wait for it without the GIL
} ext_semaphore;

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

// ---------------------------------------------------------------------------------------------------------------------
// py_memory.c
// ---------------------------------------------------------------------------------------------------------------------

// kp.MemoryTypes, or its number; NULL changes nothing. -1 with an exception.
int ext_memory_type(PyObject *object, kp_memory_type *out);

PyObject *ext_memory_type_method(PyObject *memory, PyObject *unused); // memory_type(), and its older name

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
// py_tensor.c
// ---------------------------------------------------------------------------------------------------------------------

PyObject *ext_tensor_dtype_text(const ext_tensor *t);                                          // as NumPy says it
PyObject *ext_tensor_list(ext_tensor *t, Py_ssize_t start, Py_ssize_t step, Py_ssize_t count); // elements

// A tensor made by a manager. Takes its numbers from `data`, and of `kind` memory type and label.
PyObject *ext_tensor_new(kp_ext *ext, ext_core *core, const ext_data *data, const kp_tensor_desc *kind);

// kp_tensor_create, without the GIL where that is worth it. -1 with an exception.
int ext_tensor_handle(kp_ext *ext, ext_core *core, const kp_tensor_desc *desc, kp_tensor **out);

// A tensor as described.
PyObject *ext_tensor_from_desc(kp_ext *ext, ext_core *core, const kp_tensor_desc *desc);

// Makes the device memory of a tensor that was made without a manager; one that this manager has already is fine.
// `position` is for messages.
int ext_tensor_create(ext_tensor *tensor, ext_core *core, Py_ssize_t position);

// ---------------------------------------------------------------------------------------------------------------------
// py_image.c
// ---------------------------------------------------------------------------------------------------------------------

// An image, its data from `object`, which may be None, the rest from `desc`.
PyObject *ext_image_new(kp_ext *ext, ext_core *core, PyObject *object, int want, kp_image_desc *desc);
PyObject *ext_image_image(PyObject *manager, PyObject *args, PyObject *kwargs);
PyObject *ext_image_image_t(PyObject *manager, PyObject *args, PyObject *kwargs);
PyObject *ext_image_import(PyObject *manager, PyObject *args, PyObject *kwargs);

// ---------------------------------------------------------------------------------------------------------------------
// py_semaphore.c: also methods of ext_manager and ext_sequence
// ---------------------------------------------------------------------------------------------------------------------

PyObject *ext_semaphore_new(PyObject *manager, PyObject *args, PyObject *kwargs);
PyObject *ext_semaphore_import(PyObject *manager, PyObject *args, PyObject *kwargs);
PyObject *ext_semaphore_submit(PyObject *sequence, PyObject *args, PyObject *kwargs);

// ---------------------------------------------------------------------------------------------------------------------
// py_manager.c
// ---------------------------------------------------------------------------------------------------------------------

// A manager of that class on a handle, which it takes over, also when it fails.
PyObject *ext_manager_on(PyTypeObject *type, kp_ext *ext, kp_manager *handle);

// The kp.Manager of a core: the one there is, or a new one. A new reference.
PyObject *ext_manager_of(kp_ext *ext, ext_core *core);

// ---------------------------------------------------------------------------------------------------------------------
// py_algorithm.c
// ---------------------------------------------------------------------------------------------------------------------

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

// A new kp.Algorithm. GIL released while it is made.
PyObject *ext_algorithm_new(kp_ext *ext, ext_core *core, PyObject *memories, const ext_algorithm_desc *desc);

PyObject *ext_algorithm_of_program(PyObject *program, PyObject *args); // a method of ext_program

// The handle, or NULL with StateError: empty, destroyed, another thread's, from before a fork.
kp_algorithm *ext_algorithm_use(const ext_algorithm *algorithm);

// Turns an empty algorithm into this one. -1 with an exception.
int ext_algorithm_fill(ext_algorithm *algorithm, ext_core *core, PyObject *memories, const ext_algorithm_desc *desc);

// ---------------------------------------------------------------------------------------------------------------------
// py_program.c, compile.c
// ---------------------------------------------------------------------------------------------------------------------

PyObject *ext_program_new(kp_ext *ext, kp_program *handle);   // takes `handle` over, also when it fails
PyObject *ext_program_from_text(kp_ext *ext, PyObject *text); // str, bytes, or a list of characters: GLSL or HLSL
PyObject *ext_program_from_file(kp_ext *ext, PyObject *path, const kp_shader_desc *desc);
PyObject *ext_program_compile(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *ext_program_compile_check(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *ext_program_compile_list(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *ext_program_shader(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *ext_program_load(PyObject *module, PyObject *args, PyObject *kwargs);

// ---------------------------------------------------------------------------------------------------------------------
// py_sequence.c
// ---------------------------------------------------------------------------------------------------------------------

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

// ---------------------------------------------------------------------------------------------------------------------
// py_op.c
// ---------------------------------------------------------------------------------------------------------------------

// Records kp.OpBase `op`. -1 with an exception.
int ext_op_record(PyObject *op, ext_sequence *sequence);

// ---------------------------------------------------------------------------------------------------------------------
// memories.c: the tensors of an argument
// ---------------------------------------------------------------------------------------------------------------------

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

// From now until unpinned, destroy() of these tensors waits: their handles are in use without the GIL.
void ext_memories_pin(const ext_memories *memories);
void ext_memories_unpin(const ext_memories *memories);

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

// A tensor of that structured dtype; desc->structure is filled in.
PyObject *ext_struct_create(kp_ext *ext, ext_core *core, PyObject *dtype, const char *what, kp_tensor_desc *desc);

// Whether an array has the tensor's dtype. -1 with a TypeError that names `what`.
int ext_struct_check(const ext_tensor *t, PyObject *object, const char *what);

PyObject *ext_struct_assign(ext_tensor *t, PyObject *object); // set_data()
PyObject *ext_struct_repr(ext_tensor *t);

// A program's struct as tuples; None for NULL.
PyObject *ext_struct_describe(const kp_struct *structure);

// ---------------------------------------------------------------------------------------------------------------------
// view.c: views of tensors
// ---------------------------------------------------------------------------------------------------------------------

// The tensor's part as a handle of its own (NULL: all of it), or NULL with an exception.
kp_tensor *ext_view_handle(ext_tensor *t, const kp_tensor_view_desc *desc);

// A view: `key` is an index or a slice of the first axis, or `shape` a tuple of ints, -1 for what is left.
PyObject *ext_view_take(ext_tensor *tensor, PyObject *key);
PyObject *ext_view_reshape(PyObject *tensor, PyObject *args);

// ---------------------------------------------------------------------------------------------------------------------
// exchange.c: methods of ext_tensor for other libraries
// ---------------------------------------------------------------------------------------------------------------------

// host_side.c: the base of a NumPy array on the memory, with a hold on its host side. NULL with an exception.
PyObject *ext_host_side_new(kp_ext *ext, PyObject *memory);
int ext_host_side_init(kp_ext *ext, PyObject *module);

PyObject *ext_exchange_array(PyObject *memory, PyObject *args, PyObject *kwargs);
PyObject *ext_exchange_dlpack(PyObject *tensor, PyObject *args, PyObject *kwargs);
PyObject *ext_exchange_dlpack_device(PyObject *tensor, PyObject *unused);
PyObject *ext_exchange_html(PyObject *tensor, PyObject *unused);

// ---------------------------------------------------------------------------------------------------------------------
// transfer.c: methods of ext_tensor
// ---------------------------------------------------------------------------------------------------------------------

PyObject *ext_transfer_upload(PyObject *tensor, PyObject *array);
PyObject *ext_transfer_download(PyObject *tensor, PyObject *args, PyObject *kwargs);

// ---------------------------------------------------------------------------------------------------------------------
// borrow.c: tensors on arrays' own memory
// ---------------------------------------------------------------------------------------------------------------------

// As ext_tensor_new, on the array's own memory, where the device can use that; else a copy. Takes the buffer of `data`.
PyObject *ext_borrow_tensor(kp_ext *ext, ext_core *core, ext_data *data, const kp_tensor_desc *kind);

// Lets go of arrays that no tensor uses any more. May run code of the user's.
void ext_borrow_return(void);

// ---------------------------------------------------------------------------------------------------------------------
// making.c: the tensors of ext_manager
// ---------------------------------------------------------------------------------------------------------------------

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

// ---------------------------------------------------------------------------------------------------------------------
// external.c: methods of ext_manager and ext_tensor
// ---------------------------------------------------------------------------------------------------------------------

int ext_external_init(kp_ext *ext, PyObject *module);
PyObject *ext_external_exportable(PyObject *manager, PyObject *args, PyObject *kwargs);
PyObject *ext_external_import(PyObject *manager, PyObject *args, PyObject *kwargs);
PyObject *ext_external_import_image(ext_manager *m, PyObject *memory, const kp_image_desc *desc);
PyObject *ext_external_export(PyObject *memory, PyObject *unused);

// 'opaque_fd', or the word for `other`. -1 with a ValueError that names `what`.
int ext_external_handle(const char *word, const char *what, kp_handle_type other, kp_handle_type *out);

// ---------------------------------------------------------------------------------------------------------------------
// native.c: Vulkan's handles, of ext_manager, ext_tensor and ext_semaphore; and ext_manager's class
// ---------------------------------------------------------------------------------------------------------------------

PyObject *ext_native_manager(PyObject *manager, PyObject *unused);
PyObject *ext_native_memory(PyObject *memory, PyObject *unused);
PyObject *ext_native_semaphore(PyObject *semaphore, PyObject *unused);
extern const char ext_native_semaphore_doc[];
PyObject *ext_native_adopt(PyObject *type, PyObject *args, PyObject *kwargs);

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

// After a call that failed: whether that was for want of device memory, and some that was kept has been given back, so
// that the call is worth another try; the exception is gone then.
bool ext_spares_relieve(kp_ext *ext, ext_core *core);

// ---------------------------------------------------------------------------------------------------------------------
// anonymous.c: ops that run at once, in sequences nobody sees: eval_<op>_def, eval_async_<op>_def, kernels that are
// called
// ---------------------------------------------------------------------------------------------------------------------

// What a called kernel does besides the dispatch.
typedef struct ext_launch {
    uint32_t extent[3];
    const void *push;
    size_t push_size;
    const char *specs; // specialization constants 0, 1, ..., EXT_SPEC_BYTES each
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
