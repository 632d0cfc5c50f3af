// kp/kernels.h - the built-in kernels: ready-made programs, compiled from src/kernels when the library was built.
#ifndef KP_KERNELS_H
#define KP_KERNELS_H

#include <kp/base.h>

#ifdef __cplusplus
extern "C" {
#endif

// out[i] = a[i] * b[i], float32; parameters: a, b, out. Static storage: do not destroy. Thread-safety: any.
KP_API const kp_program *kp_kernel_multiply(void);

#ifdef __cplusplus
}
#endif

#endif
