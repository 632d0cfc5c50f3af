"""Views: a slice, a row or another shape of a tensor is a tensor on the same memory, which a kernel works on without a copy.

You should see:

    [1. 2. 3. 4.]
    [[ 1.  1.]
     [20. 20.]
     [ 3.  3.]
     [ 4.  4.]]
"""

import kp
from kp.lang import Array, Index, f32


@kp.kernel
def scale(i: Index, factor: f32, x: Array[f32]):
    x[i] = factor * x[i]


mgr = kp.Manager()
table = mgr.zeros((4, 64))  # 256 bytes a row: a view may be bound from there on any device
fill = mgr.sequence()
for number, row in enumerate(table, start=1):
    fill.record(kp.OpFill([row], number))
fill.record(kp.OpSyncLocal([table])).eval()
print(table.data()[:, 0])

scale(10.0, table[1])  # on the device
mgr.sequence().eval(kp.OpSyncLocal([table[1:2]]))  # this row alone comes back
print(table.data()[:, :2])
