// Over which indices a kernel runs when nobody says: the one place of that rule.
#ifndef KP_SRC_BASE_EXTENT_H
#define KP_SRC_BASE_EXTENT_H

#include <kp/base.h>

// How many axes the index has that a kernel is called with: 1 to 3; 0: it has none, or one of pyshader's.
uint32_t kp_extent_axes(const kp_program *program);

// As kp_program_extent, without words; false for what is no extent.
bool kp_extent_find(const kp_param *param, uint32_t index_axes, uint32_t ndim, const uint64_t *shape,
                    uint32_t extent[3]);

#endif
