// What the files of the check pass share. See check.h for what they do.
#ifndef KP_SRC_COMPILER_CHECKER_H
#define KP_SRC_COMPILER_CHECKER_H

#include "check.h"
#include "error.h"

typedef struct kp_checker_loop {
    struct kp_checker_loop *outer;
    kp_node *node;
    uint32_t id;                   // of this loop
    uint32_t outermost;            // id of the outermost loop around it, itself perhaps
    uint32_t trail;                // height of kp_checker.trail where it starts
    uint32_t kept;                 // ... up to which all of it is in `exits`
    uint64_t turns;                // of the loops inside
    struct kp_checker_exit *exits; // locals that a break or continue leaves assigned
} kp_checker_loop;

typedef struct kp_checker_exit {
    kp_symbol *symbol;
    struct kp_checker_exit *next;
} kp_checker_exit;

// A text with functions, and what names stand for in it.
typedef struct kp_checker_module {
    uint32_t index;             // 0: the kernel's; n: desc->functions[n - 1]; the last: that of library.py
    bool library;               // ... which it is
    kp_parser_outline *outline; // NULL: not read yet
    const kp_constant *constants;
    size_t constant_count;
    kp_lookup constant_names; // made when the first is looked for
    const kp_callee *callees;
    size_t callee_count;
    const kp_param_type *names; // names of types from outside
    size_t name_count;          //
    const kp_type **named;      // ... the types, NULL: not asked for yet
} kp_checker_module;

// What is known of a function before it is called with certain types.
typedef struct kp_checker_helper {
    const kp_parser_function *source;
    kp_checker_module *module;
    kp_function *function;   // parsed; its body goes to the first instance
    bool taken;              // it went
    bool busy;               // it is being checked
    bool generic;            // a parameter has no type
    const kp_type **types;   // of each parameter; NULL: any
    kp_node **defaults;      // of each parameter, a CONST; NULL: none
    bool *stored;            // of each parameter: it is assigned to
    const kp_type **returns; // as annotated
    uint32_t return_count;   //
    bool returns_known;      // it has an annotation
    kp_instance *instances;  // by `other`
} kp_checker_helper;

// A helper that is being checked.
typedef struct kp_checker_call {
    struct kp_checker_call *outer;
    kp_checker_helper *helper;
    kp_instance *instance;
    const kp_node *site; // the call
    kp_node **returns;   // the RETURNs so far, values not yet of their final types
    uint32_t return_count, return_capacity;
} kp_checker_call;
// The variable of a comprehension that is being read.
typedef struct kp_checker_bound {
    struct kp_checker_bound *outer;
    kp_symbol *symbol;
} kp_checker_bound;

typedef struct kp_checker {
    kp_unit *unit;
    kp_checker_module *modules; // 1 + desc->function_count
    kp_checker_module *module;  // of the function that is being checked
    kp_checker_call *call;      // NULL: that is the kernel
    uint32_t call_depth;
    kp_kernel *kernel;
    kp_scope scope;
    uint32_t depth;        // blocks around this statement
    bool dead;             // nothing can run here: after return, break, continue
    kp_checker_loop *loop; // innermost
    uint32_t loop_count;   // ids given out
    kp_symbol **trail;     // locals in the order in which they became reached
    uint32_t trail_count, trail_capacity;
    kp_node *prelude, *prelude_last; // statements that go before the one being checked
    kp_checker_bound *bound;         // innermost; shadows the scope
    uint32_t *blocks;                // numbers of the open blocks, from the function's body inwards
    uint32_t block_count, block_capacity, block_number;
    uint32_t class_depth; // classes whose fields are being worked out
    bool open;            // names.c: parameters may have no types
} kp_checker;

// check.c
_Noreturn void kp_check_fail(kp_checker *c, const kp_node *at, const char *format, ...) KP_PRINTF(3, 4);
const char *kp_check_text(kp_checker *c, const kp_node *n);                        // its source text, "..." when long
const char *kp_check_converted(kp_checker *c, const kp_node *n, const char *type); // "f32(...)" around that text
const char *kp_check_article(const char *noun);                                    // "a" or "an"
kp_node *kp_check_new(kp_checker *c, kp_node_kind kind, const kp_node *like, const kp_type *type);
kp_node *kp_check_captured(kp_checker *c, const kp_node *n); // the constant that a NAME, or a path through modules,
                                                             // stands for; NULL: none
kp_node *kp_check_captured_tuple(kp_checker *c, const kp_node *n); // the same for a TUPLE of CONSTs and TUPLEs; NULL
kp_node *kp_check_given(kp_checker *c, const kp_node *at, const kp_constant *constant); // a CONST or a TUPLE
kp_name *kp_check_dotted(kp_checker *c, const kp_node *n);                  // "a.b.c" of a path; NULL for anything else
int64_t kp_check_constant_int(kp_checker *c, kp_node *n, const char *what); // of an unchecked expression
const kp_name *kp_check_path(kp_checker *c, const kp_node *n); // the last name of module.name, or a bare name that is
                                                               // neither parameter, local nor constant; NULL: neither

kp_checker *kp_check_start(kp_unit *unit, kp_parser_outline *outline, kp_function *function);

// signature.c
void kp_signature_run(kp_checker *c, const kp_function *function);
const kp_type *kp_signature_value_type(kp_checker *c, kp_node *annotation); // of a local
const kp_type *kp_signature_hint(kp_checker *c, kp_node *annotation); // of a helper; NULL: it names no type of ours
bool kp_signature_hints(kp_checker *c, kp_node *n, kp_list *out);     // tuple[...]: its parts; false: it is no such
const kp_type *kp_signature_field_type(kp_checker *c, kp_node *annotation);    // of a struct
kp_node *kp_signature_given(kp_checker *c, uint32_t module, const char *name); // the type that the caller gives; NULL
const kp_type *kp_signature_array_type(kp_checker *c, kp_node *n);             // NULL: it is no Array

// check_stmt.c
void kp_check_body(kp_checker *c, kp_node **body);
void kp_check_range_arguments(kp_checker *c, const kp_node *range); // their number, no names
void kp_check_global(kp_checker *c, const kp_node *n);
void kp_check_want_one(kp_checker *c, const kp_node *n); // n: AUGMENT; of one target
void kp_check_return_of_kernel(kp_checker *c, const kp_node *n);
_Noreturn void kp_check_fail_outside(kp_checker *c, const kp_node *n); // n: BREAK or CONTINUE

// check_expr.c
kp_node *kp_check_expr(kp_checker *c, kp_node *n);        // its type may be a literal type
kp_node *kp_check_value(kp_checker *c, kp_node *n);       // ... is not
kp_node *kp_check_condition(kp_checker *c, kp_node *n);   // a bool; numbers count as true unless 0
kp_node *kp_check_settle(kp_checker *c, kp_node *n);      // gives a literal its own type, i32 or f32
const kp_type *kp_check_settle_type(const kp_type *type); // ... and that type; others as they are
kp_node *kp_check_coerce(kp_checker *c, kp_node *n, const kp_type *type, const char *where); // of that type, or fails
bool kp_check_widens(const kp_type *from, const kp_type *to); // a typed value converts by itself: none changes
kp_node *kp_check_cast(kp_checker *c, kp_node *n, const kp_type *type); // an explicit conversion, always possible
kp_node *kp_check_combine(kp_checker *c, kp_node *n, kp_node *left, kp_node *right); // n: BINARY
kp_node *kp_check_operation(kp_checker *c, const kp_node *like, kp_token_kind op, kp_node *left,
                            kp_node *right); // a new BINARY
void kp_check_unify(kp_checker *c, const kp_node *at, const char *what, kp_node **left, kp_node **right);
kp_node *kp_check_temporary(kp_checker *c, kp_node *value); // evaluated once, before the statement
kp_node *kp_check_new_temporary(kp_checker *c, const kp_node *like, const kp_type *type); // a VARIABLE
void kp_check_before(kp_checker *c, kp_node *statement); // puts it before the statement that is being checked

kp_node *kp_check_constant(kp_checker *c, const kp_node *like, const kp_type *type, kp_value value);

// check_place.c
kp_node *kp_check_name(kp_checker *c, kp_node *n);
_Noreturn void kp_check_fail_target(kp_checker *c, const kp_node *n); // it cannot be assigned to
_Noreturn void kp_check_fail_unassigned(kp_checker *c, const kp_node *n);
kp_node *kp_check_attribute(kp_checker *c, kp_node *n);
kp_node *kp_check_subscript(kp_checker *c, kp_node *n);
kp_node *kp_check_index(kp_checker *c, kp_node *n); // an integer, settled
kp_node *kp_check_bounded(kp_checker *c, const kp_node *of, kp_node *given, kp_node *at, kp_node *limit,
                          bool wraps);                 // as in ast.h
kp_node *kp_check_shape_of(kp_checker *c, kp_node *n); // the BUFFER whose shape it is; NULL: it is no shape
kp_node *kp_check_shape(kp_checker *c, const kp_node *like, const kp_node *buffer, uint32_t axis);
kp_node *kp_check_target(kp_checker *c, kp_node *n, bool reads); // what can be assigned; a local may have no type yet

// check_parallel.c
void kp_check_need_local_size(kp_checker *c, const kp_node *n, const char *what); // fails without one
bool kp_check_is_shared(kp_checker *c, const kp_node *n);                         // a call of shared(...)
void kp_check_shared(kp_checker *c, kp_node *n);                                  // n: ASSIGN of one
void kp_check_shared_place(kp_checker *c, const kp_node *n);                      // ... which stands where it can
bool kp_check_is_barrier(kp_checker *c, const kp_node *n);
kp_node *kp_check_barrier(kp_checker *c, kp_node *n); // a statement's expression
kp_node *kp_check_parallel(kp_checker *c, kp_node *n, const struct kp_builtin *row);

// uniform.c
void kp_uniform_run(kp_checker *c); // the whole kernel, when all else is checked

// check_member.c
kp_node *kp_check_member(kp_checker *c, kp_node *n); // n: COMPARE of `in`

// check_array.c
kp_node *kp_check_array(kp_checker *c, kp_node *n);                                       // n: LIST
kp_node *kp_check_array_repeat(kp_checker *c, kp_node *n, kp_node *left, kp_node *right); // n: BINARY, one is an array
kp_node *kp_check_array_copy(kp_checker *c, kp_node *n);                                  // n: CALL of array.copy
kp_node *kp_check_array_zeros(kp_checker *c, kp_node *n, const kp_type *type);            // n: CALL of Array(n, type)
kp_node *kp_check_array_adapt(kp_checker *c, kp_node *n, const kp_type *type, const char *where); // n: an ARRAY
bool kp_check_array_is_literal(const kp_type *type);       // of literals, which adapt
kp_node *kp_check_array_settle(kp_checker *c, kp_node *n); // n: an ARRAY of literals; of a type of its own
void kp_check_array_size(kp_checker *c, const kp_node *at,
                         const kp_type *type);              // fails for what is too large for a local
void kp_check_array_alias(kp_checker *c, const kp_node *n); // fails for an array that has a name already
kp_node *kp_check_array_taken(kp_checker *c, kp_node *value, const kp_node *target); // or a copy, where Python copies
const char *kp_check_array_word(const kp_type *type);                                // "a buffer", "an array"

kp_node *kp_check_comprehension(kp_checker *c, kp_node *n);
bool kp_check_array_is_new(const kp_node *value,
                           const kp_node *target); // a comprehension's, and the target's first value
kp_symbol *kp_check_each(kp_checker *c,
                         kp_node *n); // n: FOR over an array, into one over a range; the array, if a local
bool kp_check_is_range(kp_checker *c, const kp_node *n);                           // a call of range
kp_node *kp_check_whole_number(kp_checker *c, const kp_node *like, int64_t value); // an integer literal
kp_symbol *kp_check_find(kp_checker *c, const kp_name *name); // what a name stands for in the function; NULL: nothing

// check_struct.c
const kp_type *kp_check_struct_named(kp_checker *c, const kp_node *n); // the type that a name from outside stands for
const kp_type *kp_check_struct_type(kp_checker *c, kp_node *n);        // n: CALL of Struct in a type; NULL: of another
kp_node *kp_check_struct_make(kp_checker *c, kp_node *n, const kp_type *type); // n: CALL of the type
kp_node *kp_check_struct_field(kp_checker *c, kp_node *n, kp_node *object);    // n: ATTRIBUTE
void kp_check_struct_alias(kp_checker *c, const kp_node *value,
                           const kp_node *target);                 // target NULL: a part of a value
void kp_check_struct_change(kp_checker *c, const kp_node *target); // what is assigned
bool kp_check_struct_shares(const kp_node *value); // in Python it is, or may be, one that is elsewhere too
const char *kp_check_struct_names(kp_checker *c, const kp_type *type); // of its fields, for messages

// check_bits.c
kp_node *kp_check_bits(kp_checker *c, kp_node *n, const struct kp_builtin *row, kp_list list); // list: not yet checked
kp_node *kp_check_bits_method(kp_checker *c, kp_node *n); // n: CALL of an attribute; NULL: no such method

// check_matrix.c
kp_node *kp_check_matrix(kp_checker *c, kp_node *n, const kp_type *type, kp_list list); // n: CALL of the type
kp_node *kp_check_matrix_captured(kp_checker *c, const kp_node *n, const kp_constant *constant);
kp_node *kp_check_matrix_attribute(kp_checker *c, kp_node *n, kp_node *matrix); // n: ATTRIBUTE
kp_node *kp_check_matrix_combine(kp_checker *c, kp_node *n, const char *op, kp_node *left, kp_node *right);
kp_node *kp_check_matrix_call(kp_checker *c, kp_node *n, const struct kp_builtin *row, kp_list list);

// check_report.c
void kp_check_assert(kp_checker *c, kp_node *n);
void kp_check_assert_message(kp_checker *c, const kp_node *n); // n: ASSERT; a text
void kp_check_print_arguments(kp_checker *c, kp_list list);    // the names of its options, no formatted texts
bool kp_check_is_print(kp_checker *c, const kp_node *call);    // a CALL of Python's print; false for all else
void kp_check_print(kp_checker *c, kp_node *n, kp_node *call); // n, a statement, becomes a PRINT

// check_image.c
const kp_type *kp_check_image_type(kp_checker *c, kp_node *n);   // an annotation; NULL: it is no image
const kp_type *kp_check_texture_type(kp_checker *c, kp_node *n); // pyshader's "2d rgba8"
const kp_type *kp_check_sampler_type(kp_checker *c);
kp_node *kp_check_pixel(kp_checker *c, kp_node *n, kp_node *image);              // n: SUBSCRIPT
kp_node *kp_check_image_member(kp_checker *c, kp_node *n, const kp_node *image); // n: ATTRIBUTE
void kp_check_image_written(kp_checker *c, const kp_node *n, const kp_node *image);
void kp_check_image_alias(kp_checker *c, const kp_node *n); // fails for an image where a value is wanted
kp_node *kp_check_image_call(kp_checker *c, kp_node *n, const struct kp_builtin *row); // n: CALL
kp_node *kp_check_image_method(kp_checker *c, kp_node *n); // n: CALL of image.name(...); NULL: it is none
bool kp_check_image_write(kp_checker *c, kp_node *n);      // n: EXPRESSION; into image[at] = value, an ASSIGN as parsed

// check_call.c
kp_node *kp_check_call(kp_checker *c, kp_node *n);
kp_node *kp_check_several(kp_checker *c, kp_node *n); // n: CALL; a TUPLE when it gives several values, the checked call
                                                      // of a helper, or NULL for another one, which is left unchecked

// A node for the call, of checked arguments.
kp_node *kp_check_builtin(kp_checker *c, const kp_node *n, const struct kp_builtin *row, kp_list list,
                          const kp_type *type);
void kp_check_arguments(kp_checker *c, kp_list list, const char *name);          // values without names
void kp_check_plain_argument(kp_checker *c, const kp_node *n, const char *name); // neither name nor text
void kp_check_count(kp_checker *c, const kp_node *n, const struct kp_builtin *row, uint32_t count);
_Noreturn void kp_check_fail_call(kp_checker *c, const kp_node *callee); // of what is no function
const struct kp_builtin *kp_check_builtin_named(kp_checker *c, const kp_node *callee, const kp_name *name); // or fails
const kp_type *kp_check_floats(kp_checker *c, kp_node *n, const char *name, kp_list list);  // of one float type; it
const kp_type *kp_check_numbers(kp_checker *c, kp_node *n, const char *name, kp_list list); // ... of one numeric type
const kp_type *kp_check_narrow(kp_checker *c, kp_node *n, const struct kp_builtin *row, const kp_type *type); // no f64

// check_library.c: the functions of library.py
kp_node *kp_check_library(kp_checker *c, kp_node *n, const struct kp_builtin *row);      // n: CALL
kp_node *kp_check_library_pair(kp_checker *c, kp_node *n, const struct kp_builtin *row); // of frexp: a TUPLE
kp_node *kp_check_primitive(kp_checker *c, kp_node *n, const struct kp_builtin *row);    // in library.py alone

// check_table.c: tuples of numbers from outside
kp_node *kp_check_table_item(kp_checker *c, kp_node *n);            // n: SUBSCRIPT; NULL: it is not of a tuple
kp_node *kp_check_table(kp_checker *c, const kp_node *n);           // the TUPLE that n stands for; NULL: it does not
bool kp_check_table_items(kp_checker *c, kp_node *n, kp_list *out); // its numbers, one by one; false: it is none
bool kp_check_table_same(const kp_node *a, const kp_node *b);

// check_function.c
const kp_callee *kp_check_callee(kp_checker *c, const kp_node *n); // what the caller says of a path; NULL: nothing
void kp_check_modules(kp_checker *c, kp_parser_outline *outline, const kp_function *kernel); // call it once, first
kp_node *kp_check_invoke(kp_checker *c, kp_node *n); // n: CALL; the INVOKE, a CONST when that is all the
                                                     // helper gives, or NULL when it calls none
kp_instance *kp_check_instance(kp_checker *c, const kp_node *site, const char *name,
                               kp_list values);                  // of a function of library.py
void kp_check_return(kp_checker *c, kp_node *n);                 // of a helper
bool kp_check_is_function(kp_checker *c, const kp_node *callee); // names a function of the source, or of the caller's

// n: CALL, of which the number of the arguments and their names are looked at; at the first one of a function, `body`
// is for what that does. False when it calls none.
bool kp_check_call_outline(kp_checker *c, kp_node *n, void (*body)(kp_checker *c, kp_function *function));
const char *kp_check_place_of_call(kp_checker *c); // for messages: in which instance they are; "" in the kernel

#endif
