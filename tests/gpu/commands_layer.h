// What commands_layer.c exports, for its test.
#ifndef KP_TESTS_GPU_COMMANDS_LAYER_H
#define KP_TESTS_GPU_COMMANDS_LAYER_H

#include <stdint.h>

// Indices of kp_test_commands, an array of atomic_uint.
enum { COMMAND_BARRIER, COMMAND_COPY, COMMAND_DISPATCH, COMMAND_SUBMIT, COMMAND_KINDS };

void *kp_test_mapped(uint64_t memory);               // a VkDeviceMemory as a number
const char *kp_test_name(int type, uint64_t handle); // what debuggers are told; handle 0: the last of that type
const char *kp_test_label(unsigned back);            // the last label in a command buffer, and those before it

#endif
