// kp/base.h - what every other kp header stands on: results, errors, the log, element types, programs.
//
// Three laws hold for the whole library; docs/laws.md tells them in full.
//
// Errors.     Every call that can fail returns a kp_result. KP_OK is zero, everything else is negative. The words are
//             in kp_last_error(): one line that names the object (by its label) and the numbers or types that disagree.
//             An out-parameter is written only on KP_OK. Nothing aborts, nothing prints.
// Ownership.  Who creates, destroys. Every kp_*_destroy accepts NULL. Descriptors, and all that they point to, need
//             only outlive the call that takes them.
// Threads.    Each function says `Thread-safety:`. "Any" is safe from any thread at any time; "one at a time per X"
//             means that the caller keeps two threads from using the same X at once.
#ifndef KP_BASE_H
#define KP_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What kpc's headers have the C compiler check: the sizes and offsets of structs.
#ifdef __cplusplus
#define KP_ASSERT(condition, what) static_assert(condition, what)
#else
#define KP_ASSERT(condition, what) _Static_assert(condition, what)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if defined(KP_STATIC)
#define KP_API
#elif defined(_WIN32)
#ifdef KP_BUILD
#define KP_API __declspec(dllexport)
#else
#define KP_API __declspec(dllimport)
#endif
#else
#define KP_API __attribute__((visibility("default")))
#endif

#define KP_VERSION_MAJOR 0
#define KP_VERSION_MINOR 1
#define KP_VERSION_PATCH 0

// The version of the library that runs, "0.1.0". Static storage. Thread-safety: any.
KP_API const char *kp_version(void);

// ---------------------------------------------------------------------------------------------------------------------
// Results
// ---------------------------------------------------------------------------------------------------------------------

// X(name, value, meaning). The Python package maps each to one exception type (python/ext/error.c).
#define KP_RESULTS(X)                                                                                               \
    X(OK, 0, "success")                                                                                             \
    X(ERROR_ARGUMENT, -1, "a value that the call cannot accept")                                                    \
    X(ERROR_TYPE, -2, "an element type or kind of object that does not fit")                                        \
    X(ERROR_INDEX, -3, "an index outside its range")                                                                \
    X(ERROR_STATE, -4, "the object is not in a state that allows the call: destroyed, not recorded, running")       \
    X(ERROR_HOST_MEMORY, -5, "out of host memory")                                                                  \
    X(ERROR_DEVICE_MEMORY, -6, "out of device memory")                                                              \
    X(ERROR_LIMIT, -7, "the request is beyond a limit of the device; the message gives the limit and both numbers") \
    X(ERROR_COMPILE, -8, "the kernel or shader text is wrong; see kp_last_diagnostic()")                            \
    X(ERROR_SPIRV, -9, "the SPIR-V is not valid")                                                                   \
    X(ERROR_NO_DEVICE, -10, "no Vulkan loader, driver or device; the message says which and how to get it")         \
    X(ERROR_UNSUPPORTED, -11, "the device or this build lacks a feature that the request needs")                    \
    X(ERROR_DEVICE_LOST, -12, "the device stopped working; its manager answers only destroy from now on")           \
    X(ERROR_TIMEOUT, -13, "the time given passed before the work was done; it goes on")                             \
    X(ERROR_IO, -14, "a file could not be read or written")                                                         \
    X(ERROR_DRIVER, -15, "the driver returned an error that fits nothing above; the message names call and code")   \
    X(ERROR_DIVISION, -16, "a checked kernel divided an integer by zero")                                           \
    X(ERROR_ASSERT, -17, "an assert of a checked kernel did not hold")                                              \
    X(ERROR_OVERFLOW, -18, "a checked kernel made an integer of an infinite float")

typedef enum kp_result {
#define KP_X(name, value, meaning) KP_##name = (value),
    KP_RESULTS(KP_X)
#undef KP_X
} kp_result;

// "KP_ERROR_LIMIT". Static storage; "KP_ERROR_?" for a value that is not a kp_result. Thread-safety: any.
KP_API const char *kp_result_name(kp_result result);

// The words of the last failure on this thread: one line, no newline. "" when no call has failed yet. A success does
// not clear it. Valid until the next failing call on this thread. Thread-safety: any (each thread has its own).
KP_API const char *kp_last_error(void);

// Where and why the last kp_compile or kp_shader_compile on this thread failed.
typedef struct kp_diagnostic {
    const char *message;     // without file and position
    const char *file;        //
    uint32_t line;           // 1-based, in the file; 0 when there is no position
    uint32_t column;         // 1-based, in characters
    uint32_t end_column;     // one past the last character of the faulty text
    const char *source_line; // the text of the line, without newline; "" when unknown
    const char *rendered;    // all of it on several lines: position, message, source line, carets
} kp_diagnostic;

// Never NULL; all strings are "" when nothing has failed. Valid until the next failing compile on this thread.
// Thread-safety: any (each thread has its own).
KP_API const kp_diagnostic *kp_last_diagnostic(void);

// ---------------------------------------------------------------------------------------------------------------------
// Log
// ---------------------------------------------------------------------------------------------------------------------

typedef enum kp_log_level {
    KP_LOG_DEBUG = 10, // what is chosen and why: device, memory type, launch setting
    KP_LOG_INFO = 20,
    KP_LOG_WARNING = 30, // works, but not as asked or not as fast: layer absent, cache unreadable
    KP_LOG_ERROR = 40,   // what a validation layer or a driver reports
    KP_LOG_NONE = 100,   // as a level: nothing is logged
} kp_log_level;

// Called with one line, no newline. May be called from any thread that calls into kp, and from driver threads
// (validation messages); never while kp holds a lock of its own. `message` is valid during the call only.
typedef void (*kp_log_fn)(void *payload, kp_log_level level, const char *message);

// Sends messages of `level` and above to `fn`; NULL, the initial state, silences kp. One callback per process. A thread
// that is inside the old callback during the call may still finish it.
// Thread-safety: any.
KP_API void kp_set_log(kp_log_fn fn, void *payload, kp_log_level level);

// ---------------------------------------------------------------------------------------------------------------------
// Element types
// ---------------------------------------------------------------------------------------------------------------------

// X(name, bytes, kernel-language name, NumPy name, struct-module format character). F32 is zero, so that a zeroed
// descriptor asks for float32. A bool is one byte, 0 or 1, as in NumPy.
#define KP_DTYPES(X)                 \
    X(F32, 4, "f32", "float32", 'f') \
    X(F64, 8, "f64", "float64", 'd') \
    X(F16, 2, "f16", "float16", 'e') \
    X(I8, 1, "i8", "int8", 'b')      \
    X(I16, 2, "i16", "int16", 'h')   \
    X(I32, 4, "i32", "int32", 'i')   \
    X(I64, 8, "i64", "int64", 'q')   \
    X(U8, 1, "u8", "uint8", 'B')     \
    X(U16, 2, "u16", "uint16", 'H')  \
    X(U32, 4, "u32", "uint32", 'I')  \
    X(U64, 8, "u64", "uint64", 'Q')  \
    X(BOOL, 1, "bool", "bool", '?')

typedef enum kp_dtype {
#define KP_X(name, bytes, lang, numpy, format) KP_##name,
    KP_DTYPES(KP_X)
#undef KP_X
        KP_DTYPE_COUNT
} kp_dtype;

// Bytes of one element; 0 for a value that is not a kp_dtype. Thread-safety: any.
KP_API size_t kp_dtype_size(kp_dtype dtype);

// The kernel-language name, "f32". "?" for a value that is not a kp_dtype. Static storage. Thread-safety: any.
KP_API const char *kp_dtype_name(kp_dtype dtype);

// The kp_dtype called `name` in the kernel language ("f32") or in NumPy ("float32").
// KP_ERROR_TYPE when there is none. Thread-safety: any.
KP_API kp_result kp_dtype_find(const char *name, kp_dtype *out);

// ---------------------------------------------------------------------------------------------------------------------
// Programs: the seam between whatever makes SPIR-V (kp/compiler.h, kp/shader.h, your own tools) and kp/runtime.h
// ---------------------------------------------------------------------------------------------------------------------

typedef enum kp_param_kind {
    KP_PARAM_BUFFER,   // storage buffer: set and binding are given
    KP_PARAM_UNIFORM,  // uniform buffer: set and binding are given
    KP_PARAM_CONSTANT, // push constant: offset and size are given
    KP_PARAM_INPUT,    // an index or another built-in; the caller passes nothing
    KP_PARAM_SPEC,     // specialization constant: spec_id is given
    KP_PARAM_IMAGE,    // storage image: set and binding are given
    KP_PARAM_TEXTURE,  // sampled image, with a sampler unless its type is pyshader's: set and binding are given
    KP_PARAM_SAMPLER,  // sampler without an image: set and binding are given
} kp_param_kind;

// A field of a struct.
typedef struct kp_field {
    const char *name;    // as in the source
    const char *type;    // as in the language: "vec3", "Array(4, f32)", "Particle"
    kp_dtype dtype;      // of one scalar; of structs KP_U8
    uint32_t components; // scalars: 1, or 2 to 4 for a vector or a row of a matrix; of structs 1
    uint32_t count;      // ... how many of these: of an array all its elements, of a matrix its rows, else 1
    uint32_t offset;     // bytes from the start of the struct
    uint32_t size;       // bytes
    const struct kp_struct *structure; // of structs; NULL: it is none
} kp_field;

// A struct of a kernel. It is laid out as a C compiler lays out a struct of the same fields, and NumPy a dtype with
// align=True, where a vector is an array of its scalars: each field is aligned as its scalars are. A bool is one byte.
typedef struct kp_struct {
    const char *name;       // as in the source; "Struct(...)" for one without
    uint32_t size;          // bytes, a multiple of `align`
    uint32_t align;         // bytes
    const kp_field *fields; //
    size_t field_count;     //
} kp_struct;

// One parameter of a kernel, in the order of its signature.
typedef struct kp_param {
    const char *name;   // as in the source
    const char *type;   // as in the language: "Array[f32]", "f32", "ivec3"
    kp_param_kind kind; //
    kp_dtype dtype; // of one scalar; images: of one channel as it is stored; textures: as it reads; of structs KP_U8
    uint32_t components;   // scalars in an element: 1, 2 to 4 for a vector, all of them for an array and a matrix; of
                           // structs 1; images: channels
    uint32_t set;          // of what is bound
    uint32_t binding;      // of what is bound
    uint32_t offset;       // push constants: bytes from the start of the block
    uint32_t size;         // bytes of one element as the kernel sees it
    bool reads;            // buffers, images: the kernel loads from it
    bool writes;           // buffers, images: the kernel stores to it
    uint32_t spec_id;      // specialization constants
    bool optional;         // push and specialization constants: has a default value
    uint64_t default_bits; // ... its bits, with zeros in front; a bool is 0 or 1
    uint32_t ndim;         // buffers: axes of the tensor, 2 or 3; 1: of any shape; images: 1 to 3
    uint32_t shape_offset; // ... of 2 or 3: bytes from the start of the push constants to the tensor's shape, which the
                           // runtime puts there
    const char *format;    // images: how a pixel is stored, "rgba8"; textures: NULL, any that reads as dtype
    const kp_struct *structure; // buffers of structs, push constants that are one; NULL for all else
    bool fills; // buffers, images: each invocation stores to the element or pixel that its index names, and none loads
                // from it: what was in it is not needed where the extent covers it
} kp_param;

// What some devices have and a kernel can do without: bits of kp_alternative.needs.
typedef enum kp_need {
    KP_NEED_BUFFER_ADD = 1,      // shaderBufferFloat32AtomicAdd: adding to an f32 in a buffer is one instruction
    KP_NEED_SHARED_ADD = 2,      // shaderSharedFloat32AtomicAdd: ... in shared memory
    KP_NEED_BUFFER_EXCHANGE = 4, // shaderBufferFloat32Atomics: exchanging an f32 in a buffer is
    KP_NEED_SHARED_EXCHANGE = 8, // shaderSharedFloat32Atomics: ... in shared memory
} kp_need;

// A module that does what a program's own does, with the same parameters, by what only some devices have.
typedef struct kp_alternative {
    uint32_t needs; // KP_NEED_..., all of them
    const uint32_t *words;
    size_t word_count;
} kp_alternative;

// A compiled kernel. Made by kp_compile, kp_shader_compile or kp_shader_load, which own all that it points to. A
// program that wraps words of your own needs only `words` and `word_count`: the runtime reads the rest from the module
// itself.
typedef struct kp_program {
    const uint32_t *words;              // a SPIR-V module, in host byte order
    size_t word_count;                  //
    const char *name;                   // of the kernel; NULL when unknown
    const kp_param *params;             // NULL when unknown
    size_t param_count;                 //
    uint32_t push_size;                 // bytes of push constants that the caller passes, without shapes; 0 for none
    uint32_t local_size[3];             // invocations in a workgroup that the kernel asks for; 0: the runtime chooses
    uint32_t subgroup_size;             // invocations in a subgroup that the kernel asks for; 0: the device chooses
    const kp_alternative *alternatives; // the runtime takes the first that the device has what it needs for, or else
                                        // `words`, which run on any device
    size_t alternative_count;           //
} kp_program;

// Frees a program made by kp_compile, kp_shader_compile or kp_shader_load. NULL is fine. Algorithms made from it do not
// need it any more. Thread-safety: one at a time per program; reading one from many threads is safe.
KP_API void kp_program_destroy(kp_program *program);

// Over which indices a kernel runs when nobody says: what a call of it in Python goes over. That is once for each
// element of the first tensor that it writes; when that is a view or an image with as many axes as the index, over
// those.
//
// `param` is the first of its parameters that is bound and written, NULL when there is none, and `shape` has the `ndim`
// axes of what is bound to it, as kp_tensor_shape gives them. `extent` gets x first, which is the shape's last axis,
// and 1 for each axis that the index does not have. KP_ERROR_TYPE: it has to be said, the message tells why.
// KP_ERROR_ARGUMENT: NULL. Thread-safety: any.
KP_API kp_result kp_program_extent(const kp_program *program, const kp_param *param, uint32_t ndim,
                                   const uint64_t *shape, uint32_t extent[3]);

#ifdef __cplusplus
}
#endif

#endif
