// The descriptors that an entry point uses.
#ifndef KP_SRC_RUNTIME_REFLECT_BINDINGS_H
#define KP_SRC_RUNTIME_REFLECT_BINDINGS_H

#include "reflect_types.h"

// Sorted and merged, in the module's `keep`; *count of them. `flags` are those of kp_reflect_access.
kp_reflect_binding *kp_reflect_bindings_read(const kp_reflect_types *t, const uint8_t *flags, size_t *count);

// Orders two kp_reflect_binding by set and binding, as qsort asks.
int kp_reflect_bindings_order(const void *a, const void *b);

#endif
