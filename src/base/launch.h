// The launch contract: what a module that our compiler wrote offers, and what the runtime asks of it (design decision
// 4).
//
// Every regroupable module has two entry points that call the same kernel function:
//
//   "main"      one invocation per index, the index is GlobalInvocationId, push constants are the kernel's own. Means
//   what
//               pyshader's modules mean, in any Vulkan program.
//   "kp_blocks" a workgroup works on a block of indices; push constants are the kernel's own, and behind them, at the
//   next
//               multiple of 4 bytes, kp_launch_push.
//
// Both have the workgroup size (LOCAL_X, LOCAL_Y, LOCAL_Z), specialization constants that default to 1. In "kp_blocks",
// with B = LOCAL_X * ITEMS, the workgroup of block (bx, by, bz) runs the kernel for
//
//   x = bx * B + lx + k * LOCAL_X    k = 0 .. ITEMS - 1     when ADJACENT is false (items a local size apart)
//   x = bx * B + lx * ITEMS + k      k = 0 .. ITEMS - 1     when ADJACENT is true
//   y = by * LOCAL_Y + ly,  z = bz * LOCAL_Z + lz
//
// and only where x, y, z are inside `extent`; a block that lies inside it altogether runs without a check per item.
// (bx, by, bz) is the workgroup id when FOLDED is false. When it is true, the workgroup's number in the dispatch,
// n = wx + nx * (wy + ny * wz), is taken apart again: bx = n % blocks[0], by = n / blocks[0] % blocks[1],
// bz = n / blocks[0] / blocks[1]; workgroups with bz >= blocks[2] do nothing. So a launch with more blocks on an axis
// than the device allows is dispatched in another shape.
//
// Extents are below 2^31 on every axis, and the kernel sees the index as signed.
//
// A kernel that reads pyshader's other inputs is regroupable too: in a module whose workgroups are single invocations,
// WorkgroupId is the index, NumWorkgroups is the extent, and LocalInvocationId is zero.
#ifndef KP_SRC_BASE_LAUNCH_H
#define KP_SRC_BASE_LAUNCH_H

#include <stdint.h>

#define KP_LAUNCH_ENTRY "main"
#define KP_LAUNCH_BLOCKS_ENTRY "kp_blocks"

enum {
    KP_LAUNCH_SPEC_BASE = 0x6B700000, // "kp": far from the ids 0, 1, 2, ... that users' constants have
    KP_LAUNCH_SPEC_LOCAL_X = KP_LAUNCH_SPEC_BASE,
    KP_LAUNCH_SPEC_LOCAL_Y,
    KP_LAUNCH_SPEC_LOCAL_Z,
    KP_LAUNCH_SPEC_ITEMS,    // uint, default 1
    KP_LAUNCH_SPEC_ADJACENT, // bool, default false
    KP_LAUNCH_SPEC_FOLDED,   // bool, default false
};

// Six uints, in this order, as the last members of the push constant block of "kp_blocks".
typedef struct kp_launch_push {
    uint32_t extent[3]; // indices on each axis, at least 1
    uint32_t blocks[3]; // blocks on each axis; read only when FOLDED
} kp_launch_push;

#endif
