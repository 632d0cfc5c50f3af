"""How fast is the article's multiply through the classic API, from pyshader's bytes?

Three sides take turns on the same 2^24 float32 numbers: kp as it comes; kp with regrouping switched off
(KP_REGROUP=0, in a process of its own: the article's way, one workgroup of one invocation an element); and NumPy, as
`a * b`, which makes a new array each time, and as multiply(out=), into one that is there already. Timed is sq.eval() of
a sequence that holds the one dispatch: the data is on the device before and stays there.
"""

# To checkers a kernel looks odd: the defaults of its parameters are types, and the language's names need no import.
# ruff: noqa: B008
# mypy: ignore-errors

import os
import subprocess
import sys

import measure

# Without regrouping there is a workgroup for each element, and devices may take only 65,535 in a dispatch.
PIECE = 1 << 15


def prepare(count: int, piece: int):
    """The recorded sequence, and what keeps it alive: a dispatch for each `piece` of the arrays. The products are right."""
    import kp
    import numpy as np
    import pyshader as ps

    @ps.python2shader
    def compute_multiply(
        index=("input", "GlobalInvocationId", ps.ivec3),
        data1=("buffer", 0, ps.Array(ps.f32)),
        data2=("buffer", 1, ps.Array(ps.f32)),
        data3=("buffer", 2, ps.Array(ps.f32)),
    ):
        i = index.x
        data3[i] = data1[i] * data2[i]

    mgr = kp.Manager()
    a = np.arange(count, dtype=np.float32) % 1000
    b = np.arange(count, dtype=np.float32) % 7 + 1
    kept = [mgr]
    sequence = mgr.create_sequence()
    sequence.begin()
    for start in range(0, count, piece):
        part = slice(start, start + piece)
        tensors = [kp.Tensor(a[part]), kp.Tensor(b[part]), kp.Tensor(np.zeros_like(a[part]))]
        mgr.eval_tensor_create_def(tensors)
        sequence.record_algo_data(tensors, compute_multiply.to_spirv())
        kept.append(tensors)
    sequence.end()
    sequence.eval()
    out = kept[-1][2]
    mgr.eval_tensor_sync_local_def([out])
    for i in range(-1, -len(out), -max(1, len(out) // 997)):
        assert out[i] == a[i] * b[i], f"element {i} is {out[i]}, not {a[i] * b[i]}"
    return sequence, a, b, kept


def serve(count: int) -> None:
    """The process without regrouping: for each line on stdin, evaluates once and answers how many seconds that took."""
    sequence, *_kept = prepare(count, PIECE)
    print("ready", flush=True)
    for _ in sys.stdin:
        print(warm_seconds(sequence.eval), flush=True)


def warm_seconds(work) -> float:
    """Of one of three calls, behind one that does not count: what another side left in the caches is not its cost."""
    work()
    return measure.seconds(work, 3)


def main() -> None:
    args = measure.arguments(__doc__, elements=1 << 24, serve=0)
    if args.serve:
        return serve(args.elements)

    import numpy as np

    sequence, a, b, _kept = prepare(args.elements, args.elements)
    product = np.multiply(a, b)
    command = [sys.executable, __file__, "--serve", "1", "--elements", str(args.elements)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=os.environ | {"KP_REGROUP": "0"}) as other:
        assert other.stdin and other.stdout
        assert other.stdout.readline() == "ready\n"

        def ungrouped() -> float:
            print(file=other.stdin, flush=True)
            return float(other.stdout.readline())

        kp, numpy, into = measure.interleave(
            [
                lambda: warm_seconds(sequence.eval),
                lambda: warm_seconds(lambda: a * b),
                lambda: warm_seconds(lambda: np.multiply(a, b, out=product)),
            ],
            measure.fewer(args, 30),
        )
        kp_beside, off = measure.interleave([lambda: warm_seconds(sequence.eval), ungrouped], measure.fewer(args, 7))
        other.stdin.close()
    measure.report(
        args,
        measure.Row("the article's multiply, dispatched", "ms", "NumPy, a * b", "ratio <= 1.5"),
        kp,
        numpy,
    )
    measure.report(args, measure.Row("the article's multiply, dispatched", "ms", "NumPy, multiply(out=)", ""), kp, into)
    measure.report(
        args,
        measure.Row("the article's multiply, dispatched", "ms", "KP_REGROUP=0", "ratio <= 0.025"),
        kp_beside,
        off,
    )


if __name__ == "__main__":
    main()
