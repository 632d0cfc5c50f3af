// 06 devices: what this machine has, before any manager is made. You should see one line a device, such as
//
//     0: llvmpipe (LLVM 15.0.6, 256 bits), CPU, 23 GiB, subgroups of 8
//     devices: 1

#include "example.h"

static const char *const types[] = {[KP_DEVICE_OTHER] = "other",
                                    [KP_DEVICE_INTEGRATED] = "integrated",
                                    [KP_DEVICE_DISCRETE] = "discrete",
                                    [KP_DEVICE_VIRTUAL] = "virtual",
                                    [KP_DEVICE_CPU] = "CPU"};

int main(void) {
    kp_device_info devices[16];
    size_t count;
    check(kp_devices(devices, 16, &count));
    for (size_t i = 0; i < count && i < 16; i++) {
        const kp_device_info *d = &devices[i];
        printf("%u: %s, %s, %.0f GiB, subgroups of %u\n", d->index, d->name, types[d->type],
               (double)d->memory / (1 << 30), d->subgroup_size);
    }
    printf("devices: %zu\n", count);
    return 0;
}
