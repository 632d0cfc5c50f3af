// 17 finding a fault in a kernel: a mistake in its text has a place, a kernel can print, and a checked one finds an
// index out of range. You should see
//
//     k.py:2:12: there is no 'nothing' here: it is neither a parameter, nor assigned in the kernel, nor a name of [...]
//     0 adds 1 and 2
//     1 adds 2 and 4
//     2 adds 4 and 0
//     0 adds 1 and 2
//     1 adds 2 and 4
//     KP_ERROR_INDEX: pairs.py:2:46: index 3 of 'x' is out of range for size 3, in invocation (2, 0, 0) of kernel
//     'pairs'

#include "example.h"

static const char *const pairs = "def pairs(i: Index, x: Array[f32], out: Array[f32]):\n"
                                 "    print(i, 'adds', int(x[i]), 'and', int(x[i + 1]))\n"
                                 "    out[i] = x[i] + x[i + 1]\n"; // the last one has no right neighbour

static void show(void *payload, const char *text, size_t length) {
    (void)payload;
    fwrite(text, 1, length, stdout);
}

static void run(kp_manager *mgr, kp_memory *const memory[2], bool checked) {
    kp_program *program;
    kp_algorithm *algorithm;
    kp_sequence *seq;
    check(kp_compile(pairs, &(kp_compile_desc){.file = "pairs.py", .checked = checked}, &program));
    check(kp_algorithm_create(mgr, &(kp_algorithm_desc){.program = program, .memory = memory, .memory_count = 2},
                              &algorithm));
    check(kp_sequence_create(mgr, NULL, &seq));
    check(kp_record_sync_device(seq, memory, 2));
    check(kp_record_dispatch(seq, algorithm, NULL));
    kp_result result = kp_sequence_eval(seq);
    if (result != KP_OK)
        printf("%s: %s\n", kp_result_name(result), kp_last_error());
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(algorithm);
    kp_program_destroy(program);
}

int main(void) {
    kp_program *wrong;
    if (kp_compile("def k(i: Index, x: Array[f32]):\n"
                   "    x[i] = nothing\n",
                   &(kp_compile_desc){.file = "k.py"}, &wrong) != KP_OK) {
        const kp_diagnostic *d = kp_last_diagnostic();
        printf("%s:%u:%u: %s\n", d->file, (unsigned)d->line, (unsigned)d->column, d->message);
    }

    kp_manager *mgr;
    kp_tensor *memory[2];
    check(kp_manager_create(&(kp_manager_desc){.print = show}, &mgr));
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 3, .data = (float[]){1, 2, 4}}, &memory[0]));
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 3}, &memory[1]));
    run(mgr, memory, false);
    run(mgr, memory, true);
    kp_tensor_destroy(memory[0]);
    kp_tensor_destroy(memory[1]);
    kp_manager_destroy(mgr);
    return 0;
}
