// Two neighbours at a time: a kernel of our compiler that works on single 32-bit elements, each on those at its own
// index, becomes one that works on pairs of them, with one 64-bit load or store for each pair. On lavapipe every access
// to memory is a loop over the lanes, whatever its size, and such kernels do little else (docs/drivers.md).
#ifndef KP_SRC_RUNTIME_PAIRS_H
#define KP_SRC_RUNTIME_PAIRS_H

#include <kp/base.h>

// A copy of a regroupable module whose "kp_blocks" runs the kernel for the indices 2 i and 2 i + 1 where the original
// runs it for i: launched with half the extent, and with buffers that hold at least the whole one, it does the same.
// Bindings and push constants are the same. For a device with shaderInt64; "main" is left as it is.
//
// The kernel must be one run of instructions, without branches, calls and shared memory, whose buffers hold f32, i32 or
// u32 and are indexed by the first axis of the index alone. Of another, *out is NULL. `*out` is for kp_alloc_free.
// KP_ERROR_HOST_MEMORY.
kp_result kp_pairs_apply(const uint32_t *words, size_t word_count, uint32_t **out, size_t *out_count);

#endif
