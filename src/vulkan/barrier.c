// See barrier.h. Read after read needs nothing; read after write needs the write made visible; write after read needs
// order alone; write after write needs both. Barriers are global: drivers do the same for a single buffer, and one may
// serve many.
#include "barrier.h"

#define WRITES \
    (VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_HOST_WRITE_BIT | VK_ACCESS_MEMORY_WRITE_BIT)

const kp_barrier_access kp_barrier_any_work = {
    .stage =
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT,
    .access = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
};
const kp_barrier_access kp_barrier_any_use = {
    .stage =
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT,
    .access = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_UNIFORM_READ_BIT |
              VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_INDIRECT_COMMAND_READ_BIT,
};

kp_barrier_access kp_barrier_on(kp_barrier_access access, bool computes) {
    if (computes)
        return access;
    access.stage &= VK_PIPELINE_STAGE_TRANSFER_BIT;
    access.access &= VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    return access;
}

bool kp_barrier_writes(kp_barrier_access access) { return (access.access & WRITES) != 0; }

static bool covers(kp_barrier_access all, kp_barrier_access part) {
    return (part.stage & ~all.stage) == 0 && (part.access & ~all.access) == 0;
}

static void add(kp_barrier_access *to, kp_barrier_access more) {
    to->stage |= more.stage;
    to->access |= more.access;
}

void kp_barrier_need(const kp_barrier_state *state, kp_barrier_access next, kp_barrier *barrier) {
    if (state->write.stage != 0 && !covers(state->visible, next)) {
        add(&barrier->source, state->write);
        add(&barrier->target, next);
    }
    if (kp_barrier_writes(next) && state->reads != 0 && (next.stage & ~state->ordered) != 0) {
        barrier->source.stage |= state->reads;
        barrier->target.stage |= next.stage;
    }
}

void kp_barrier_passed(kp_barrier_state *state, const kp_barrier *barrier) {
    if (state->write.stage != 0 && covers(barrier->source, state->write))
        add(&state->visible, barrier->target);
    if (state->reads != 0 && (state->reads & ~barrier->source.stage) == 0)
        state->ordered |= barrier->target.stage;
}

void kp_barrier_use(kp_barrier_state *state, kp_barrier_access access) {
    if (kp_barrier_writes(access)) {
        *state = (kp_barrier_state){.write = {.stage = access.stage, .access = access.access & WRITES}};
    } else {
        state->reads |= access.stage;
        state->ordered = 0;
    }
}

void kp_barrier_emit(kp_device *device, VkCommandBuffer commands, const kp_barrier *barrier) {
    if (barrier->source.stage == 0)
        return;
    bool memory = barrier->source.access != 0; // else order alone
    device->vk.vkCmdPipelineBarrier(commands, barrier->source.stage, barrier->target.stage, 0, memory ? 1 : 0,
                                    &(VkMemoryBarrier){.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                                       .srcAccessMask = barrier->source.access,
                                                       .dstAccessMask = barrier->target.access},
                                    0, NULL, 0, NULL);
}
