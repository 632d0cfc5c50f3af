// The staging ring of a manager: host memory through which arrays go to device sides and come back (kp_tensor_upload,
// kp_tensor_download). Made when first needed, kept for the next time.
#ifndef KP_SRC_RUNTIME_STAGING_H
#define KP_SRC_RUNTIME_STAGING_H

#include <kp/runtime.h>

#include <pthread.h>
#include <stdbool.h>

enum { KP_STAGING_THREADS = 8, KP_STAGING_SLOTS = 2 * KP_STAGING_THREADS };

typedef struct kp_staging_slot {
    kp_tensor *memory;         // bytes; NULL: not made yet
    kp_sequence *sequences[2]; // on the manager's first queue, and on one for copies; NULL: not made yet
    kp_tensor *part, *target;  // views, of the piece in flight; NULL: none is
    unsigned char *to;         // where the piece goes when it has come; NULL: it goes up
} kp_staging_slot;

typedef struct kp_staging {
    pthread_mutex_t lock; // held while an array moves
    kp_staging_slot slots[KP_STAGING_SLOTS];
} kp_staging;

void kp_staging_init(kp_staging *staging);
bool kp_staging_drop(kp_staging *staging);    // frees the ring, which can be made anew; false: there was none
void kp_staging_destroy(kp_staging *staging); // of a dropped one

#endif
