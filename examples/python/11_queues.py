"""Two long pieces of work that do not depend on each other: one after the other, at once on one queue, and at once on two.

Nothing in the program says what may overlap: kp sees that the two share nothing. On a device that has a single queue, as
CPU drivers do, both are that one.
"""

import time

import kp
from kp.lang import Array, Index, f32, i32


@kp.kernel
def long_work(i: Index, x: Array[f32], steps: i32):
    value = x[i]
    for _ in range(steps):
        value = value * 0.5 + 1.0
    x[i] = value


STEPS = 20_000
mgr = kp.Manager(family_queue_indices=["compute", "compute"])
tensors = [mgr.tensor([0.0] * 64) for _ in range(2)]
works = [mgr.algorithm([x], long_work.program, push_consts={"steps": STEPS}) for x in tensors]


def sequences(first_queue: int, second_queue: int) -> list[kp.Sequence]:
    made = []
    for queue, x, work in zip((first_queue, second_queue), tensors, works, strict=True):
        seq = mgr.sequence(queue).record(kp.OpSyncDevice([x])).record(kp.OpAlgoDispatch(work))
        made.append(seq.record(kp.OpSyncLocal([x])))
        made[-1].eval()  # once, so that nothing but the work is timed
    return made


def milliseconds(seqs: list[kp.Sequence], at_once: bool) -> float:
    start = time.perf_counter()
    for seq in seqs:
        seq.eval_async()
        if not at_once:
            seq.eval_await()
    if at_once:
        for seq in seqs:
            seq.eval_await()
    return 1e3 * (time.perf_counter() - start)


one = sequences(0, 0)
print(f"one after the other  {milliseconds(one, at_once=False):8.2f} ms")
print(f"at once, one queue   {milliseconds(one, at_once=True):8.2f} ms")
print(f"at once, two queues  {milliseconds(sequences(0, 1), at_once=True):8.2f} ms")
assert all(abs(value - 2.0) < 1e-6 for x in tensors for value in x.data())
