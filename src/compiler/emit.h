// The checked tree to SPIR-V. Only translates: what everything means was decided in check.
//
// Files: emit.c (resources, the kernel function, entry points), emit_stmt.c, emit_expr.c, emit_arith.c (operators and
// conversions), emit_parallel.c, emit_call.c (functions of the language), emit_helper.c (functions that the module
// itself carries), emit_image.c.
#ifndef KP_SRC_COMPILER_EMIT_H
#define KP_SRC_COMPILER_EMIT_H

#include "check.h"
#include "spirv.h"

void kp_emit_run(kp_unit *unit, kp_kernel *kernel, kp_spirv *s);

#endif
