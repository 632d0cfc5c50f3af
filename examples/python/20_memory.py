"""Memory: what a manager holds, large arrays in and out, an array that is the tensor's own memory, and numbers that outlive all.

You should see:

    a storage tensor of 1024 floats uses 4096 bytes
    up and down: True
    nothing idle after a trim: True
    the array and the tensor have the same numbers: [7. 7.]
    still there: [1. 2. 3.]
"""

import kp
import numpy as np

mgr = kp.Manager()

# Only kernels work on a storage tensor: it has no host side.
before = mgr.memory()["used"]
table = mgr.empty(1024, memory_type=kp.MemoryTypes.storage)
print("a storage tensor of 1024 floats uses", mgr.memory()["used"] - before, "bytes")

# An array goes to the device side and back in one call, past the host side.
numbers = np.arange(1024, dtype=np.float32)
table.upload(numbers)
print("up and down:", np.array_equal(table.download(), numbers))

del table
mgr.trim()
memory = mgr.memory()
print("nothing idle after a trim:", memory["reserved"] == memory["used"])

# Without a copy where the device can use the array's memory (shares_array tells); else it is copied, as ever.
page = np.zeros(2 * 65536 // 4, dtype=np.float32)
start = -page.ctypes.data % 65536 // 4
own = page[start : start + 65536 // 4]
tensor = mgr.tensor_t(own, copy=False)
mgr.sequence().record(kp.OpFill([tensor], 7)).record(kp.OpSyncLocal([tensor])).eval()
same = own if tensor.shares_array else tensor.data()
print("the array and the tensor have the same numbers:", same[:2])

kept = mgr.tensor([1, 2, 3]).data()
mgr.destroy()
print("still there:", kept)
