"""A kernel is a Python function. Call it with NumPy arrays, or with tensors that stay on the device.

You should see:

    [ 4. 10. 18.]
    [101. 102. 103.]
    [2. 4. 6.]
"""

import kp
import numpy as np
from kp.lang import Array, Index, f32

OFFSET = 100  # a number from outside becomes a constant


@kp.kernel
def multiply(i: Index, a: Array[f32], b: Array[f32], out: Array[f32]):
    out[i] = a[i] * b[i]


@kp.kernel
def shift(i: Index, factor: f32, data: Array[f32]):
    data[i] = factor * data[i] + OFFSET


# Arrays are copied to the device; what the kernel writes comes back.
a, b, out = (np.array(values, dtype=np.float32) for values in ([1, 2, 3], [4, 5, 6], [0, 0, 0]))
multiply(a, b, out)
print(out)

# Scalars are push constants.
shift(1.0, a)
print(a)

# Tensors are used as they are on the device: sync them when you want their values.
mgr = kp.Manager()
x, y, z = mgr.tensor([1, 2, 3]), mgr.tensor([2, 2, 2]), mgr.tensor([0, 0, 0])
mgr.sequence().eval(kp.OpSyncDevice([x, y, z]))
multiply(x, y, z)
mgr.sequence().eval(kp.OpSyncLocal([z]))
print(z.data())
