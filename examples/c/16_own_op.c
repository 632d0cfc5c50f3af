// 16 an op of your own, in Vulkan: it records a command that kp has no op for, between ops of kp's. What it touches is
// said once, and the barriers around it are kp's business as for any op. You should see
//
//     0 9 9 0
//
// The command is vkCmdFillBuffer on two elements in the middle. Any would do that a queue takes outside of a render
// pass: an FFT library, a ray query, a shader with bindings that kp does not know.

#include "example.h"

#include <kp/vulkan.h>

typedef struct middle {
    kp_vulkan_buffer buffer; // where the tensor's device side is
    PFN_vkCmdFillBuffer fill;
} middle;

static kp_result record(void *payload, VkDevice device, VkCommandBuffer commands) {
    (void)device;
    const middle *m = payload;
    m->fill(commands, m->buffer.buffer, m->buffer.offset + sizeof(int32_t), 2 * sizeof(int32_t), 9);
    return KP_OK;
}

int main(void) {
    kp_manager *mgr;
    kp_tensor *x;
    kp_sequence *seq;
    check(kp_manager_create(NULL, &mgr));
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_I32, .count = 4}, &x));
    check(kp_sequence_create(mgr, NULL, &seq));

    kp_vulkan_manager vulkan;
    middle m;
    check(kp_vulkan_from_manager(mgr, &vulkan));
    check(kp_vulkan_from_tensor(x, &m.buffer));
    m.fill = (PFN_vkCmdFillBuffer)vulkan.get_instance_proc_addr(vulkan.instance, "vkCmdFillBuffer");

    check(kp_record_sync_device(seq, &x, 1));
    check(kp_vulkan_record(seq, &(kp_vulkan_op){.name = "fill the middle",
                                                .uses = &(kp_vulkan_use){.memory = x, .writes = true},
                                                .use_count = 1,
                                                .stages = VK_PIPELINE_STAGE_TRANSFER_BIT,
                                                .record = record,
                                                .payload = &m}));
    check(kp_record_sync_local(seq, &x, 1));
    check(kp_sequence_eval(seq));
    const int32_t *data = kp_tensor_data(x);
    printf("%d %d %d %d\n", data[0], data[1], data[2], data[3]);

    kp_sequence_destroy(seq);
    kp_tensor_destroy(x);
    kp_manager_destroy(mgr);
    return 0;
}
