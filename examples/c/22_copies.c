// 22 copies on the device: a tensor into another one and into an image, a part of the image into a tensor, and a fill.
// Nothing of it goes by the host. You should see
//
//     whole: 0 1 2 3 4 5
//     part:  1 2 4 5
//     fill:  7 7

#include "example.h"

static void show(const char *what, const kp_tensor *x) {
    const float *data = kp_tensor_data(x);
    printf("%-6s", what);
    for (uint64_t i = 0; i < kp_tensor_count(x); i++)
        printf(" %g", (double)data[i]);
    printf("\n");
}

int main(void) {
    kp_manager *mgr;
    kp_tensor *numbers, *whole, *part, *fill;
    kp_image *image;
    kp_sequence *seq;
    check(kp_manager_create(NULL, &mgr));
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 6, .data = (float[]){0, 1, 2, 3, 4, 5}}, &numbers));
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 6}, &whole));
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 4}, &part));
    check(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 2}, &fill));
    check(kp_image_create(mgr, &(kp_image_desc){.width = 3, .height = 2}, &image)); // a row is 0 1 2, the next 3 4 5

    check(kp_sequence_create(mgr, NULL, &seq));
    check(kp_record_sync_device(seq, &numbers, 1));
    check(kp_record_copy(seq, (kp_memory *[]){numbers, whole, image}, 3));
    const kp_copy_region right = {.from = {1, 0, 0}, .size = {2, 2, 1}}; // pixels, x first
    check(kp_record_copy_region(seq, image, part, &right));
    check(kp_record_fill(seq, fill, &(float){7}));
    check(kp_record_sync_local(seq, (kp_memory *[]){whole, part, fill}, 3));
    check(kp_sequence_eval(seq));
    show("whole:", whole);
    show("part:", part);
    show("fill:", fill);

    kp_manager_destroy(mgr);
    kp_sequence_destroy(seq);
    kp_image_destroy(image);
    kp_tensor_destroy(numbers);
    kp_tensor_destroy(whole);
    kp_tensor_destroy(part);
    kp_tensor_destroy(fill);
    return 0;
}
