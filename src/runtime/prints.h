// What kernels print, from the words that they wrote (base/launch.h), as Python's print has it.
#ifndef KP_SRC_RUNTIME_PRINTS_H
#define KP_SRC_RUNTIME_PRINTS_H

#include "base/str.h"
#include "reflect.h"

// Appends the prints, in the order of the invocations' keys, and for one key in the order in which they came. `words`
// is what was written from KP_LAUNCH_REPORT_PRINTS on. With `places` a print that begins a line comes behind its file,
// its line, and its kernel. False when out of memory.
bool kp_prints_format(const kp_reflect *reflect, const uint32_t *words, size_t count, bool places, kp_str *out);

#endif
