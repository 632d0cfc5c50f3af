"""Semaphores: two sequences are submitted at once and run in an order that kp does not know of, since the host has its part in it.

A timeline is a number that goes up: evaluations wait for it and set it, and the host does too.

You should see:

    submitted, and the timeline is at 0
    the host goes on at 1, and the last one is done at 3
    [5. 5.] [10. 10.]
"""

import kp
from kp.lang import Array, Index, f32


@kp.kernel
def twice(i: Index, x: Array[f32], y: Array[f32]):
    y[i] = 2.0 * x[i]


mgr = kp.Manager()
first, second = mgr.zeros(2), mgr.zeros(2)
fill = mgr.sequence().record(kp.OpFill([first], 5)).record(kp.OpSyncLocal([first]))
work = mgr.sequence().record(kp.OpAlgoDispatch(twice.algorithm(mgr, [first, second]))).record(kp.OpSyncLocal([second]))

timeline = mgr.semaphore()
fill.submit(waits=[(timeline, 1)], signals=[(timeline, 2)])
work.submit(waits=[(timeline, 2)], signals=[(timeline, 3)])
print("submitted, and the timeline is at", timeline.value)
timeline.signal(1)
timeline.wait(3)
print("the host goes on at 1, and the last one is done at", timeline.value)
fill.eval_await()
work.eval_await()
print(first.data(), second.data())
