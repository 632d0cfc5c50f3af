"""How much of a call from Python is kp's own time, and not the driver's?

A Vulkan layer (stub_layer.c, built with the benchmarks; $KP_BENCH_BUILD is their folder) stands between kp and the driver. While samples are
taken it answers at once for vkResetFences, vkQueueSubmit, vkGetFenceStatus and vkWaitForFences, and notes when the first of
them came. So "before the driver" is what passes between the call in Python and the first call of the driver, and "all but the
driver" is the whole call with a driver that takes no time. The work itself is run, and its result checked, before.

The peer is a call of a Python function with as many arguments that does nothing: the least that any call costs.
"""

# To checkers a kernel looks odd: its names come from the language.
# mypy: ignore-errors

import ctypes
import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns

import measure
import numpy as np

BUILD = Path(__file__).resolve().parent.parent / "build" / "release" / "bench"
CALLS = 200  # a sample


def load_layer(folder: Path) -> ctypes.CDLL:
    """Has the loader of Vulkan find the layer. Before kp makes a manager."""
    library = folder / "libkp_stub_layer.so"
    if not library.exists():
        sys.exit(f"{library} is not there: build with -DKP_BENCH=ON, or say where with KP_BENCH_BUILD")
    os.environ["VK_INSTANCE_LAYERS"] = "VK_LAYER_KP_stub"
    os.environ["VK_LAYER_PATH"] = str(folder.parent / "vulkan_layers")
    os.environ["NODEVICE_SELECT"] = "1"  # Mesa's own layer, which may come between
    return ctypes.CDLL(str(library))


class Stub:
    def __init__(self, library: ctypes.CDLL) -> None:
        self.answers = ctypes.c_int32.in_dll(library, "stub_answers")
        self.first = ctypes.c_int64.in_dll(library, "stub_first")
        self.calls = ctypes.c_int64.in_dll(library, "stub_calls")

    def before(self, work: Callable[[], object]) -> Callable[[], float]:
        """A sampler: seconds from the call to the driver's first, the median of some calls."""

        def sample() -> float:
            times = []
            self.answers.value = 1
            for _ in range(CALLS):
                self.first.value = 0
                start = perf_counter_ns()
                work()
                times.append(self.first.value - start)
            self.answers.value = 0
            return sorted(times)[CALLS // 2] * 1e-9

        return sample

    def whole(self, work: Callable[[], object]) -> Callable[[], float]:
        def sample() -> float:
            self.answers.value = 1
            taken = measure.seconds(work, CALLS)
            self.answers.value = 0
            return taken

        return sample


def main() -> None:
    args = measure.arguments(__doc__)
    stub = Stub(load_layer(Path(os.environ.get("KP_BENCH_BUILD", BUILD))))
    import kp
    from kp.lang import Array, Index, f32

    @kp.kernel
    def multiply(i: Index, a: Array[f32], b: Array[f32], out: Array[f32]):
        out[i] = a[i] * b[i]

    @kp.kernel
    def scale(i: Index, factor: f32, x: Array[f32], out: Array[f32]):
        out[i] = factor * x[i]

    mgr = kp.Manager()
    a, b, out = mgr.tensor([2, 3, 4]), mgr.tensor([5, 6, 7]), mgr.tensor([0, 0, 0])
    mgr.sequence().eval(kp.OpSyncDevice([a, b, out]))
    multiply(a, b, out)
    mgr.sequence().eval(kp.OpSyncLocal([out]))
    assert out.data().tolist() == [10, 18, 28]
    assert stub.calls.value > 0, "the layer is not in use"

    arrays = [np.array(numbers, np.float32) for numbers in ([2, 3, 4], [5, 6, 7], [0, 0, 0])]
    for _ in range(2):
        multiply(*arrays)
    assert arrays[2].tolist() == [10, 18, 28]

    algorithm = multiply.algorithm(mgr, [a, b, out])
    sequence = mgr.sequence().record(kp.OpAlgoDispatch(algorithm))
    sequence.eval()
    target = mgr.sequence()
    factors = iter(range(1, 1 << 60))

    def nothing(a: object, b: object, c: object) -> None: ...

    def record() -> None:
        target.record(kp.OpAlgoDispatch(algorithm))

    empty = lambda: nothing(a, b, out)  # noqa: E731
    rows: list[tuple[str, str | None, Callable[[], float]]] = [
        ("a kernel on three tensors, before the driver", "kp <= 5", stub.before(lambda: multiply(a, b, out))),
        ("the same, all but the driver", None, stub.whole(lambda: multiply(a, b, out))),
        (
            "a kernel with a scalar, new each time, before the driver",
            None,
            stub.before(lambda: scale(float(next(factors)), a, out)),
        ),
        ("seq.eval(), before the driver", None, stub.before(sequence.eval)),
        ("seq.eval(), all but the driver", "kp <= 2", stub.whole(sequence.eval)),
        ("seq.record(kp.OpAlgoDispatch(algorithm))", "kp <= 2", stub.whole(record)),
        ("a kernel on three NumPy arrays, before the driver", None, stub.before(lambda: multiply(*arrays))),
        ("the same, all but the driver", None, stub.whole(lambda: multiply(*arrays))),
        (
            "with a scalar, new each time, before the driver",
            None,
            stub.before(lambda: scale(float(next(factors)), arrays[0], arrays[2])),
        ),
    ]
    for question, limit, sampler in rows:
        kp_side, peer = measure.interleave([sampler, stub.whole(empty)], measure.fewer(args, 40))
        measure.report(args, measure.Row(question, "us", "an empty function", limit), kp_side, peer)
    for count, calls in ((1000, 200), (1 << 20, 4), (1 << 24, 1)):
        compare_arrays(args, multiply, mgr, count, calls)


def compare_arrays(args, multiply, mgr, count: int, calls: int) -> None:
    """A call with NumPy arrays, the driver's work included, against the same call with tensors, which copies nothing."""
    arrays = [np.arange(count, dtype=np.float32) for _ in range(3)]
    tensors = [mgr.tensor(array) for array in arrays]
    multiply(*arrays)
    assert np.array_equal(arrays[2], arrays[0] * arrays[1])
    samplers = [
        lambda: measure.seconds(lambda: multiply(*arrays), calls),
        lambda: measure.seconds(lambda: multiply(*tensors), calls),
    ]
    kp_side, peer = measure.interleave(samplers, measure.fewer(args, 10))
    measure.report(
        args, measure.Row(f"a kernel on three arrays of {count:,} floats", "us", "on tensors"), kp_side, peer
    )


if __name__ == "__main__":
    main()
