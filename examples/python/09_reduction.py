"""The sum of many numbers: each workgroup adds up its part in shared memory, and the parts are summed in the same way.

Two ways to the same number: a tree of additions with a barrier after each level, and one atomic for each subgroup.
You should see 2147450880 twice.
"""

import kp
import numpy as np
from kp.lang import (
    Array,
    GroupIndex,
    Index,
    LocalIndex,
    LocalSize,
    atomic_add,
    barrier,
    i32,
    shared,
    subgroup_add,
    subgroup_elect,
)

GROUP = 128


@kp.kernel(local_size=GROUP)
def sum_groups(i: Index, t: LocalIndex, g: GroupIndex, size: LocalSize, n: i32, x: Array[i32], out: Array[i32]):
    part = shared(i32, size)
    part[t] = x[i] if i < n else 0  # the last workgroup reaches beyond the end
    barrier()
    step = size // 2
    while step > 0:  # the same number of rounds for all: each of them reaches each barrier
        if t < step:
            part[t] += part[t + step]
        barrier()
        step //= 2
    if t == 0:
        out[g] = part[0]


@kp.kernel(local_size=GROUP)
def sum_subgroups(i: Index, n: i32, x: Array[i32], out: Array[i32]):
    total = subgroup_add(x[i] if i < n else 0)
    if subgroup_elect():  # one of each subgroup
        atomic_add(out, 0, total)


data = np.arange(2**16, dtype=np.int32)
mgr = kp.Manager()
x = mgr.tensor_t(data)
seq = mgr.sequence().record(kp.OpSyncDevice([x]))
count = len(data)
while count > 1:  # 65,536 numbers, then 512, then 4
    parts = mgr.tensor_t(np.zeros(-(-count // GROUP), dtype=np.int32))
    seq.record(kp.OpAlgoDispatch(sum_groups.algorithm(mgr, [x, parts], extent=count, n=count)))
    x, count = parts, parts.size()
seq.record(kp.OpSyncLocal([x])).eval()
print(x.data()[0])

total = np.zeros(1, dtype=np.int32)
sum_subgroups(len(data), data, total, extent=len(data))
print(total[0])
assert x.data()[0] == total[0] == data.sum() == 2147450880
