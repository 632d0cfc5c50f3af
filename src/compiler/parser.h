// Tokens to tree. Finds the functions of a source, and parses those that are asked for; all else at the top level is
// stepped over, so that a whole Python module will do.
#ifndef KP_SRC_COMPILER_PARSER_H
#define KP_SRC_COMPILER_PARSER_H

#include "ast.h"
#include "lookup.h"

// One top-level function, not yet parsed.
typedef struct kp_parser_function {
    kp_name *name;
    const kp_token *decorators;       // the first "@"; NULL: none
    const kp_token *start;            // "def", or "async"
    const kp_token *token;            // its name
    struct kp_checker_helper *helper; // check: what is known of it as a helper; NULL: not called yet
} kp_parser_function;

// A top-level NAME = value or NAME: type = value, not yet parsed.
typedef struct kp_parser_global {
    kp_name *name;
    const kp_token *value;
    bool busy; // its value is being worked out
} kp_parser_global;

// A top-level class with the base Struct, not yet parsed.
typedef struct kp_parser_class {
    kp_name *name;
    const kp_token *token; // its name
    const kp_token *body;  // its colon
    const kp_type *type;   // check: NULL: not asked for yet
    bool busy;             // its fields are being worked out
} kp_parser_class;

typedef struct kp_parser_outline {
    kp_parser_function *functions;
    uint32_t function_count;
    kp_parser_global *globals;
    uint32_t global_count;
    kp_parser_class *classes;
    uint32_t class_count;
    kp_lookup function_names, global_names, class_names; // the last one of a name counts
} kp_parser_outline;

kp_parser_outline *kp_parser_find(kp_unit *unit, const kp_token *tokens);

kp_function *kp_parser_function_at(kp_unit *unit, const kp_parser_function *function);

// An expression that ends with the line.
kp_node *kp_parser_global_at(kp_unit *unit, const kp_token *value);

// The fields of a class: ASSIGNs with an annotation and no value.
kp_list kp_parser_class_at(kp_unit *unit, const kp_parser_class *class);

// An expression that is all of [start, end) of the unit's text: an annotation in quotes, or one that the caller gives.
kp_node *kp_parser_text(kp_unit *unit, uint32_t start, uint32_t end);

#endif
