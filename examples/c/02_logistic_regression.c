// 02 logistic regression: the article's second program, trained on the device in 100 steps. You should see
//
//     w 0.0003 1.5875 b -0.7940 loss 0.3750

#include "example.h"

static const char kernel[] = //
    "def gradients(i: Index, x_i: Array[f32], x_j: Array[f32], y: Array[f32], w_in: Array[f32], w_out_i: Array[f32],\n"
    "              w_out_j: Array[f32], b_in: Array[f32], b_out: Array[f32], l_out: Array[f32], m: f32):\n"
    "    w = vec2(w_in[0], w_in[1])\n"
    "    x = vec2(x_i[i], x_j[i])\n"
    "    y_hat = 1.0 / (1.0 + exp(-(w @ x + b_in[0])))\n" // predict
    "    d_z = y_hat - y[i]\n"                            // derivatives
    "    d_w = (1.0 / m) * x * d_z\n"
    "    w_out_i[i] = d_w.x\n"
    "    w_out_j[i] = d_w.y\n"
    "    b_out[i] = (1.0 / m) * d_z\n"
    "    l_out[i] = -(y[i] * log(y_hat) + (1.0 - y[i]) * log(1.0 - y_hat))\n"; // log loss

enum { X_I, X_J, Y, W_IN, W_OUT_I, W_OUT_J, B_IN, B_OUT, L_OUT, TENSORS }; // in the order of the kernel's buffers
enum { SAMPLES = 5, STEPS = 100 };

int main(void) {
    const float x_i[SAMPLES] = {0, 1, 1, 1, 1}, x_j[SAMPLES] = {0, 0, 0, 1, 1}, y[SAMPLES] = {0, 0, 0, 1, 1};
    const float w[2] = {0.001f, 0.001f}, b[1] = {0}, m = SAMPLES;
    const float *initial[TENSORS] = {[X_I] = x_i, [X_J] = x_j, [Y] = y, [W_IN] = w, [B_IN] = b};

    kp_manager *mgr;
    check(kp_manager_create(NULL, &mgr));
    kp_tensor *t[TENSORS];
    float *host[TENSORS];
    for (int k = 0; k < TENSORS; k++) {
        uint64_t count = k == W_IN ? 2 : k == B_IN ? 1 : SAMPLES;
        check(kp_tensor_create(mgr, &(kp_tensor_desc){.count = count, .data = initial[k]}, &t[k]));
        host[k] = kp_tensor_data(t[k]);
    }

    kp_program *program;
    check(kp_compile(kernel, NULL, &program));
    kp_algorithm *gradients;
    check(kp_algorithm_create(
        mgr,
        &(kp_algorithm_desc){
            .program = program, .memory = t, .memory_count = TENSORS, .push = &m, .push_size = sizeof m},
        &gradients));

    // The data goes up once; a training step is recorded once and evaluated again and again.
    kp_sequence *upload, *step;
    check(kp_sequence_create(mgr, NULL, &upload));
    check(kp_record_sync_device(upload, t, TENSORS));
    check(kp_sequence_eval(upload));
    check(kp_sequence_create(mgr, NULL, &step));
    check(kp_record_sync_device(step, (kp_memory *[]){t[W_IN], t[B_IN]}, 2));
    check(kp_record_dispatch(step, gradients, NULL));
    check(kp_record_sync_local(step, (kp_memory *[]){t[W_OUT_I], t[W_OUT_J], t[B_OUT], t[L_OUT]}, 4));

    const float learning_rate = 0.1f;
    for (int n = 0; n < STEPS; n++) {
        check(kp_sequence_eval(step));
        for (int j = 0; j < SAMPLES; j++) {
            host[W_IN][0] -= learning_rate * host[W_OUT_I][j];
            host[W_IN][1] -= learning_rate * host[W_OUT_J][j];
            host[B_IN][0] -= learning_rate * host[B_OUT][j];
        }
    }

    float loss = 0;
    for (int j = 0; j < SAMPLES; j++) {
        loss += host[L_OUT][j] / SAMPLES;
    }
    printf("w %.4f %.4f b %.4f loss %.4f\n", host[W_IN][0], host[W_IN][1], host[B_IN][0], loss);

    kp_manager_destroy(mgr); // releases what the device holds; the handles below are then only freed
    for (int k = 0; k < TENSORS; k++) {
        kp_tensor_destroy(t[k]);
    }
    kp_algorithm_destroy(gradients);
    kp_program_destroy(program);
    kp_sequence_destroy(upload);
    kp_sequence_destroy(step);
    return 0;
}
