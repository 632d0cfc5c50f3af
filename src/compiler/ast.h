// The tree: what the parser makes of the tokens, and what check makes of that. One node = kind, tokens, type, union.
// The parser fills in the first kinds; check gives every expression its type and turns names, calls and attributes into
// the kinds that say what they mean, so that emit only translates.
#ifndef KP_SRC_COMPILER_AST_H
#define KP_SRC_COMPILER_AST_H

#include "base/str.h"
#include "lexer.h"
#include "type.h"

// X(NAME, name, "what messages and dumps call it")
#define KP_NODES(X)                                                                                                    \
    /* expressions, as parsed */                                                                                       \
    X(NAME, name, "name")                            /* name; parsed only */                                           \
    X(CONST, value, "constant")                      /* value, of `type`: a literal type, or a scalar once adapted */  \
    X(STRING, none, "string")                        /* parsed only */                                                 \
    X(NONE, none, "None")                            /* parsed only */                                                 \
    X(UNARY, operand, "unary")                       /* unary: - + ~ not */                                            \
    X(BINARY, binary, "binary")                      /* binary; checked: both sides and the result have one type,      \
                                                except shifts */                                                       \
    X(COMPARE, compare, "comparison")                /* compare: a < b <= c */                                         \
    X(BOOL, list, "boolean")                         /* list, op AND or OR; checked: of one type, the node's */        \
    X(COND, cond, "conditional")                     /* cond: yes if test else no */                                   \
    X(CALL, call, "call")                            /* call; parsed only */                                           \
    X(KEYWORD, keyword, "keyword")                   /* keyword: name=value among the arguments; parsed only */        \
    X(ATTRIBUTE, attribute, "attribute")             /* attribute: object.name; parsed only */                         \
    X(SUBSCRIPT, subscript, "subscript")             /* subscript: object[index]; checked: object is a BUFFER or a     \
                                             vector */                                                                 \
    X(TUPLE, list, "tuple")                          /* list */                                                        \
    X(LIST, list, "list")                            /* list; parsed only */                                           \
    X(COMPREHENSION, comprehension, "comprehension") /* comprehension: [element for variable in range]; parsed only */ \
    /* expressions, made by check */                                                                                   \
    X(VARIABLE, symbol, "variable") /* symbol: a local, or a parameter passed by value */                              \
    X(BUFFER, symbol, "buffer")     /* symbol: a storage buffer; its type is that of the contents */                   \
    X(CAST, operand, "cast")        /* operand: to `type`; scalar to vector: in every component */                     \
    X(SWIZZLE, swizzle, "swizzle")  /* swizzle: some components of a vector */                                         \
    X(FIELD, field, "field")        /* field: of a struct */                                                           \
    X(LENGTH, symbol, "length")     /* symbol: how many elements the buffer holds, i32 */                              \
    X(SHAPE, shape, "shape")        /* shape: how many elements a view has on an axis, i32 */                          \
    X(BOUNDED, bounded, "bounded")  /* bounded: an index on one of several axes, i32 */                                \
    X(CONSTRUCT, list, "construct") /* list: a vector from scalars and vectors */                                      \
    X(MAKE, make, "make")           /* make: a struct from its fields */                                               \
    X(ARRAY, array, "array")        /* array: a fixed array, its list repeated */                                      \
    X(COPY, operand, "copy")        /* operand: an array or a struct, as a value */                                    \
    X(BUILTIN, call, "builtin")     /* call, with `row` */                                                             \
    X(INVOKE, invoke, "invoke")     /* invoke: the call of a function of the source; of no type when it gives none or  \
                               several     values */                                                                   \
    X(LIBRARY, invoke, "library")   /* invoke: the call of a function of library.py, of a vector by component */       \
    X(TABLE, table, "table")        /* table: one of several constants, by an index */                                 \
    X(TARGET, none, "target")       /* in an AUGMENT: the value that the target has now */                             \
    /* statements */                                                                                                   \
    X(ASSIGN, assign, "assign")             /* assign */                                                               \
    X(AUGMENT, augment, "augment")          /* augment: target op= value; checked: value is the whole                  \
                                      operation, on TARGET */                                                          \
    X(UNPACK, unpack, "unpack")             /* unpack: made by check; what an INVOKE gives, into variables */          \
    X(EXPRESSION, expression, "expression") /* operand: evaluated for what it does */                                  \
    X(IF, branches, "if")                   /* branches */                                                             \
    X(WHILE, loop, "while")                 /* loop: test, body, other */                                              \
    X(FOR, loop, "for")                     /* loop: target, range or start/stop/step, body, other */                  \
    X(BREAK, none, "break")                 /* */                                                                      \
    X(CONTINUE, none, "continue")           /* */                                                                      \
    X(ASSERT, report, "assert")             /* report: test, and the message in the list, if any; checked:             \
                                       its text, and the list is empty */                                              \
    X(PRINT, report, "print")               /* report, made by check from a call: text is a format, list               \
                                       the values */                                                                   \
    X(RETURN, operand, "return")            /* operand, or NULL; checked: a TUPLE of the values, or NULL */            \
    X(GLOBAL, list, "global")               /* list: NAMEs */                                                          \
    X(PASS, none, "pass")

typedef enum kp_node_kind {
#define KP_X(name, member, text) KP_NODE_##name,
    KP_NODES(KP_X)
#undef KP_X
} kp_node_kind;

struct kp_instance;
struct kp_symbol;
struct kp_builtin;
typedef struct kp_node kp_node;

typedef union kp_value {
    int64_t i; // integers, and bools as 0 and 1
    double f;  // floats, already rounded to the type
} kp_value;

// Bit by bit, so that -0.0 is not 0.0 and a NaN is itself.
static inline bool kp_value_same(kp_value a, kp_value b) { return a.i == b.i; }

typedef struct kp_list {
    kp_node **items;
    uint32_t count;
} kp_list;

typedef struct kp_branch {
    kp_node *test; // NULL: else
    kp_node *body; // first statement
} kp_branch;

// A node is as large as its kind needs, so none is copied, and none becomes one of a kind with a larger member.
struct kp_node {
    uint8_t kind;          // kp_node_kind
    uint8_t op;            // UNARY, BINARY, BOOL, AUGMENT: the kp_token_kind of the operator
    bool from_end;         // SUBSCRIPT, checked: the index is negative and counts from the end of the buffer
    uint32_t more;         // the text that it comes from has as many tokens ...
    const kp_token *first; // ... behind this one
    union {
        const kp_type *type; // expressions, once checked
        kp_node *next;       // statements: the next one of the block
    };
    union {
        char none;
        kp_name *name;
        kp_value value;
        kp_node *operand;
        struct kp_symbol *symbol;
        struct {
            kp_node *left, *right;
        } binary;
        struct {
            kp_list list;              // count operands, count - 1 operators
            kp_token_kind *ops;        //
            uint32_t kept;             // emit: the id of the last right side
            kp_node **lefts, **rights; // checked: the sides of each comparison; a middle operand that is no constant
                                       // is one node in both, converted perhaps
        } compare;
        kp_list list;
        struct {
            kp_list list;
            uint32_t times; // how often the list is repeated
        } array;
        struct {
            struct kp_symbol *symbol;
            uint32_t axis;
        } shape;
        struct {
            const kp_node *of; // what it is an index of
            kp_node *given;    // as the text has it
            kp_node *at;       // the same, or counted from the end if that is known
            kp_node *limit;    // below which it is to be, an i32; a checked kernel sees to that
            bool wraps;        // the limit is a CONST; an index counts from the end at run time, and stays below
        } bounded;
        struct {
            kp_node *element, *range;
            kp_name *variable;
        } comprehension;
        struct {
            kp_node *test, *yes, *no;
        } cond;
        struct {
            union {
                kp_node *callee;              // CALL
                const struct kp_builtin *row; // BUILTIN
            };
            kp_list list;
        } call;
        struct {
            struct kp_instance *instance;
            kp_list list;        // arguments passed by value or reference, in the order in which they are written
            uint32_t *positions; // of each among those of the instance
        } invoke;
        struct {
            kp_list list;      // CONSTs of the node's type
            kp_node *index;    // of 32 or 64 bits
            const kp_node *of; // the tuple in the text
        } table;
        struct {
            kp_list targets; // VARIABLEs
            kp_node *value;  // INVOKE
        } unpack;
        struct {
            kp_name *name;
            kp_node *value;
        } keyword;
        struct {
            kp_node *object;
            kp_name *name;
            const kp_token *at; // the name
        } attribute;
        struct {
            kp_node *object, *index;
        } subscript;
        struct {
            kp_node *operand;
            uint8_t count, components[4];
        } swizzle;
        struct {
            kp_node *operand;
            uint32_t index; // among the fields of its type
        } field;
        struct {
            kp_list list;        // the fields, in the order in which they are written; none: zeros
            uint32_t *positions; // of each among those of the type
        } make;
        struct {
            kp_list targets;     // more than one for a = b = value
            kp_node *value;      // NULL: an annotation alone
            kp_node *annotation; // NULL: none
        } assign;
        struct {
            kp_node *target, *value;
            const kp_token *at; // the operator
        } augment;
        struct {
            kp_branch *branches;
            uint32_t count;
        } branches;
        struct {
            kp_node *test;    // ASSERT
            kp_list list;     //
            const char *text; // NULL: none
        } report;
        union {
            kp_node *operand;
            uint64_t room[4]; // check makes some of these an ASSIGN or a PRINT
        } expression;
        struct {
            kp_node *target;              // FOR; checked: a VARIABLE
            kp_node *range;               // FOR: what follows "in"; checked: NULL
            kp_node *start, *stop, *step; // FOR, checked; of the target's type, but `step` of a signed one
            kp_node *test;                // WHILE
            kp_node *body, *other;
            bool breaks;               // checked: a break leaves it
            const struct kp_node *why; // uniform.c: what makes its rounds differ; NULL: nothing
            uint32_t turns; // checked, of a FOR: how often its innermost loops turn, at most; 0: that is not constant
        } loop;
    } u;
};

typedef struct kp_parameter {
    const kp_token *token; // its name
    kp_node *annotation;   // NULL: none
    kp_node *value;        // default; NULL: none
} kp_parameter;

typedef struct kp_function {
    const kp_token *token; // its name
    kp_parameter *parameters;
    uint32_t parameter_count;
    uint32_t by_place;       // how many, in front of '/', are passed by place alone
    uint32_t by_name;        // the first, behind '*', that is passed by name alone; UINT32_MAX: none
    const kp_token *divider; // the last '*' or '/'; NULL: none
    kp_node *returns;        // annotation; NULL: none
    kp_node *local_size;     // from a decorator; NULL: none
    kp_node *subgroup_size;  // from a decorator; NULL: none
    kp_node *body;           // first statement
} kp_function;

kp_node *kp_ast_node(kp_unit *unit, kp_node_kind kind, const kp_token *first, const kp_token *last);

// a + b + c + ... is as deep as it is long, so it is walked in a loop: its BINARYs, that of a + b first, and n last.
kp_list kp_ast_left_edge(kp_unit *unit, kp_node *n);

// Whether it is several expressions in brackets, or without.
static inline bool kp_ast_is_group(const kp_node *n) { return n->kind == KP_NODE_TUPLE || n->kind == KP_NODE_LIST; }

// The last token of its text.
static inline const kp_token *kp_ast_last(const kp_node *n) { return n->first + n->more; }

enum { KP_AST_LONGEST_TEXT = 32 };

// Its source text; NULL where that is long, or has several lines.
const char *kp_ast_text(kp_unit *unit, const kp_node *n);

// The function as text, one node a line; with `types`, each expression's type. What is nested too deep to be read is
// left out.
void kp_ast_dump(const kp_function *function, bool types, kp_str *out);

#endif
