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
    struct kp_checker_exit *exits; // locals that a break or continue leaves assigned
} kp_checker_loop;

typedef struct kp_checker_exit {
    kp_symbol *symbol;
    struct kp_checker_exit *next;
} kp_checker_exit;

typedef struct kp_checker {
    kp_unit *unit;
    const kp_parser_outline *outline;
    kp_kernel *kernel;
    kp_scope scope;
    bool dead;             // nothing can run here: after return, break, continue
    kp_checker_loop *loop; // innermost
    uint32_t loop_count;   // ids given out
    kp_symbol **trail;     // locals in the order in which they became reached
    uint32_t trail_count, trail_capacity;
    kp_node *prelude, *prelude_last; // statements that go before the one being checked
} kp_checker;

// check.c
_Noreturn void kp_check_fail(kp_checker *c, const kp_node *at, const char *format, ...) KP_PRINTF(3, 4);
const char *kp_check_text(kp_checker *c, const kp_node *n); // its source text, "..." when long
const char *kp_check_article(const char *noun);             // "a" or "an"
kp_node *kp_check_new(kp_checker *c, kp_node_kind kind, const kp_node *like, const kp_type *type);
kp_node *kp_check_captured(kp_checker *c, const kp_node *n); // the constant that a NAME stands for; NULL: none
int64_t kp_check_constant_int(kp_checker *c, kp_node *n, const char *what); // of an unchecked expression
const kp_name *kp_check_path(kp_checker *c, const kp_node *n); // the last name of module.name, or a bare name that is
                                                               // neither parameter, local nor constant; NULL: neither

// signature.c
void kp_signature_run(kp_checker *c, const kp_function *function);
const kp_type *kp_signature_value_type(kp_checker *c, kp_node *annotation); // of a local

// check_stmt.c
void kp_check_body(kp_checker *c, kp_node **body);

// check_expr.c
kp_node *kp_check_expr(kp_checker *c, kp_node *n);      // its type may be a literal type
kp_node *kp_check_value(kp_checker *c, kp_node *n);     // ... is not
kp_node *kp_check_condition(kp_checker *c, kp_node *n); // a bool; numbers count as true unless 0
kp_node *kp_check_truth(kp_checker *c, kp_node *n);     // the same, of a checked expression
kp_node *kp_check_settle(kp_checker *c, kp_node *n);    // gives a literal its own type, i32 or f32
kp_node *kp_check_coerce(kp_checker *c, kp_node *n, const kp_type *type, const char *where); // of that type, or fails
kp_node *kp_check_cast(kp_checker *c, kp_node *n, const kp_type *type); // an explicit conversion, always possible
kp_node *kp_check_combine(kp_checker *c, kp_node *n, kp_node *left, kp_node *right); // n: BINARY
void kp_check_unify(kp_checker *c, const kp_node *at, const char *what, kp_node **left, kp_node **right);
kp_node *kp_check_temporary(kp_checker *c, kp_node *value); // evaluated once, before the statement

kp_node *kp_check_constant(kp_checker *c, const kp_node *like, const kp_type *type, kp_value value);

// check_place.c
kp_node *kp_check_name(kp_checker *c, kp_node *n);
kp_node *kp_check_attribute(kp_checker *c, kp_node *n);
kp_node *kp_check_subscript(kp_checker *c, kp_node *n);
kp_node *kp_check_target(kp_checker *c, kp_node *n, bool reads); // what can be assigned; a local may have no type yet

// check_call.c
kp_node *kp_check_call(kp_checker *c, kp_node *n);
kp_node *kp_check_several(kp_checker *c, kp_node *n); // a TUPLE from a call that gives several values; NULL: it is none

#endif
