"""Work that changes without being recorded again: other memory, other constants, a launch that the device decides, and an
op of your own.

You should see:

    doubled       [2. 4. 6. 8.] [10. 20. 30. 40.]
    then tripled  [2. 4. 6. 8.] [30. 60. 90. 120.]
    squared while there is work: 3, 2, 1, 0 left
    halved        [1. 2. 3. 4.]
"""

import kp
import numpy as np
from kp.lang import Array, Index, atomic_add, f32, i32, u32


@kp.kernel
def scale(i: Index, by: f32, x: Array[f32]):
    x[i] = by * x[i]


def text(values: np.ndarray) -> str:
    return "[" + " ".join(f"{value:.0f}." for value in values) + "]"


mgr = kp.Manager()
x, y = mgr.tensor([1, 2, 3, 4]), mgr.tensor([10, 20, 30, 40])

# Recorded once. What the algorithm is bound to and its constants are read at each evaluation.
work = scale.algorithm(mgr, [x], by=2)
seq = mgr.sequence().record(kp.OpSyncDevice([x, y])).record(kp.OpAlgoDispatch(work)).record(kp.OpSyncLocal([x, y]))
seq.eval()
print("doubled      ", text(x.data()), text(y.data()))
work.bind([y]).set_push_consts({"by": 3})
seq.eval()
print("then tripled ", text(x.data()), text(y.data()))


# The number of workgroups comes from a tensor, so one kernel can say how much the next one has to do.
@kp.kernel
def decide(i: Index, limit: i32, values: Array[i32], counts: Array[u32], todo: Array[i32]):
    if values[i] < limit:
        todo[atomic_add(counts, 0, 1)] = i


@kp.kernel
def square(i: Index, todo: Array[i32], values: Array[i32]):
    at = todo[i]
    values[at] = values[at] * values[at]


values, todo = mgr.tensor_t(np.array([2, 4, 16, 300], dtype=np.int32)), mgr.zeros(4, dtype=np.int32)
counts = mgr.tensor_t(np.array([0, 1, 1], dtype=np.uint32))
round_ = mgr.sequence().record(kp.OpSyncDevice([counts]))
round_.record(kp.OpAlgoDispatch(decide.algorithm(mgr, [values, counts, todo], limit=256, extent=4)))
round_.record(kp.OpAlgoDispatchIndirect(square.algorithm(mgr, [todo, values]), counts))
round_.record(kp.OpSyncLocal([counts]))
mgr.sequence().eval(kp.OpSyncDevice([values]))
left = []
while not left or left[-1]:
    round_.eval()
    left.append(int(counts.data()[0]))
    counts.data()[0] = 0
print(f"squared while there is work: {', '.join(map(str, left))} left")


# An op of your own is made of others.
class Halve(kp.OpBase):
    def __init__(self, tensor: kp.Tensor):
        self.tensor = tensor
        self.work = scale.algorithm(mgr, [tensor], by=0.5)

    def ops(self) -> list[kp.OpBase]:
        return [kp.OpSyncDevice([self.tensor]), kp.OpAlgoDispatch(self.work), kp.OpSyncLocal([self.tensor])]


mgr.sequence().eval(Halve(x))
print("halved       ", text(x.data()))
