#!/usr/bin/env python3
"""From which size on is it quicker to copy by a queue of its own, and through the staging memory? Both ways at each size.

kp changes its way with the size of an array, at two places: from 1 MiB on `upload` and `download` use a queue that only copies
(COPIES_FROM in src/runtime/staging.c), and above 4 MiB a kernel that is called with NumPy arrays moves them as these two do, in
pieces and by several threads, and no longer with a copy into the host side and a sync (LARGE in python/ext/arrays.c).

The first rows: a sync of a tensor on the queue for copies, and then a kernel on the first queue, which has to wait for the other;
the peer has both on the first. Where no family only copies there are none. The next rows: array to device, kernel, device to
array, by upload and download, and by the host side. A threshold is right where the ratio goes through 1. The last rows are calls of
the kernel as users write them, against the better of the two ways: a ratio far above 1 says that kp took the worse one.
"""

import argparse
import functools
import statistics
from collections.abc import Callable

import kp
import measure
import numpy as np
from kp.lang import Array, Index, f32

KIB = (64, 256, 512, 1024, 2048, 4096, 8192, 16384, 65536)


@kp.kernel
def add(i: Index, x: Array[f32]):
    x[i] = x[i] + 1.0


def size(kib: int) -> str:
    return f"{kib // 1024} MiB" if kib >= 1024 else f"{kib} KiB"


def rounds_of(args: argparse.Namespace, kib: int) -> int:
    return measure.fewer(args, 40 if kib <= 4096 else 10)


def samplers(*work: Callable[[], object]) -> list[Callable[[], float]]:
    return [functools.partial(measure.seconds, each) for each in work]


def queues(args: argparse.Namespace) -> None:
    """Sync, then a kernel that needs what it brought."""
    mgr = kp.Manager(0, ["compute", "transfer"])
    if all(family.compute or not family.transfer for family in mgr.device.queue_families):
        return
    for kib in KIB:
        x = mgr.zeros(kib * 256)
        kernel = mgr.sequence(0).record(kp.OpAlgoDispatch(add.algorithm(mgr, [x])))
        copies = [mgr.sequence(queue).record(kp.OpSyncDevice([x])) for queue in (1, 0)]

        def run(copy: kp.Sequence, kernel: kp.Sequence = kernel) -> None:
            copy.eval()
            kernel.eval()

        row = measure.Row(f"{size(kib)} up by the queue for copies, and a kernel", "us", peer="by the first queue")
        work = samplers(*(functools.partial(run, copy) for copy in copies))
        measure.report(args, row, *measure.interleave(work, rounds_of(args, kib)))


def ways(args: argparse.Namespace) -> None:
    mgr = kp.Manager()
    for kib in KIB:
        array = np.zeros(kib * 256, np.float32)
        x = mgr.zeros(array.size)
        algorithm = add.algorithm(mgr, [x])
        kernel = mgr.sequence().record(kp.OpAlgoDispatch(algorithm))
        all_three = mgr.sequence().record(kp.OpSyncDevice([x])).record(kp.OpAlgoDispatch(algorithm))
        all_three.record(kp.OpSyncLocal([x]))
        host = x.data()

        def staged(x: kp.Tensor = x, array: np.ndarray = array, kernel: kp.Sequence = kernel) -> None:
            x.upload(array)
            kernel.eval()
            x.download(array)

        def by_host_side(host: np.ndarray = host, array: np.ndarray = array, seq: kp.Sequence = all_three) -> None:
            host[:] = array
            seq.eval()
            array[:] = host

        row = measure.Row(f"{size(kib)} there and back by upload and download", "us", peer="by the host side")
        work = samplers(staged, by_host_side, functools.partial(add, array))
        values = measure.interleave(work, rounds_of(args, kib))
        measure.report(args, row, values[0], values[1])
        row = measure.Row(f"{size(kib)} in a call of the kernel", "us", peer="the better of the two")
        measure.report(args, row, values[2], min(values[:2], key=statistics.median))


def main() -> None:
    args = measure.arguments(__doc__)
    queues(args)
    ways(args)


main()
