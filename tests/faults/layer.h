// The fault-injecting Vulkan layer, as its test sees it: through dlopen of the very file that the loader loaded.
//
// It stands between kp and the driver, makes one call fail and counts what is made and destroyed. A device that was
// lost stays lost. Nothing is destroyed under a driver that is still at work: a wait that answers "lost" has waited.
#ifndef KP_TESTS_FAULTS_LAYER_H
#define KP_TESTS_FAULTS_LAYER_H

#include <stdbool.h>
#include <stddef.h>

#define KP_FAULT_LAYER "VK_LAYER_KP_faults"

// Bits of kp_fault_call.codes: what the specification lets the call answer.
enum {
    KP_FAULT_HOST_MEMORY = 1,
    KP_FAULT_DEVICE_MEMORY = 2,
    KP_FAULT_DEVICE_LOST = 4,
    KP_FAULT_INITIALIZATION = 8,
    KP_FAULT_TIMEOUT = 16,
};

typedef struct kp_fault_call {
    const char *name; // without "vk"
    unsigned codes;
} kp_fault_call;

// What the layer's library exports, under the name "kp_fault".
typedef struct kp_fault_layer {
    const kp_fault_call *calls; // all that can fail
    size_t call_count;
    void (*arm)(size_t which, unsigned nth, int code); // nth 0: nothing fails; counts start again
    bool (*struck)(void);                              // the armed call has come
    unsigned (*count)(size_t which);                   // calls since `arm`
    size_t (*live)(char *text, size_t size);           // kinds of objects that are left, as text
} kp_fault_layer;

extern const kp_fault_layer kp_fault;

#endif
