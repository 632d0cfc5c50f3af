// Descriptions of structs (kp_struct): copies of them, and where two of them lie differently.
#ifndef KP_SRC_BASE_STRUCTS_H
#define KP_SRC_BASE_STRUCTS_H

#include <kp/base.h>

// Bytes that a copy takes, of structs and fields, and of their texts. Adds to *size.
typedef struct kp_structs_size {
    size_t structs, texts;
} kp_structs_size;

void kp_structs_measure(const kp_struct *structure, kp_structs_size *size); // NULL: nothing

// Where the next of each goes. `structs` is aligned for both.
typedef struct kp_structs_at {
    char *structs, *texts;
} kp_structs_at;

const kp_struct *kp_structs_put(kp_structs_at *at, const kp_struct *from); // NULL for NULL
const char *kp_structs_put_text(kp_structs_at *at, const char *text);      // NULL for NULL
size_t kp_structs_text_size(const char *text);                             // with its NUL; 0 for NULL

// A copy that kp_alloc_free frees. KP_ERROR_HOST_MEMORY; KP_ERROR_ARGUMENT, opened by `who`, for a struct that cannot
// be: no bytes, a field outside of it or without a name or type, structs nested too deep.
kp_result kp_structs_copy(const kp_struct *from, const char *who, kp_struct **out);

// True when the two lie differently; `text` then says where: "field 'mass' is at byte 24, not 28". Names of structs do
// not matter, nor whether three scalars are a vector or an array.
bool kp_structs_differ(const kp_struct *wanted, const kp_struct *has, char *text, size_t size);

#endif
