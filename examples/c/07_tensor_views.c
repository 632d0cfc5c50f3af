// 07 views: parts of a tensor are tensors too, of the same memory. Each row of a table is filled on the device, one is
// scaled by a kernel, and one sync brings all of them back. You should see
//
//     1 2 30 4

#include "example.h"

enum { ROWS = 4, COLUMNS = 64 }; // 256 bytes a row: a view may be bound from there on any device

int main(void) {
    kp_manager *mgr;
    check(kp_manager_create(NULL, &mgr));
    kp_tensor *table, *row[ROWS];
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.ndim = 2, .shape = {ROWS, COLUMNS}}, &table));
    for (uint64_t i = 0; i < ROWS; i++)
        check(kp_tensor_view(table, &(kp_tensor_view_desc){.first = i * COLUMNS, .count = COLUMNS}, &row[i]));

    kp_program *program;
    check(kp_compile("def scale(i: Index, factor: f32, x: Array[f32]):\n"
                     "    x[i] = factor * x[i]\n",
                     NULL, &program));
    kp_algorithm *scale;
    check(kp_algorithm_create(
        mgr,
        &(kp_algorithm_desc){
            .program = program, .memory = &row[2], .memory_count = 1, .push = &(float){10}, .push_size = sizeof(float)},
        &scale));

    kp_sequence *seq;
    check(kp_sequence_create(mgr, NULL, &seq));
    for (int i = 0; i < ROWS; i++)
        check(kp_record_fill(seq, row[i], &(float){(float)(i + 1)}));
    check(kp_record_dispatch(seq, scale, NULL));
    check(kp_record_sync_local(seq, &table, 1));
    check(kp_sequence_eval(seq));

    const float *x = kp_tensor_data(table);
    printf("%g %g %g %g\n", x[0], x[COLUMNS], x[2 * COLUMNS], x[3 * COLUMNS]);

    kp_sequence_destroy(seq);
    kp_algorithm_destroy(scale);
    for (int i = 0; i < ROWS; i++)
        kp_tensor_destroy(row[i]);
    kp_tensor_destroy(table);
    kp_program_destroy(program);
    kp_manager_destroy(mgr);
    return 0;
}
