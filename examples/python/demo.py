"""What `make demo` runs: the article's logistic regression, trained on the best device of this machine.

You should see the device, the loss going down, w near (0.0003, 1.587) and b near -0.794, the article's inference example giving
0.731, and how long a step took.
"""

import math
import time

import kp
import pyshader as ps

STEPS = 100
LEARNING_RATE = 0.1


@ps.python2shader
def compute_gradients(
    index=("input", "GlobalInvocationId", ps.ivec3),
    x_i=("buffer", 0, ps.Array(ps.f32)),
    x_j=("buffer", 1, ps.Array(ps.f32)),
    y=("buffer", 2, ps.Array(ps.f32)),
    w_in=("buffer", 3, ps.Array(ps.f32)),
    w_out_i=("buffer", 4, ps.Array(ps.f32)),
    w_out_j=("buffer", 5, ps.Array(ps.f32)),
    b_in=("buffer", 6, ps.Array(ps.f32)),
    b_out=("buffer", 7, ps.Array(ps.f32)),
    l_out=("buffer", 8, ps.Array(ps.f32)),
    M=("buffer", 9, ps.Array(ps.f32)),
):
    i = index.x
    m = M[0]

    w_curr = vec2(w_in[0], w_in[1])
    b_curr = b_in[0]
    x_curr = vec2(x_i[i], x_j[i])
    y_curr = y[i]

    # predict
    z_dot = w_curr @ x_curr
    z = z_dot + b_curr
    y_hat = 1.0 / (1.0 + exp(-z))

    # derivatives
    d_z = y_hat - y_curr
    d_w = (1.0 / m) * x_curr * d_z
    d_b = (1.0 / m) * d_z

    # log loss
    loss = -((y_curr * log(y_hat)) + ((1.0 - y_curr) * log(1.0 - y_hat)))

    w_out_i[i] = d_w.x
    w_out_j[i] = d_w.y
    b_out[i] = d_b
    l_out[i] = loss


@ps.python2shader
def compute_predict(
    index=("input", "GlobalInvocationId", ps.ivec3),
    x_i=("buffer", 0, ps.Array(ps.f32)),
    x_j=("buffer", 1, ps.Array(ps.f32)),
    w=("buffer", 2, ps.Array(ps.f32)),
    b=("buffer", 3, ps.Array(ps.f32)),
    y_hat=("buffer", 4, ps.Array(ps.f32)),
):
    i = index.x
    z = vec2(w[0], w[1]) @ vec2(x_i[i], x_j[i]) + b[0]
    y_hat[i] = 1.0 / (1.0 + exp(-z))


def show_device(mgr):
    device = mgr.device
    print(f"device   {device.name}")
    print(f"driver   {device.driver}")
    if device.type == "cpu":
        print("         This is a CPU driver: no GPU was found, so the kernels run on the processor.")


def train(mgr):
    """The loss before each step, the learned w and b, and the seconds that a step took."""
    x_i = kp.Tensor([0.0, 1.0, 1.0, 1.0, 1.0])
    x_j = kp.Tensor([0.0, 0.0, 0.0, 1.0, 1.0])
    y = kp.Tensor([0.0, 0.0, 0.0, 1.0, 1.0])
    w_in, b_in = kp.Tensor([0.001, 0.001]), kp.Tensor([0.0])
    w_out_i, w_out_j, b_out, l_out = (kp.Tensor([0.0] * 5) for _ in range(4))
    m = kp.Tensor([y.size()])
    params = [x_i, x_j, y, w_in, w_out_i, w_out_j, b_in, b_out, l_out, m]

    mgr.eval_tensor_create_def(params)
    sq = mgr.create_sequence()
    sq.begin()
    sq.record_tensor_sync_device([w_in, b_in])
    sq.record_algo_data(params, compute_gradients.to_spirv())
    sq.record_tensor_sync_local([w_out_i, w_out_j, b_out, l_out])
    sq.end()

    losses, seconds = [], []
    for _ in range(STEPS):
        start = time.perf_counter()
        sq.eval()
        w_in[0] -= LEARNING_RATE * sum(w_out_i)
        w_in[1] -= LEARNING_RATE * sum(w_out_j)
        b_in[0] -= LEARNING_RATE * sum(b_out)
        seconds.append(time.perf_counter() - start)
        losses.append(sum(l_out) / l_out.size())
    return losses, w_in.data(), b_in.data()[0], sorted(seconds)[STEPS // 2]


def predict(mgr, w, b, x):
    """What the model says of one x, computed on the device."""
    tensors = [kp.Tensor([x[0]]), kp.Tensor([x[1]]), kp.Tensor(list(w)), kp.Tensor([b]), kp.Tensor([0.0])]
    mgr.eval_tensor_create_def(tensors)
    mgr.eval_algo_data_def(tensors, compute_predict.to_spirv())
    mgr.eval_tensor_sync_local_def(tensors[-1:])
    return tensors[-1][0]


def plot(values, width=50, height=8):
    """A curve as lines of text, the largest value at the top."""
    low, high = min(values), max(values)
    columns = [values[x * (len(values) - 1) // (width - 1)] for x in range(width)]
    rows = [round((value - low) / (high - low or 1.0) * (height - 1)) for value in columns]
    for row in range(height - 1, -1, -1):
        edge = {height - 1: f"{high:.3f}", 0: f"{low:.3f}"}.get(row, "")
        print(f"{edge:>8} |" + "".join("*" if r == row else " " for r in rows).rstrip())
    print(" " * 9 + "+" + "-" * width)
    print(" " * 10 + "step 0" + f"{f'step {len(values) - 1}':>{width - 6}}")


def main():
    mgr = kp.Manager()
    show_device(mgr)

    losses, w, b, step = train(mgr)
    print(f"\nloss of the article's logistic regression, {STEPS} steps:\n")
    plot(losses)
    print(f"\nlearned  w = ({w[0]:.5f}, {w[1]:.5f}), b = {b:.5f}")
    assert abs(w[1] - 1.587) < 0.01 and abs(b + 0.794) < 0.01, "not what the article's data give"

    inferred = predict(mgr, (1.0, 1.0), 0.0, (0.0, 1.0))
    print(f"inferred {inferred:.3f}  from w = (1, 1), b = 0, x = (0, 1), as in the article")
    assert abs(inferred - 1.0 / (1.0 + math.exp(-1.0))) < 1e-3
    print(f"a step   {step * 1e6:.0f} us, device and Python together")


if __name__ == "__main__":
    main()
