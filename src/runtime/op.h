// One step of a sequence. Each kind is an op_<name>.c, which also holds its kp_record_<name>: it makes the op and hands
// it to kp_sequence_add. To add a kind: such a file, with a kp_op_kind, and its prototype in kp/runtime.h.
#ifndef KP_SRC_RUNTIME_OP_H
#define KP_SRC_RUNTIME_OP_H

#include "algorithm.h"
#include "recorder.h"

typedef struct kp_op kp_op;

typedef struct kp_op_kind {
    const char *name; // "sync_device"
    size_t size;      // of its struct, which begins with a kp_op

    // Works out, and makes, what recording needs; every memory and algorithm is alive. Called when the op is added, so
    // that it can refuse, and again before its commands are recorded anew. NULL: nothing to do.
    kp_result (*prepare)(kp_op *op, const char *who);

    // Records its commands (recorder.h).
    kp_result (*record)(const kp_op *op, kp_recorder *recorder);

    // Frees what only this kind has. NULL: nothing.
    void (*destroy)(kp_op *op);

    // What it is called. NULL: the kind's name, and the labels of what it works on.
    const char *(*title)(const kp_op *op);
} kp_op_kind;

struct kp_op {
    const kp_op_kind *kind;
    kp_memory **memory;      // that it works on, besides its algorithm's; referred to
    size_t memory_count;     //
    kp_algorithm *algorithm; // referred to; NULL: none
};

// A zeroed op of the kind, with the memory checked against the sequence's manager, and referred to. `*out` only on
// KP_OK.
kp_result kp_op_create(const kp_op_kind *kind, kp_sequence *sequence, kp_memory *const *memory, size_t count,
                       kp_op **out);
void kp_op_destroy(kp_op *op); // NULL is fine

// Makes such an op and adds it to the sequence: all of kp_record_<name> for a kind that is given nothing but memory.
kp_result kp_op_record(const kp_op_kind *kind, kp_sequence *sequence, kp_memory *const *memory, size_t count);

// A `prepare`: every memory has a host side, made now if need be. KP_ERROR_STATE for a STORAGE tensor.
kp_result kp_op_need_host_sides(kp_op *op, const char *who);

// Of copies (op_copy.c): KP_ERROR_TYPE where the elements differ, KP_ERROR_UNSUPPORTED where a view does not begin
// where a copy to or from the image may.
kp_result kp_op_copy_same_elements(const kp_memory *from, const kp_memory *to, const char *who);
kp_result kp_op_copy_aligned(const kp_memory *tensor, const kp_memory *image, const char *who);

// "dispatch 'multiply'", "copy 'a', 'b'": for labels and profiles. At most `size` bytes with the zero at the end.
void kp_op_describe(const kp_op *op, char *text, size_t size);

#endif
