// kpinfo - lists the Vulkan devices that kp can use, with their limits.
//
//     kpinfo            all devices
//     kpinfo -1         one line a device
#include <kp/kp.h>

#include <stdio.h>
#include <string.h>

enum { MOST_DEVICES = 64, EXIT_USAGE = 2 };

static const char usage[] = "usage: kpinfo [-1]\n"
                            "Lists the Vulkan devices and their limits; with -1, one line a device.\n"
                            "$KP_DEVICE chooses one of them for kp's programs, by number, UUID or part of its name.\n";

static const char *type_name(kp_device_type type) {
    switch (type) {
    case KP_DEVICE_DISCRETE:
        return "discrete GPU";
    case KP_DEVICE_INTEGRATED:
        return "integrated GPU";
    case KP_DEVICE_VIRTUAL:
        return "virtual GPU";
    case KP_DEVICE_CPU:
        return "CPU";
    default:
        return "other";
    }
}

static void print_uuid(const uint8_t uuid[16]) {
    for (int i = 0; i < 16; i++)
        printf("%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", (unsigned)uuid[i]);
}

static void print_bytes(const char *name, uint64_t bytes) {
    if (bytes >= (uint64_t)1 << 30)
        printf("    %-22s %.1f GiB\n", name, (double)bytes / (double)((uint64_t)1 << 30));
    else
        printf("    %-22s %llu bytes\n", name, (unsigned long long)bytes);
}

static void print_axes(const char *name, const uint32_t axes[3]) {
    printf("    %-22s %u x %u x %u\n", name, (unsigned)axes[0], (unsigned)axes[1], (unsigned)axes[2]);
}

static void print_flag(bool on, const char *name) { printf("%s%s", on ? " " : "", on ? name : ""); }

// The names of the features, some in a line.
static void print_features(const kp_device_info *d) {
    const struct {
        const char *name;
        bool there;
    } all[] = {
#define KP_X(name, meaning) {#name, d->name},
        KP_DEVICE_FEATURES(KP_X)
#undef KP_X
    };
    size_t column = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!all[i].there)
            continue;
        if (column == 0 || column + strlen(all[i].name) > 90) {
            printf("%s    %-22s", column != 0 ? "\n" : "", column != 0 ? "" : "features");
            column = 26;
        }
        column += (size_t)printf(" %s", all[i].name);
    }
    printf("%s", column != 0 ? "\n" : "");
}

static void print_heaps(const kp_device_info *d) {
    char name[32];
    for (uint32_t i = 0; i < d->memory_heap_count && i < KP_MAX_MEMORY_HEAPS; i++) {
        snprintf(name, sizeof name, "heap %u%s", (unsigned)i, d->memory_heaps[i].device_local ? ", device-local" : "");
        print_bytes(name, d->memory_heaps[i].bytes);
    }
}

static void print_subgroups(const kp_device_info *d) {
    static const char *const names[] = {"basic",     "vote", "arithmetic", "ballot", "shuffle", "shuffle_relative",
                                        "clustered", "quad"};
    printf("    %-22s %u, can be %u to %u:", "subgroup size", (unsigned)d->subgroup_size,
           (unsigned)d->min_subgroup_size, (unsigned)d->max_subgroup_size);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        print_flag((d->subgroup_ops >> i & 1) != 0, names[i]);
    printf("\n");
}

static void print_queues(const kp_device_info *d) {
    for (uint32_t i = 0; i < d->queue_family_count && i < KP_MAX_QUEUE_FAMILIES; i++) {
        printf("    queue family %-9u %u:", (unsigned)i, (unsigned)d->queue_families[i].count);
        print_flag(d->queue_families[i].compute, "compute");
        print_flag(d->queue_families[i].transfer, "transfer");
        print_flag(d->queue_families[i].graphics, "graphics");
        printf("\n");
    }
}

static void print_device(const kp_device_info *d) {
    printf("    %-22s ", "UUID");
    print_uuid(d->uuid);
    printf("\n    %-22s %u.%u.%u\n", "Vulkan", (unsigned)(d->api_version >> 22 & 0x7F),
           (unsigned)(d->api_version >> 12 & 0x3FF), (unsigned)(d->api_version & 0xFFF));
    printf("    %-22s %s\n", "driver", d->driver);
    print_bytes("memory", d->memory);
    print_heaps(d);
    printf("    %-22s %s\n", "shared with the host", d->unified ? "yes" : "no");
    print_bytes("largest buffer", d->max_buffer_range);
    print_bytes("largest allocation", d->max_allocation);
    print_axes("workgroups", d->max_workgroup_count);
    print_axes("workgroup size", d->max_workgroup_size);
    printf("    %-22s %u\n", "workgroup invocations", (unsigned)d->max_workgroup_invocations);
    print_subgroups(d);
    print_bytes("push constants", d->max_push_constants);
    print_bytes("shared memory", d->max_shared_memory);
    if (d->timestamps)
        printf("    %-22s %g ns\n", "timestamp step", d->timestamp_period);
    else
        printf("    %-22s no\n", "timestamps");
    print_features(d);
    print_queues(d);
}

static int fail(void) {
    fprintf(stderr, "kpinfo: %s\n", kp_last_error());
    return 1;
}

// There is no device: who wants one is told what is missing.
static void say_why(void) {
    kp_manager *manager = NULL;
    if (kp_manager_create(NULL, &manager) != KP_OK)
        fprintf(stderr, "kpinfo: %s\n", kp_last_error());
    kp_manager_destroy(manager);
}

int main(int argc, char **argv) {
    static kp_device_info devices[MOST_DEVICES];
    bool brief = argc == 2 && strcmp(argv[1], "-1") == 0;
    if (argc > 2 || (argc == 2 && !brief)) {
        bool help = argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
        fputs(usage, help ? stdout : stderr);
        return help ? 0 : EXIT_USAGE;
    }
    size_t count = 0;
    if (kp_devices(devices, MOST_DEVICES, &count) != KP_OK)
        return fail();
    for (size_t i = 0; i < count && i < MOST_DEVICES; i++) {
        printf("%zu: %s (%s)\n", i, devices[i].name, type_name(devices[i].type));
        if (!brief)
            print_device(&devices[i]);
    }
    if (count == 0)
        say_why();
    return 0;
}
