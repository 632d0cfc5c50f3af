// volk's own code, compiled once, with hidden symbols: it opens libvulkan at run time, so nothing links to it.
#define VOLK_IMPLEMENTATION
#include <volk.h>
