// A caller's specialization constants, as a module takes them.
#ifndef KP_SRC_RUNTIME_SPECS_H
#define KP_SRC_RUNTIME_SPECS_H

#include "reflect.h"

#include <kp/runtime.h>

// Checks them against the module. `*out` has `count`, by id, is freed with kp_alloc_free and compared as bytes: padding
// is zero. `label` is the algorithm's. KP_ERROR_ARGUMENT: unknown, given twice, without a value; KP_ERROR_TYPE.
kp_result kp_specs_read(const kp_reflect *reflect, const kp_spec *specs, size_t count, const char *label,
                        kp_reflect_value **out);

#endif
