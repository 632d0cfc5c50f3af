// The names of an algorithm's push and specialization constants: from its program where that knows its parameters, else
// from the module's debug names.
#ifndef KP_SRC_RUNTIME_CONSTANTS_H
#define KP_SRC_RUNTIME_CONSTANTS_H

#include "reflect.h"

// Zeroed is empty.
typedef struct kp_constants {
    kp_param *list; // names are owned; "" where there is none
    size_t count;
} kp_constants;

// `program` may be NULL. KP_ERROR_HOST_MEMORY.
kp_result kp_constants_read(kp_constants *constants, const kp_program *program, const kp_reflect *reflect);
void kp_constants_free(kp_constants *constants);

#endif
