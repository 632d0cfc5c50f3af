"""How fast do CuPy's multiply and a device-to-device copy run on the same GPU? GB/s, for bench/gpu.sh to set beside
bench/multiply; not one of bench/run.py's, since it needs CUDA.
"""

import sys
from collections.abc import Callable

import measure


def main() -> int:
    args = measure.arguments(__doc__, elements=1 << 28, launches=10)
    try:
        import cupy as cp
    except ImportError as error:
        print(f"no CuPy here: {error}", file=sys.stderr)
        return 77

    a = cp.full(args.elements, 2, cp.float32)
    b = cp.full(args.elements, 3, cp.float32)
    out = cp.empty_like(a)

    def rate(work: Callable[[], object], arrays: int) -> list[float]:
        """GB/s of `launches` in a row, by the device's own events, once for each round."""
        rates = []
        for round_ in range(measure.fewer(args, 30) + 1):
            start, end = cp.cuda.Event(), cp.cuda.Event()
            start.record()
            for _ in range(args.launches):
                work()
            end.record()
            end.synchronize()
            seconds = cp.cuda.get_elapsed_time(start, end) * 1e-3 / args.launches
            if round_ > 0:
                rates.append(arrays * 4e-9 * args.elements / seconds)
        return rates

    measure.report(
        args, measure.Row("CuPy's multiply, by device events", "GB/s"), rate(lambda: cp.multiply(a, b, out=out), 3)
    )
    assert float(out[-1]) == 6.0
    copy = rate(lambda: out.data.copy_from_device_async(a.data, a.nbytes, cp.cuda.get_current_stream()), 2)
    measure.report(args, measure.Row("CUDA's device-to-device copy", "GB/s"), copy)
    return 0


if __name__ == "__main__":
    sys.exit(main())
