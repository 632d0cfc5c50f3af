"""Arrays of other libraries: whatever has the buffer protocol or DLPack becomes a tensor, and a tensor becomes an array.

You should see:

    float64 [0.5 1.5 2.5]
    int16 [1 2 3]
    uint8 [1 2 3]
    float32 [0. 4. 8. 1. 5. 9.]
    one memory: [7. 1.]
"""

import array

import kp
import numpy as np

mgr = kp.Manager()


def show(t: kp.Tensor) -> None:
    print(t.data().dtype, t.data())


# Copied in, with their own type; strides and byte order do not matter.
show(mgr.tensor_t(array.array("d", [0.5, 1.5, 2.5])))
show(mgr.tensor_t(np.array([1, 2, 3], dtype=">i2")))
show(mgr.tensor_t(memoryview(b"\x01\x02\x03")))
show(mgr.tensor_t(np.arange(12, dtype=np.float32).reshape(3, 4).T[:2]))

# Out again without a copy: data() and from_dlpack (so do PyTorch's and JAX's) are the tensor's host side itself.
t = mgr.tensor([0, 1])
same = np.from_dlpack(t)
t.data()[0] = 7
print("one memory:", same)
