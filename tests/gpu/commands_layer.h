// What commands_layer.c exports, for its test.
#ifndef KP_TESTS_GPU_COMMANDS_LAYER_H
#define KP_TESTS_GPU_COMMANDS_LAYER_H

#include <stdint.h>

// Indices of kp_test_commands, an array of atomic_uint.
enum { COMMAND_BARRIER, COMMAND_COPY, COMMAND_DISPATCH, COMMAND_SUBMIT, COMMAND_KINDS };

void *kp_test_mapped(uint64_t memory); // a VkDeviceMemory as a number

#endif
