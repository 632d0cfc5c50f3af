// Several queues: work that shares memory is ordered across queues and on one, work that shares nothing needs nothing.
// A device with a single queue (both CPU drivers) refuses more, and then the same programs run on that one; behind
// queues_layer.c it seems to have four, and one that only copies.
#include "gpu.h"

#include <dlfcn.h>
#include <kp/vulkan.h>
#include <stdatomic.h>

enum { ROUNDS = 200, COUNT = 4096, LARGE = 1 << 18, MAX_QUEUES = 4 };

// Enough work in each element that a missing dependency would show.
static const char slow_add[] = "layout(local_size_x = 64) in;\n"
                               "layout(binding = 0) readonly buffer X { float x[]; };\n"
                               "layout(binding = 1) buffer Y { float y[]; };\n"
                               "void main() {\n"
                               "    uint i = gl_GlobalInvocationID.x;\n"
                               "    float sum = x[i];\n"
                               "    for (int k = 0; k < 200; k++) sum += 0.5;\n"
                               "    y[i] = sum - 99.0;\n"
                               "}\n";

static uint32_t least_queues = 1;
static atomic_uint *layer_copies; // submissions to the queue that only copies; NULL without the layer

// One queue from each family first, then more of the first: as many as there are, at most MAX_QUEUES.
static uint32_t list_families(const kp_device_info *device, uint32_t families[MAX_QUEUES]) {
    uint32_t count = 0;
    for (uint32_t round = 0; round < MAX_QUEUES; round++) {
        for (uint32_t f = 0; f < device->queue_family_count && count < MAX_QUEUES; f++) {
            if (device->queue_families[f].compute && device->queue_families[f].count > round)
                families[count++] = f;
        }
    }
    return count;
}

static kp_manager *open_queues(void) {
    kp_manager *first = NULL, *mgr = NULL;
    OK(kp_manager_create(NULL, &first));
    kp_device_info device = gpu_device(first);
    kp_manager_destroy(first);
    uint32_t families[MAX_QUEUES];
    uint32_t count = list_families(&device, families);
    OK(kp_manager_create(&(kp_manager_desc){.queue_families = families, .queue_family_count = count}, &mgr));
    assert_int_equal(kp_manager_queue_count(mgr), count);
    assert_true(count >= least_queues);
    return mgr;
}

static kp_sequence *on_queue(kp_manager *mgr, uint32_t queue) {
    kp_sequence *seq = NULL;
    OK(kp_sequence_create(mgr, &(kp_sequence_desc){.queue = queue % kp_manager_queue_count(mgr)}, &seq));
    return seq;
}

static kp_algorithm *adder(kp_manager *mgr, kp_tensor *x, kp_tensor *y) {
    return gpu_algorithm(mgr, slow_add,
                         &(kp_algorithm_desc){.memory = LIST(x, y), .memory_count = 2, .extent = {COUNT}});
}

static void expect(const kp_tensor *tensor, float value) {
    const float *data = kp_tensor_data(tensor);
    for (unsigned i = 0; i < COUNT; i++) {
        if (data[i] != value)
            fail_msg("element %u is %g, not %g", i, (double)data[i], (double)value);
    }
}

// x -> y on one queue, y -> x on the next, and so on, all in flight at once.
static void dependent_work_on_different_queues_is_ordered(void **state) {
    kp_manager *mgr = *state = open_queues();
    kp_tensor *x = gpu_floats(mgr, "x", COUNT, NULL), *y = gpu_floats(mgr, "y", COUNT, NULL);
    kp_algorithm *there = adder(mgr, x, y), *back = adder(mgr, y, x);
    kp_sequence *up = on_queue(mgr, 0), *down = on_queue(mgr, 1), *seqs[MAX_QUEUES];
    OK(kp_record_sync_device(up, LIST(x, y), 2));
    OK(kp_sequence_eval_async(up));
    for (uint32_t q = 0; q < MAX_QUEUES; q++) {
        seqs[q] = on_queue(mgr, q);
        OK(kp_record_dispatch(seqs[q], q % 2 == 0 ? there : back, NULL));
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (uint32_t q = 0; q < MAX_QUEUES; q++) {
            if (round != 0)
                OK(kp_sequence_await(seqs[q], UINT64_MAX));
            OK(kp_sequence_eval_async(seqs[q]));
        }
    }
    OK(kp_record_sync_local(down, LIST(x), 1));
    OK(kp_sequence_eval(down)); // waits for all of it
    expect(x, (float)(ROUNDS * MAX_QUEUES));
    for (uint32_t q = 0; q < MAX_QUEUES; q++) {
        OK(kp_sequence_await(seqs[q], UINT64_MAX));
        kp_sequence_destroy(seqs[q]);
    }
    kp_sequence_destroy(up);
    kp_sequence_destroy(down);
    kp_algorithm_destroy(there);
    kp_algorithm_destroy(back);
    kp_tensor_destroy(x);
    kp_tensor_destroy(y);
}

// A writer waits for readers on other queues too.
static void a_writer_waits_for_readers_on_other_queues(void **state) {
    kp_manager *mgr = *state = open_queues();
    kp_tensor *x = gpu_floats(mgr, "x", COUNT, NULL), *zero = gpu_floats(mgr, "zero", COUNT, NULL);
    kp_tensor *outs[MAX_QUEUES];
    kp_algorithm *read[MAX_QUEUES];
    kp_sequence *readers[MAX_QUEUES], *writer = on_queue(mgr, 0);
    for (uint32_t q = 0; q < MAX_QUEUES; q++) {
        outs[q] = gpu_floats(mgr, "out", COUNT, NULL);
        read[q] = adder(mgr, x, outs[q]);
        readers[q] = on_queue(mgr, q);
    }
    OK(kp_record_sync_device(writer, LIST(x, zero), 2));
    OK(kp_sequence_eval(writer));
    for (unsigned round = 0; round < ROUNDS / 4; round++) {
        for (uint32_t q = 0; q < MAX_QUEUES; q++) {
            OK(kp_record_dispatch(readers[q], read[q], NULL));
            OK(kp_record_sync_local(readers[q], &outs[q], 1));
            OK(kp_sequence_eval_async(readers[q]));
        }
        OK(kp_record_copy(writer, LIST(outs[0], x), 2)); // x becomes x + 1, when all have read it
        OK(kp_sequence_eval_async(writer));
        for (uint32_t q = 0; q < MAX_QUEUES; q++) {
            OK(kp_sequence_await(readers[q], UINT64_MAX));
            expect(outs[q], (float)(round + 1));
        }
        OK(kp_sequence_await(writer, UINT64_MAX));
    }
    for (uint32_t q = 0; q < MAX_QUEUES; q++) {
        kp_sequence_destroy(readers[q]);
        kp_algorithm_destroy(read[q]);
        kp_tensor_destroy(outs[q]);
    }
    kp_sequence_destroy(writer);
    kp_tensor_destroy(x);
    kp_tensor_destroy(zero);
}

// Reading on the host what another queue's work in flight writes needs a sync, and nothing else.
static void a_sync_waits_for_work_on_another_queue(void **state) {
    kp_manager *mgr = *state = open_queues();
    kp_tensor *x = gpu_floats(mgr, "x", COUNT, NULL), *y = gpu_floats(mgr, "y", COUNT, NULL);
    kp_algorithm *add = adder(mgr, x, y);
    kp_sequence *work = on_queue(mgr, 0), *sync = on_queue(mgr, 1);
    for (unsigned i = 0; i < 20; i++) {
        ((float *)kp_tensor_data(x))[COUNT - 1] = (float)i;
        OK(kp_record_sync_device(work, &x, 1));
        OK(kp_record_dispatch(work, add, NULL));
        OK(kp_sequence_eval_async(work));
        OK(kp_record_sync_local(sync, &y, 1));
        OK(kp_sequence_eval(sync));
        assert_true(((const float *)kp_tensor_data(y))[COUNT - 1] == (float)(i + 1));
        OK(kp_sequence_await(work, UINT64_MAX));
    }
    kp_sequence_destroy(work);
    kp_sequence_destroy(sync);
    kp_algorithm_destroy(add);
    kp_tensor_destroy(x);
    kp_tensor_destroy(y);
}

// The first family that copies and does not compute, or the number of families.
static uint32_t copy_family(const kp_device_info *device) {
    uint32_t f = 0;
    while (f < device->queue_family_count && (device->queue_families[f].compute || !device->queue_families[f].transfer))
        f++;
    return f;
}

// Uploads and downloads go by the queue for copies, in order with the work of the other; kernels do not run there.
static void a_queue_for_copies_takes_the_arrays(void **state) {
    kp_manager *first = NULL, *mgr = NULL;
    OK(kp_manager_create(NULL, &first));
    kp_device_info device = gpu_device(first);
    kp_manager_destroy(first);
    uint32_t all[MAX_QUEUES] = {0};
    list_families(&device, all);
    const uint32_t families[2] = {all[0], copy_family(&device)};
    assert_true(least_queues == 1 || families[1] < device.queue_family_count);
    if (families[1] == device.queue_family_count) {
        FAILS(kp_manager_create(&(kp_manager_desc){.queue_families = families, .queue_family_count = 2}, &mgr),
              KP_ERROR_ARGUMENT, "*: there is no queue family *");
        return;
    }
    OK(kp_manager_create(&(kp_manager_desc){.queue_families = families, .queue_family_count = 2}, &mgr));
    *state = mgr;
    kp_tensor *x = gpu_floats(mgr, "x", COUNT, NULL), *y = gpu_floats(mgr, "y", COUNT, NULL);
    kp_algorithm *add = adder(mgr, x, y);
    kp_sequence *work = on_queue(mgr, 0), *copies = on_queue(mgr, 1);
    kp_tensor *large = gpu_floats(mgr, "large", LARGE, NULL), *part = NULL;
    OK(kp_tensor_view(large, &(kp_tensor_view_desc){.first = LARGE - COUNT, .count = COUNT}, &part));
    kp_algorithm *take = adder(mgr, part, y);
    float *in = calloc(LARGE, sizeof *in), *out = calloc(COUNT, sizeof *out);
    assert_true(in != NULL && out != NULL);
    OK(kp_record_dispatch(work, take, NULL));
    FAILS(kp_record_dispatch(copies, add, NULL), KP_ERROR_ARGUMENT,
          "sequence 'sequence': queue 1 only copies, algorithm '*' needs one that computes");
    for (unsigned round = 0; round < 20; round++) {
        for (unsigned i = 0; i < COUNT; i++)
            in[LARGE - COUNT + i] = (float)(round * i % 1000);
        OK(kp_tensor_upload(large, in, LARGE * sizeof *in));
        OK(kp_sequence_eval_async(work));
        OK(kp_tensor_download(y, out, COUNT * sizeof *out));
        for (unsigned i = 0; i < COUNT; i++)
            assert_true(out[i] == in[LARGE - COUNT + i] + 1.0f);
        OK(kp_sequence_await(work, UINT64_MAX));
    }
    kp_image *image = NULL;
    OK(kp_image_create(mgr, &(kp_image_desc){.width = COUNT}, &image));
    kp_result result = kp_record_copy_region(copies, image, x, NULL);
    if (result != KP_OK)
        gpu_fails(result, KP_ERROR_UNSUPPORTED,
                  "sequence 'sequence': queue 1 copies images whole, or in blocks of *; record it for another",
                  "kp_record_copy_region", __FILE__, __LINE__);
    OK(kp_sequence_clear(copies));
    OK(kp_record_fill(copies, x, &(float){7.0f})); // all that is no kernel runs there
    OK(kp_record_copy(copies, LIST(x, y), 2));
    OK(kp_record_barrier(copies, LIST(x, y), 2));
    OK(kp_record_sync_local(copies, LIST(y), 1));
    OK(kp_sequence_eval(copies));
    expect(y, 7.0f);
    free(in);
    free(out);
    kp_image_destroy(image);
    kp_sequence_destroy(work);
    kp_sequence_destroy(copies);
    kp_algorithm_destroy(add);
    kp_algorithm_destroy(take);
    kp_tensor_destroy(part);
    kp_tensor_destroy(large);
    kp_tensor_destroy(x);
    kp_tensor_destroy(y);
}

static void queues_that_are_not_there_are_refused(void **state) {
    (void)state;
    kp_manager *first = NULL, *mgr = NULL;
    OK(kp_manager_create(NULL, &first));
    kp_device_info device = gpu_device(first);
    FAILS(kp_sequence_create(first, &(kp_sequence_desc){.queue = 1}, &(kp_sequence *){NULL}), KP_ERROR_INDEX,
          "sequence 'sequence': there is no queue 1, the manager has 1");
    kp_manager_destroy(first);
    uint32_t many[257] = {0};
    char words[128];
    snprintf(words, sizeof words, "*: queue family 0 was asked for %u queues and has %u; families that compute: 0*",
             device.queue_families[0].count + 1, device.queue_families[0].count);
    assert_in_range(device.queue_families[0].count, 1, 256);
    FAILS(kp_manager_create(
              &(kp_manager_desc){.queue_families = many, .queue_family_count = device.queue_families[0].count + 1u},
              &mgr),
          KP_ERROR_ARGUMENT, words);
    many[0] = device.queue_family_count;
    snprintf(words, sizeof words, "*: there is no queue family %u; families that compute: *", many[0]);
    FAILS(kp_manager_create(&(kp_manager_desc){.queue_families = many, .queue_family_count = 1}, &mgr),
          KP_ERROR_ARGUMENT, words);
}

// Nothing was asked for, and yet large arrays go by a queue for copies where there is one, in order with kernels in
// flight that use the same tensor.
static void large_arrays_find_a_queue_for_copies(void **state) {
    enum { SMALL = 1 << 10 };
    static const char add_one[] = "layout(local_size_x = 64) in;\n"
                                  "layout(binding = 0) readonly buffer X { uint x[]; };\n"
                                  "layout(binding = 1) buffer Y { uint y[]; };\n"
                                  "void main() { y[gl_GlobalInvocationID.x] = x[gl_GlobalInvocationID.x] + 1; }\n";
    kp_manager *mgr = NULL;
    OK(kp_manager_create(&(kp_manager_desc){.unified = KP_OFF}, &mgr));
    *state = mgr;
    assert_int_equal(kp_manager_queue_count(mgr), 1);
    kp_tensor *x = NULL, *y = NULL, *few = NULL;
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_U32, .count = LARGE, .label = "x"}, &x));
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_U32, .count = LARGE, .label = "y"}, &y));
    OK(kp_tensor_view(x, &(kp_tensor_view_desc){.first = SMALL, .count = SMALL}, &few));
    kp_algorithm *there =
        gpu_algorithm(mgr, add_one, &(kp_algorithm_desc){.memory = LIST(x, y), .memory_count = 2, .extent = {LARGE}});
    kp_algorithm *back =
        gpu_algorithm(mgr, add_one, &(kp_algorithm_desc){.memory = LIST(y, x), .memory_count = 2, .extent = {LARGE}});
    kp_sequence *work = gpu_sequence(mgr);
    OK(kp_record_dispatch(work, there, NULL));
    OK(kp_record_dispatch(work, back, NULL));
    uint32_t *in = calloc(LARGE, sizeof *in), *out = calloc(LARGE, sizeof *out);
    assert_non_null(in);
    assert_non_null(out);
    unsigned before = layer_copies != NULL ? atomic_load(layer_copies) : 0;
    for (uint32_t round = 0; round < 4; round++) {
        for (uint32_t i = 0; i < LARGE; i++)
            in[i] = i * 2654435761u + round;
        OK(kp_tensor_upload(x, in, LARGE * sizeof *in));
        OK(kp_sequence_eval_async(work));
        OK(kp_tensor_upload(few, in, SMALL * sizeof *in)); // behind the kernels, and before what comes now
        OK(kp_tensor_download(x, out, LARGE * sizeof *out));
        OK(kp_sequence_await(work, UINT64_MAX));
        for (uint32_t i = 0; i < LARGE; i++) {
            uint32_t right = i >= SMALL && i < 2 * SMALL ? in[i - SMALL] : in[i] + 2;
            if (out[i] != right)
                fail_msg("round %u: element %u is %u, not %u", round, i, out[i], right);
        }
    }
    if (layer_copies != NULL)
        assert_int_equal(atomic_load(layer_copies) - before, 4 * 2); // one piece up, one down
    free(in);
    free(out);
    kp_sequence_destroy(work);
    kp_algorithm_destroy(there);
    kp_algorithm_destroy(back);
    kp_tensor_destroy(few);
    kp_tensor_destroy(x);
    kp_tensor_destroy(y);
}

// A program that asks for uses runs everywhere, be they queues of their own or the same one.
static void uses_are_met_on_every_device(void **state) {
    const uint32_t uses[] = {KP_FAMILY_COMPUTE, KP_FAMILY_TRANSFER, KP_FAMILY_COMPUTE};
    kp_manager *mgr = NULL;
    OK(kp_manager_create(&(kp_manager_desc){.queue_families = uses, .queue_family_count = 3}, &mgr));
    *state = mgr;
    kp_device_info device = gpu_device(mgr);
    assert_int_equal(kp_manager_queue_count(mgr), 3);
    for (uint32_t i = 0; i < 3; i++) {
        VkQueue queue;
        uint32_t family;
        OK(kp_vulkan_from_queue(mgr, i, &queue, &family));
        assert_true(device.queue_families[family].compute || i == 1);
        assert_true(least_queues == 1 || device.queue_families[family].compute == (i != 1));
    }
    kp_tensor *x = gpu_floats(mgr, "x", COUNT, NULL), *y = gpu_floats(mgr, "y", COUNT, NULL);
    kp_algorithm *add = adder(mgr, x, y);
    kp_sequence *work[2] = {on_queue(mgr, 0), on_queue(mgr, 2)}, *copies = on_queue(mgr, 1);
    OK(kp_record_copy(copies, LIST(y, x), 2));
    OK(kp_record_sync_device(work[0], LIST(x, y), 2));
    OK(kp_sequence_eval(work[0]));
    for (unsigned k = 0; k < 2; k++)
        OK(kp_record_dispatch(work[k], add, NULL));
    for (unsigned round = 0; round < 40; round++) { // x becomes x + 1 each time
        OK(kp_sequence_eval_async(work[round % 2]));
        OK(kp_sequence_eval_async(copies));
        OK(kp_sequence_await(work[round % 2], UINT64_MAX));
        OK(kp_sequence_await(copies, UINT64_MAX));
    }
    OK(kp_record_sync_local(copies, &x, 1));
    OK(kp_sequence_eval(copies));
    expect(x, 40.0f);
    kp_sequence_destroy(work[0]);
    kp_sequence_destroy(work[1]);
    kp_sequence_destroy(copies);
    kp_algorithm_destroy(add);
    kp_tensor_destroy(x);
    kp_tensor_destroy(y);
}

static void too_many_queues_are_refused(void **state) {
    (void)state;
    uint32_t uses[257];
    kp_manager *mgr = NULL;
    for (unsigned i = 0; i < 257; i++)
        uses[i] = KP_FAMILY_COMPUTE;
    FAILS(kp_manager_create(&(kp_manager_desc){.queue_families = uses, .queue_family_count = 257, .label = "m"}, &mgr),
          KP_ERROR_LIMIT, "m: at most 256 queues, 257 were asked for");
}

// `four`: there are four queues, or the tests would prove little.
int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "four") == 0) {
        void *library = dlopen(KP_QUEUES_LIBRARY, RTLD_NOW);
        least_queues = MAX_QUEUES;
        layer_copies = library != NULL ? dlsym(library, "kp_queues_layer_copies") : NULL;
        if (layer_copies == NULL) {
            printf("queues: %s\n", dlerror());
            return 1;
        }
    }
    const struct CMUnitTest tests[] = {
        GPU_BARE(dependent_work_on_different_queues_is_ordered),
        GPU_BARE(a_writer_waits_for_readers_on_other_queues),
        GPU_BARE(a_sync_waits_for_work_on_another_queue),
        GPU_BARE(a_queue_for_copies_takes_the_arrays),
        GPU_BARE(queues_that_are_not_there_are_refused),
        GPU_BARE(large_arrays_find_a_queue_for_copies),
        GPU_BARE(uses_are_met_on_every_device),
        GPU_BARE(too_many_queues_are_refused),
    };
    return gpu_run("queues", tests);
}
