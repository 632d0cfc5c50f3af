// The launch contract: what a module that our compiler wrote offers, and what the runtime asks of it.
//
// Every regroupable module has two entry points that call the same kernel function:
//
//   "main"      one invocation per index, the index is GlobalInvocationId, push constants are the kernel's own. Means
//               what pyshader's modules mean, in any Vulkan program.
//   "kp_blocks" a workgroup works on a block of indices; push constants are the kernel's own, and behind them, at the
//               next multiple of 4 bytes, kp_launch_push.
//
// "The kernel's own" are the constants that the caller passes and, behind them, the shapes of the tensors that views
// with several axes are bound to, which the runtime passes: 32-bit integers, first axis first, at
// kp_param.shape_offset. Where the elements are vectors or arrays, the axes of one element are no part of the shape.
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
//
// A kernel that works in groups, with a local size of its own, is not regroupable. Its module has these two entry
// points:
//
//   "main"      as Vulkan launches it; push constants are the kernel's own
//   "kp_groups" the same, but that the dispatch may have any shape: push constants as those of "kp_blocks", of which
//               `blocks` is the number of groups on each axis; `extent` is not read. A workgroup's number in the
//               dispatch is taken apart as for FOLDED, and those with bz >= blocks[2] do nothing
//
// A checked module tells its first fault, and one with prints what they print, through a storage buffer that our
// runtime binds beside the caller's own. Where it lies, the default of the uint KP_LAUNCH_SPEC_REPORT says: set * 65536
// + binding, behind all other bindings. Both entry points use it, so such modules are for our runtime alone. It is
// words:
//
//   0 ..              for the runtime (runtime/loop_guard.h)
//   REPORT_FIRST      the least key of an invocation that had a fault; UINT32_MAX before
//   REPORT_FAULTS     records written, number n at REPORT_RECORDS + n % FAULT_COUNT * FAULT_WORDS: site, key, index of
//                     the invocation (3); behind them, of an index that was out of range its low and high word and the
//                     size; of a pixel its place (3) and the size of the image (3), as far as that has axes
//   REPORT_PRINTED    words of prints; it may end up beyond REPORT_ROOM, which is how many there can be
//   REPORT_DROPPED    prints that found no room
//   REPORT_PRINTS ..  the prints one behind the other: site + 1, key, values (narrow ones as 32 bits, 64-bit ones low
//                     word first)
//
// A key is the invocation's rank among all, x fastest. A site is a number: the module's n-th OpString that starts with
// KP_LAUNCH_SITE, followed by lines: kind, line, column, bytes of the text; then the text, the
// kernel's name, the end of a line, and the file's name.
//
// Of each texture whose type says how it is sampled the module has an OpString that starts with KP_LAUNCH_SAMPLER,
// followed by lines: set, binding, filter, address mode, and 1 where coordinates count pixels, else 0. Filter and mode
// are 0 where those of the image count, else one more than their place in the lists below.
#ifndef KP_SRC_BASE_LAUNCH_H
#define KP_SRC_BASE_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#define KP_LAUNCH_ENTRY "main"
#define KP_LAUNCH_BLOCKS_ENTRY "kp_blocks"
#define KP_LAUNCH_GROUPS_ENTRY "kp_groups"

enum {
    KP_LAUNCH_SPEC_BASE = 0x6B700000, // "kp": far from the ids 0, 1, 2, ... that users' constants have
    KP_LAUNCH_SPEC_LOCAL_X = KP_LAUNCH_SPEC_BASE,
    KP_LAUNCH_SPEC_LOCAL_Y,
    KP_LAUNCH_SPEC_LOCAL_Z,
    KP_LAUNCH_SPEC_ITEMS,    // uint, default 1
    KP_LAUNCH_SPEC_ADJACENT, // bool, default false
    KP_LAUNCH_SPEC_FOLDED,   // bool, default false
    KP_LAUNCH_SPEC_REPORT,   // uint, see above; not specialized
};

static inline bool kp_launch_has_spec(uint32_t id) { return id >= KP_LAUNCH_SPEC_BASE && id <= KP_LAUNCH_SPEC_REPORT; }

#define KP_LAUNCH_SITE "kp site\n"
#define KP_LAUNCH_SAMPLER "kp sampler\n"

// In the order of kp_filter and kp_address_mode.
#define KP_LAUNCH_FILTERS(X) X("nearest") X("linear")
#define KP_LAUNCH_ADDRESS_MODES(X) X("clamp_to_edge") X("repeat") X("mirrored_repeat") X("clamp_to_border")

typedef enum kp_launch_site {
    KP_LAUNCH_SITE_INDEX,    // an index out of range; the text is what it is an index of, empty where that is long
    KP_LAUNCH_SITE_DIVISION, // an integer division or modulo by zero
    KP_LAUNCH_SITE_ASSERT,   // the text is its message
    KP_LAUNCH_SITE_PRINT,    // the text is a format: %% is a percent sign, %<letter><n> a value of n components; the
                             // letter is the element type's, as in KP_DTYPES
    KP_LAUNCH_SITE_VALUE,    // a value that the operation does not take; the text says which
    KP_LAUNCH_SITE_OVERFLOW, // a result that is too large; the text says which
    KP_LAUNCH_SITE_PIXEL,    // a pixel out of range; the text is the number of axes, and the name of the image
    KP_LAUNCH_SITE_COUNT,
} kp_launch_site;

enum {
    KP_LAUNCH_REPORT_FIRST = 4,
    KP_LAUNCH_REPORT_FAULTS,
    KP_LAUNCH_REPORT_PRINTED,
    KP_LAUNCH_REPORT_ROOM,
    KP_LAUNCH_REPORT_DROPPED,
    KP_LAUNCH_REPORT_RECORDS = 16,
    KP_LAUNCH_FAULT_WORDS = 11,
    KP_LAUNCH_FAULT_DATA = 5,   // where in a record that begins which the kind of site decides
    KP_LAUNCH_FAULT_COUNT = 64, // a power of two
    KP_LAUNCH_REPORT_PRINTS = KP_LAUNCH_REPORT_RECORDS + KP_LAUNCH_FAULT_WORDS * KP_LAUNCH_FAULT_COUNT,
};

// Six uints, in this order, as the last members of the push constant block of "kp_blocks" and "kp_groups".
typedef struct kp_launch_push {
    uint32_t extent[3]; // indices on each axis, at least 1
    uint32_t blocks[3]; // blocks on each axis; read when FOLDED, and by "kp_groups"
} kp_launch_push;

#endif
