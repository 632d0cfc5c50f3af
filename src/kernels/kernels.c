// The built-in kernels (kp/kernels.h): each is a file in the kernel language beside this one, compiled by kpc when the
// library is built.
#include <kp/kernels.h>

#include "multiply.kernel.h"

const kp_program *kp_kernel_multiply(void) { return &multiply_program; }
