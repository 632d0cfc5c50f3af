"""The article's second program: logistic regression trained on the GPU (Kompute 0.5 and pyshader interfaces).

You should see w near (0.0003, 1.5875), b near -0.794, and a loss of 0.375.
"""
import pyshader as ps
import kp


@ps.python2shader
def compute_gradients(index=("input", "GlobalInvocationId", ps.ivec3),
                      x_i=("buffer", 0, ps.Array(ps.f32)),
                      x_j=("buffer", 1, ps.Array(ps.f32)),
                      y=("buffer", 2, ps.Array(ps.f32)),
                      w_in=("buffer", 3, ps.Array(ps.f32)),
                      w_out_i=("buffer", 4, ps.Array(ps.f32)),
                      w_out_j=("buffer", 5, ps.Array(ps.f32)),
                      b_in=("buffer", 6, ps.Array(ps.f32)),
                      b_out=("buffer", 7, ps.Array(ps.f32)),
                      l_out=("buffer", 8, ps.Array(ps.f32)),
                      M=("buffer", 9, ps.Array(ps.f32))):
    i = index.x
    m = M[0]

    w_curr = vec2(w_in[0], w_in[1])  # noqa: F821  (a language name; needs no import)
    b_curr = b_in[0]
    x_curr = vec2(x_i[i], x_j[i])  # noqa: F821
    y_curr = y[i]

    # predict
    z_dot = w_curr @ x_curr
    z = z_dot + b_curr
    y_hat = 1.0 / (1.0 + exp(-z))  # noqa: F821

    # derivatives
    d_z = y_hat - y_curr
    d_w = (1.0 / m) * x_curr * d_z
    d_b = (1.0 / m) * d_z

    # log loss
    loss = -((y_curr * log(y_hat)) + ((1.0 - y_curr) * log(1.0 - y_hat)))  # noqa: F821

    w_out_i[i] = d_w.x
    w_out_j[i] = d_w.y
    b_out[i] = d_b
    l_out[i] = loss


mgr = kp.Manager(0)

tensor_x_i = kp.Tensor([0.0, 1.0, 1.0, 1.0, 1.0])
tensor_x_j = kp.Tensor([0.0, 0.0, 0.0, 1.0, 1.0])
tensor_y = kp.Tensor([0.0, 0.0, 0.0, 1.0, 1.0])
tensor_w_in = kp.Tensor([0.001, 0.001])
tensor_w_out_i = kp.Tensor([0.0] * 5)
tensor_w_out_j = kp.Tensor([0.0] * 5)
tensor_b_in = kp.Tensor([0.0])
tensor_b_out = kp.Tensor([0.0] * 5)
tensor_l_out = kp.Tensor([0.0] * 5)
tensor_m = kp.Tensor([tensor_y.size()])

params = [tensor_x_i, tensor_x_j, tensor_y, tensor_w_in, tensor_w_out_i,
          tensor_w_out_j, tensor_b_in, tensor_b_out, tensor_l_out, tensor_m]

mgr.eval_tensor_create_def(params)

sq = mgr.create_sequence()
sq.begin()
sq.record_tensor_sync_device([tensor_w_in, tensor_b_in])
sq.record_algo_data(params, compute_gradients.to_spirv())
sq.record_tensor_sync_local([tensor_w_out_i, tensor_w_out_j, tensor_b_out, tensor_l_out])
sq.end()

ITERATIONS = 100
learning_rate = 0.1

for _ in range(ITERATIONS):
    sq.eval()
    for j in range(tensor_b_out.size()):
        tensor_w_in[0] -= learning_rate * tensor_w_out_i.data()[j]
        tensor_w_in[1] -= learning_rate * tensor_w_out_j.data()[j]
        tensor_b_in[0] -= learning_rate * tensor_b_out.data()[j]

print("w", tensor_w_in.data(), "b", tensor_b_in.data(), "loss", sum(tensor_l_out.data()) / 5)
assert 0.0 < tensor_w_in.data()[0] < 0.01
assert 1.58 < tensor_w_in.data()[1] < 1.60
assert -0.80 < tensor_b_in.data()[0] < -0.79
