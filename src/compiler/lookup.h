// Where things are that have names: a hash table from a name to a number, the index in whatever array they are in.
#ifndef KP_SRC_COMPILER_LOOKUP_H
#define KP_SRC_COMPILER_LOOKUP_H

#include "unit.h"

struct kp_name;

enum { KP_LOOKUP_NONE = -1 };

typedef struct kp_lookup {
    struct kp_lookup_slot *slots;
    uint32_t count, capacity; // capacity is a power of two, or 0
} kp_lookup;

// A zeroed kp_lookup is a good empty one.
void kp_lookup_put(kp_unit *unit, kp_lookup *lookup, const struct kp_name *name, int32_t index); // in place of another
int32_t kp_lookup_get(const kp_lookup *lookup, const struct kp_name *name); // KP_LOOKUP_NONE when absent

#endif
