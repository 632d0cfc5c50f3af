// What the names of one function stand for. Python's rule: a name that is assigned anywhere in a function is a local of
// the whole function.
#ifndef KP_SRC_COMPILER_SCOPE_H
#define KP_SRC_COMPILER_SCOPE_H

#include "ast.h"

typedef enum kp_symbol_kind {
    KP_SYMBOL_LOCAL,    // a variable
    KP_SYMBOL_VALUE,    // a parameter passed by value: index, push constant
    KP_SYMBOL_BUFFER,   // a parameter that is a storage or uniform buffer, an image or a sampler
    KP_SYMBOL_SHARED,   // an array in the memory of a workgroup
    KP_SYMBOL_CONSTANT, // a parameter of a helper that is a literal in this instance
    KP_SYMBOL_ARRAY,    // a parameter of a helper that is a fixed array of the caller's, or in one, or in a buffer
} kp_symbol_kind;

typedef struct kp_symbol {
    kp_symbol_kind kind;
    kp_name *name;                // NULL: made by the compiler
    const kp_type *type;          // LOCAL: NULL until the first assignment
    const kp_token *typed_at;     // LOCAL: what gave it its type
    kp_value value;               // CONSTANT
    kp_node *tuple;               // CONSTANT: it is this instead; NULL: it is a number
    bool typed_by_int;            // LOCAL: ... was an integer literal
    bool reached;                 // LOCAL, in check: an assignment may have been executed before this point
    bool stored;                  // LOCAL, VALUE: assigned somewhere
    bool zeroed;                  // LOCAL, an array: a path may use it unassigned, so it starts as zeros
    struct kp_symbol *same;       // LOCAL without a name: kept where this one is; NULL: on its own
    bool changed;                 // LOCAL, VALUE: something inside of it is assigned somewhere: x.a = ..., x[i] = ...
    uint32_t held;                // LOCAL, an array, in check: how many loops go over it
    uint32_t home;                // LOCAL, in check: the block of its first assignment
    bool reads, writes;           // BUFFER: what the kernel does to it
    bool samples;                 // BUFFER, an image: ... between its pixels too
    struct kp_symbol *stands_for; // a parameter of a helper: the buffer that is passed; NULL: itself
    const kp_type *whole;         // ARRAY: the type of the variable, or of the buffer's contents, that it is in
    uint32_t depth;               // ARRAY: how many indices lead from there to it
    struct kp_symbol *in_buffer;  // ARRAY: the buffer that it is in; NULL: a variable
    uint32_t *steps;              // ARRAY, emit: the indices, as ids of u32
    bool uniform;                 // BUFFER: a uniform buffer, which kernels read alone
    uint32_t float_atomics;       // BUFFER, SHARED: those on its floats, as bits, 1 << KP_ATOMIC_...
    bool bits;                    // ... emit: kept as u32 for them
    bool spec;                    // VALUE: a specialization constant
    bool fixed;                   // VALUE: has `value`, the same for every launch
    bool varies;                  // uniform.c: may differ between the invocations of a workgroup
    kp_node *axes[2];             // SHARED: lengths, of type i32, constant or a specialization constant
    uint32_t last;                // SHARED, emit: the id of its last index
    uint32_t axis_count;          // SHARED
    bool shaped[3];               // BUFFER, a view: the kernel asks for its length on the axis
    uint32_t shape[3];            // emit: ... the variable that has it
    uint32_t id;                  // emit: the SPIR-V id of the variable, or of the value
    uint32_t loop;                // check: the loop whose exits know of its assignment
    struct kp_symbol *next;       // in kp_scope.first
} kp_symbol;

typedef struct kp_changed {
    const kp_name *name;
    struct kp_changed *next;
} kp_changed;

typedef struct kp_scope {
    kp_symbol **slots;        // hashed by name
    uint32_t count, capacity; // capacity is a power of two, or 0
    kp_symbol *first, *last;  // all, in the order in which they were added
    kp_changed *changed;      // names of which a part is assigned before they are added
} kp_scope;

// True for what is kept in a variable, whose id the symbol then has.
static inline bool kp_symbol_is_kept(const kp_symbol *symbol) {
    return symbol->stored || symbol->kind == KP_SYMBOL_ARRAY;
}

// True for a parameter of a helper that the call passes something for, rather than being part of the instance.
static inline bool kp_symbol_is_passed(const kp_symbol *symbol) {
    return symbol->kind == KP_SYMBOL_VALUE || symbol->kind == KP_SYMBOL_ARRAY;
}

kp_symbol *kp_scope_find(const kp_scope *scope, const kp_name *name);                        // NULL when absent
kp_symbol *kp_scope_add(kp_unit *unit, kp_scope *scope, kp_symbol_kind kind, kp_name *name); // the name is new, or NULL
void kp_scope_add_locals(kp_unit *unit, kp_scope *scope, const kp_node *body); // every name that `body` assigns

#endif
