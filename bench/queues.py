#!/usr/bin/env python3
"""Do two long pieces of work that share nothing run at once? The article series' multi-queue experiment, three ways.

Each piece is one workgroup that counts for a while: it leaves nearly all of a GPU idle. kp's value is the two at once, the
peer's the same two one after the other: a ratio of a half is all that there is to win. Two sequences on two queues (where the
device has two), two on one queue, and both in one sequence on one queue: nothing needless separates them, so that one queue
does as well. A device that has a single core for workgroups wins nothing.
"""

import functools

import kp
import measure
from kp.lang import Array, Index, f32, i32


@kp.kernel(local_size=32)
def long_work(i: Index, x: Array[f32], steps: i32):
    value = x[i]
    for _ in range(steps):
        value = value * 0.5 + 1.0
    x[i] = value


def queue_families() -> list[int]:
    """Two queues: of two families that compute, or of one that has two, or one queue."""
    families = list(enumerate(kp.Manager().device.queue_families))
    computing = [index for index, family in families for _ in range(min(2, family.count)) if family.compute]
    others = [index for index in computing if index != computing[0]]
    return [computing[0], *(others or computing[1:])][:2]


def main() -> None:
    args = measure.arguments(__doc__, steps=200_000)
    mgr = kp.Manager(family_queue_indices=queue_families())
    tensors = [mgr.tensor([0.0] * 32) for _ in range(2)]
    work = [mgr.algorithm([x], long_work.program, push_consts={"steps": args.steps}, workgroup=1) for x in tensors]

    def sequence(queue: int, *algorithms: kp.Algorithm) -> kp.Sequence:
        seq = mgr.sequence(queue)
        for algorithm in algorithms:
            seq.record(kp.OpAlgoDispatch(algorithm))
        return seq

    def at_once(first: kp.Sequence, second: kp.Sequence) -> None:
        first.eval_async()
        second.eval_async()
        first.eval_await()
        second.eval_await()

    one = [sequence(0, algorithm) for algorithm in work]
    two = [sequence(queue % mgr.queue_count, algorithm) for queue, algorithm in enumerate(work)]
    both = sequence(0, *work)

    def one_after_the_other() -> None:
        for seq in one:
            seq.eval()

    rounds = measure.fewer(args, 20)
    cases = [
        ("two long dispatches, two sequences on one queue", lambda: at_once(*one)),
        ("two long dispatches, one sequence", both.eval),
    ]
    if mgr.queue_count > 1:
        cases.insert(0, ("two long dispatches, two queues", lambda: at_once(*two)))
    for question, run in cases:
        row = measure.Row(question, "ms", peer="one after the other")
        samplers = [functools.partial(measure.seconds, run), functools.partial(measure.seconds, one_after_the_other)]
        measure.report(args, row, *measure.interleave(samplers, rounds))


main()
