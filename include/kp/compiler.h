// kp/compiler.h - kernels: functions in Python syntax, compiled to SPIR-V.
//
//     def saxpy(i: Index, a: f32, x: Array[f32], y: Array[f32]):
//         y[i] = a * x[i] + y[i]
//
// The language is described in docs/language.md; every kernel is a legal Python function. The compiler uses no device,
// no files and no global state, and it does not know the runtime: it hands over a kp_program (kp/base.h).
//
// Parameters, in the order of the signature:
//   i: Index                 the index that this call works on; Index2, Index3 on two and three axes
//   x: Array[f32]            a storage buffer; bindings 0, 1, 2, ... of set 0 in the order of the signature
//   x: Array[f32, 2]         ... of a tensor with two axes (or three): x[i, j], x.shape, which the runtime passes
//   p: Array[Particle]       ... of structs; a class at the top of the text says which, laid out as C does:
//                                class Particle(Struct):
//                                    position: vec3
//                                    mass: f32
//   s: Uniform[Particle]     a uniform buffer: a struct, a vector or a number that all read
//   a: Image2D[f32]          a storage image, of the format r32f; Image2D[vec4, "rgba8"] is of another; Image1D, 3D
//   t: Texture2D[f32]        a sampled image with its sampler, of any format; Texture2D[f32, "linear", "repeat"] is
//                            sampled so, whatever the image says
//   a: f32                   a push constant; natural alignment, in the order of the signature; f32 = 2.0: by default
//   n: Const[i32]            a specialization constant; ids 0, 1, 2, ... in the order of the signature
// Or in pyshader's form, as default or annotation: x=("buffer", 0, Array(f32)).
#ifndef KP_COMPILER_H
#define KP_COMPILER_H

#include <kp/base.h>

#ifdef __cplusplus
extern "C" {
#endif

// Replaces what the source says about one parameter. `type` is an annotation as a kernel would write it:
// "Array[f32]", "Index", "f32", or pyshader's tuple, "('buffer', 0, Array(f32))". A struct may be written out, with its
// name or without: "Array[Struct('Particle', position=vec3, mass=f32)]".
typedef struct kp_param_type {
    const char *name;
    const char *type;
} kp_param_type;

// A name that the kernel takes from outside, which may be dotted ("Color.RED"): a number, known at compile time.
// `dtype` is KP_F64 for a Python float, KP_I64 for a Python int and KP_BOOL for a bool (these adapt to where they are
// used, as a literal in the source does); any other dtype fixes the constant's type.
typedef struct kp_constant {
    const char *name;
    kp_dtype dtype;
    union {
        double f;
        int64_t i;
        uint64_t u;
    } value;                         // f for float types, u for unsigned types, i for the rest
    const struct kp_constant *items; // of a tuple: numbers and tuples, whose names do not matter; NULL: a number
    size_t item_count;               //
    bool matrix;                     // ... they are the rows of a matrix of `dtype`, 2 to 4 of 2 to 4 numbers
} kp_constant;

// A name under which a function is called: "helper", or "lib.helper".
typedef struct kp_callee {
    const char *name;
    size_t function;        // which one it is: an index into kp_compile_desc.functions
    const char *refusal;    // why kernels cannot call it, as in "it is a class"; NULL: they can
    const char *stands_for; // a function or type of the language that it is another name of; NULL: none
} kp_callee;

// A function that the kernel calls, or that one of these calls, with what its names stand for. Without these a call
// means a function of the same source.
typedef struct kp_function_source {
    const char *source;           // a text that holds it
    const char *name;             // NULL: the last function of the text
    const char *file;             // name for messages; NULL: "<kernel>"
    uint32_t first_line;          // line number of the first line of the text in that file; 0: 1
    const kp_param_type *params;  // types that replace the text's; "return" is what it returns
    size_t param_count;           //
    const kp_constant *defaults;  // default values that replace the text's, by the parameter's name
    size_t default_count;         //
    const kp_constant *constants; // captured names
    size_t constant_count;        //
    const kp_callee *callees;     // the functions that it calls
    size_t callee_count;          //
    const kp_param_type *types;   // names of types that it uses, perhaps dotted, and what they are
    size_t type_count;            //
} kp_function_source;

// All fields may be zero.
typedef struct kp_compile_desc {
    const char *kernel;                  // which function of the source; NULL: the last one
    const char *file;                    // name for messages; NULL: "<kernel>"
    uint32_t first_line;                 // line number of the first line of the source in that file; 0: 1
    const kp_param_type *params;         // types that replace the source's
    size_t param_count;                  //
    const kp_constant *constants;        // captured names
    size_t constant_count;               //
    uint32_t local_size[3];              // invocations in a workgroup; all 0: as the source says
    uint32_t subgroup_size;              // invocations in a subgroup; 0: as the source says
    bool no_debug_info;                  // leave out OpName, OpLine and the file's name
    const kp_function_source *functions; // of other texts, called by the kernel or by each other
    size_t function_count;               //
    const kp_callee *callees;            // which of them the kernel calls
    size_t callee_count;                 //
    bool checked;                        // the kernel looks for mistakes as it runs
    const kp_constant *defaults;         // default values that replace the source's, by the parameter's name
    size_t default_count;                //
    const kp_param_type *types;          // names of types that the kernel uses, perhaps dotted, and what they are
    size_t type_count;                   //
} kp_compile_desc;

// Compiles one kernel of `source` (UTF-8, NUL-terminated, any indentation). `desc` may be NULL.
// On KP_ERROR_COMPILE, kp_last_error() reads "file:line:column: message" and kp_last_diagnostic() has the parts.
// KP_ERROR_ARGUMENT for NULL arguments, KP_ERROR_HOST_MEMORY.
//
// In a `checked` kernel an index out of range, an integer division or modulo by zero, a shift by a negative number, a
// conversion of NaN or of an infinite float to an integer, and an assert that does not hold end the invocation, before
// it writes anything out of range; the others go on. The evaluation then fails with the fault of the invocation that
// comes first, with KP_ERROR_INDEX, KP_ERROR_DIVISION, KP_ERROR_ARGUMENT (shifts, NaN), KP_ERROR_OVERFLOW or
// KP_ERROR_ASSERT. Without it, asserts are left out. A kernel that is checked, or prints, has a storage buffer more
// than its parameters, behind them, and is for kp's runtime alone. Thread-safety: any.
KP_API kp_result kp_compile(const char *source, const kp_compile_desc *desc, kp_program **out);

// Looks for what is wrong with one kernel whatever the types of its parameters are, which may have none here: syntax,
// statements that the language has not, names and functions that there are not, calls with too few or too many
// arguments, recursion. For kernels whose types come later, with their arguments. Errors as kp_compile. Thread-safety:
// any.
KP_API kp_result kp_compile_check(const char *source, const kp_compile_desc *desc);

// The stages of the compiler, for kpc --dump and for tests.
typedef enum kp_dump {
    KP_DUMP_TOKENS, // one token a line
    KP_DUMP_AST,    // the tree as parsed, one node a line, indented
    KP_DUMP_TYPES,  // the tree as checked, with the type of each expression
} kp_dump;

// Writes the result of one stage as text; free it with kp_free. Errors as kp_compile. Thread-safety: any.
KP_API kp_result kp_compile_dump(const char *source, const kp_compile_desc *desc, kp_dump stage, char **out);

// The names of the functions in `source`, in order, each followed by "\n"; free it with kp_free.
// Errors as kp_compile. Thread-safety: any.
KP_API kp_result kp_compile_list(const char *source, const kp_compile_desc *desc, char **out);

// Writes SPIR-V as text, one instruction a line, with the names that it has; any module, not only the compiler's. Free
// it with kp_free. KP_ERROR_ARGUMENT for NULL, KP_ERROR_SPIRV for words that are no module, KP_ERROR_HOST_MEMORY.
// Thread-safety: any.
KP_API kp_result kp_disassemble(const uint32_t *words, size_t word_count, char **out);

// Frees text returned by the functions above. NULL is fine. Thread-safety: any.
KP_API void kp_free(char *text);

#ifdef __cplusplus
}
#endif

#endif
