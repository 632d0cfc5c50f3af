"""How long is a training step of the article's logistic regression, beside NumPy doing the same arithmetic?

Five samples are far too few for a device to pay: this is the price of a step's submission and of the article's own
Python loop, and the second pair of rows, on 2^20 samples, is what the device makes of a step that has work in it.
There the sums over the samples are NumPy's on both sides.
"""

# To checkers a kernel looks odd: the defaults of its parameters are types, and the language's names need no import.
# ruff: noqa: B008
# mypy: ignore-errors

import measure
import numpy as np


def kernel():
    import pyshader as ps

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

        w_curr = vec2(w_in[0], w_in[1])  # noqa: F821
        b_curr = b_in[0]
        x_curr = vec2(x_i[i], x_j[i])  # noqa: F821
        y_curr = y[i]

        z_dot = w_curr @ x_curr
        z = z_dot + b_curr
        y_hat = 1.0 / (1.0 + exp(-z))  # noqa: F821

        d_z = y_hat - y_curr
        d_w = (1.0 / m) * x_curr * d_z
        d_b = (1.0 / m) * d_z

        loss = -((y_curr * log(y_hat)) + ((1.0 - y_curr) * log(1.0 - y_hat)))  # noqa: F821

        w_out_i[i] = d_w.x
        w_out_j[i] = d_w.y
        b_out[i] = d_b
        l_out[i] = loss

    return compute_gradients


def gradients(x_i, x_j, y, w, b, m):
    """The kernel's arithmetic, in float32, in NumPy."""
    one = np.float32(1)
    y_hat = one / (one + np.exp(-(w[0] * x_i + w[1] * x_j + b[0])))
    d_z = y_hat - y
    scale = one / m
    loss = -(y * np.log(y_hat) + (one - y) * np.log(one - y_hat))
    return scale * x_i * d_z, scale * x_j * d_z, scale * d_z, loss


class Article:
    """The article's program, as it is written there."""

    def __init__(self, x_i, x_j, y) -> None:
        import kp

        self.mgr = kp.Manager(0)
        zeros = [0.0] * len(y)
        self.w, self.b = kp.Tensor([0.001, 0.001]), kp.Tensor([0.0])
        self.outputs = [kp.Tensor(zeros) for _ in range(4)]
        w_i, w_j, b_out, loss = self.outputs
        m = kp.Tensor([float(len(y))])
        params = [kp.Tensor(x_i), kp.Tensor(x_j), kp.Tensor(y), self.w, w_i, w_j, self.b, b_out, loss, m]
        self.mgr.eval_tensor_create_def(params)
        self.sequence = self.mgr.create_sequence()
        self.sequence.begin()
        self.sequence.record_tensor_sync_device([self.w, self.b])
        self.sequence.record_algo_data(params, kernel().to_spirv())
        self.sequence.record_tensor_sync_local(self.outputs)
        self.sequence.end()

    def step(self) -> None:
        self.sequence.eval()
        w_i, w_j, b_out, _loss = self.outputs
        for j in range(b_out.size()):
            self.w[0] -= 0.1 * w_i.data()[j]
            self.w[1] -= 0.1 * w_j.data()[j]
            self.b[0] -= 0.1 * b_out.data()[j]


class ArticleNumpy:
    """The same in NumPy, with the same loop over the samples."""

    def __init__(self, x_i, x_j, y) -> None:
        self.data = [np.array(values, np.float32) for values in (x_i, x_j, y)]
        self.w, self.b = np.array([0.001, 0.001], np.float32), np.zeros(1, np.float32)
        self.m = np.float32(len(y))

    def step(self) -> None:
        w_i, w_j, b_out, _loss = gradients(*self.data, self.w, self.b, self.m)
        for j in range(len(b_out)):
            self.w[0] -= 0.1 * w_i[j]
            self.w[1] -= 0.1 * w_j[j]
            self.b[0] -= 0.1 * b_out[j]


class Large:
    """A step over many samples, in the object API; the sums over them in NumPy."""

    def __init__(self, x_i, x_j, y) -> None:
        import kp

        mgr = self.mgr = kp.Manager()
        zeros = np.zeros(len(y), np.float32)
        self.w, self.b = mgr.tensor(np.array([0.001, 0.001], np.float32)), mgr.tensor(np.zeros(1, np.float32))
        self.outputs = [mgr.tensor(zeros) for _ in range(4)]
        w_i, w_j, b_out, loss = self.outputs
        m = mgr.tensor(np.array([len(y)], np.float32))
        params = [mgr.tensor(x_i), mgr.tensor(x_j), mgr.tensor(y), self.w, w_i, w_j, self.b, b_out, loss, m]
        mgr.sequence().eval(kp.OpSyncDevice(params))
        self.sequence = (
            mgr.sequence()
            .record(kp.OpSyncDevice([self.w, self.b]))
            .record(kp.OpAlgoDispatch(mgr.algorithm(params, kernel().to_spirv())))
            .record(kp.OpSyncLocal(self.outputs))
        )

    def step(self) -> None:
        self.sequence.eval()
        w_i, w_j, b_out, _loss = (tensor.data() for tensor in self.outputs)
        update(self.w.data(), self.b.data(), w_i, w_j, b_out)


class LargeNumpy(ArticleNumpy):
    def step(self) -> None:
        w_i, w_j, b_out, _loss = gradients(*self.data, self.w, self.b, self.m)
        update(self.w, self.b, w_i, w_j, b_out)


def update(w, b, w_i, w_j, b_out) -> None:
    w[0] -= np.float32(0.1) * w_i.sum()
    w[1] -= np.float32(0.1) * w_j.sum()
    b[0] -= np.float32(0.1) * b_out.sum()


def compare(args, question: str, ours, peer, rounds: int, repeat: int) -> None:
    for _ in range(100):
        ours.step()
        peer.step()
        if repeat == 1:
            break
    w = list(ours.w.data())
    assert np.allclose(w, peer.w, rtol=1e-3, atol=1e-4), f"kp learned {w}, NumPy {peer.w}"
    kp, numpy = measure.interleave(
        [lambda: measure.seconds(ours.step, repeat), lambda: measure.seconds(peer.step, repeat)],
        measure.fewer(args, rounds),
    )
    measure.report(args, measure.Row(question, "us" if repeat > 1 else "ms", "NumPy, the same arithmetic"), kp, numpy)


def main() -> None:
    args = measure.arguments(__doc__, samples=1 << 20)
    samples = [0.0, 1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0, 1.0]
    compare(args, "a training step of the article", Article(*samples), ArticleNumpy(*samples), 100, 10)

    random = np.random.default_rng(1)
    x_i, x_j = random.random((2, args.samples), np.float32)
    y = (x_j > 0.5).astype(np.float32)
    question = f"a training step on {args.samples:,} samples"
    compare(args, question, Large(x_i, x_j, y), LargeNumpy(x_i, x_j, y), 30, 1)


if __name__ == "__main__":
    main()
