// How tensors are made, for the calls that bring memory of their own.
#ifndef KP_SRC_RUNTIME_TENSOR_H
#define KP_SRC_RUNTIME_TENSOR_H

#include "memory.h"

// What a tensor's device side is to be; zeroed: new memory, as its description says.
typedef struct kp_tensor_given {
    kp_buffer foreign;     // a buffer of somebody else's
    kp_buffer_share share; // memory that is imported
} kp_tensor_given;

// `bytes` of it from byte `first` on, as numbers of one byte, whatever its elements are.
kp_result kp_tensor_bytes_view(kp_tensor *tensor, uint64_t first, uint64_t bytes, kp_tensor **out);

kp_result kp_tensor_make(kp_manager *manager, const kp_tensor_desc *desc, const kp_tensor_given *given,
                         kp_tensor **out);

#endif
