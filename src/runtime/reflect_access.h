// What the functions that an entry point reaches do to each id: the variables it uses, reads and writes.
#ifndef KP_SRC_RUNTIME_REFLECT_ACCESS_H
#define KP_SRC_RUNTIME_REFLECT_ACCESS_H

#include "reflect_module.h"

enum {
    KP_REFLECT_USED = 1,  // an instruction that is reached names it
    KP_REFLECT_READ = 2,  // what it points to, or is a handle of, is loaded from
    KP_REFLECT_WRITE = 4, // ... is stored to
};

typedef struct kp_reflect_access {
    uint8_t *flags;          // one for each row of the module; those of variables are complete
    bool loops;              // a loop is reached
    bool extended_subgroups; // operations of subgroups on integers of other than 32 bits, or f16
    bool buffer_atomics64;   // atomics of 64 bits on buffers
    bool shared_atomics64;   // ... on workgroup memory
    bool buffer_float_adds;  // atomic additions to f32 in buffers
    bool shared_float_adds;  // ... in workgroup memory
} kp_reflect_access;

// `function` is the id of the entry point's function. The result lies in the module's scratch.
kp_reflect_access kp_reflect_access_find(kp_reflect_module *m, uint32_t function);

#endif
