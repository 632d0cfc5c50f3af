"""Finding a fault in a kernel: print what it sees, let the device check it, and run it in CPython.

The kernel is to add up each number and its right neighbour, and forgets that the last one has none. You should see:

    0 adds 1 and 2
    1 adds 2 and 4
    2 adds 4 and 0
    on the device: index 3 of 'x' is out of range for size 3
    in CPython: x[3]: x has 3 elements, with i = 2
    [3. 6. 4.]
"""

import kp
import numpy as np
from kp.lang import Array, Index, f32


@kp.kernel
def pairs(i: Index, x: Array[f32], out: Array[f32]):
    print(i, "adds", int(x[i]), "and", int(x[i + 1]))  # comes when the call is done, in the order of the indices
    out[i] = x[i] + x[i + 1]


x, out = np.array([1, 2, 4], dtype=np.float32), np.zeros(3, dtype=np.float32)
pairs(x, out)  # nothing beyond the end is read, whatever the index is


# Checked, the device looks at each index. KP_CHECKED=1 does that to all kernels of a program.
@kp.kernel(checked=True)
def checked_pairs(i: Index, x: Array[f32], out: Array[f32]):
    out[i] = x[i] + x[i + 1]


try:
    checked_pairs(x, out)
except IndexError as error:
    fault = str(error)  # file:line: ..., in invocation (2, 0, 0) of kernel 'checked_pairs'
    print("on the device:", fault[fault.index("index") : fault.index(", in invocation")])


# In CPython a breakpoint stops inside, and every variable can be looked at when something fails.
def pairs_in_cpython(i: Index, x: Array[f32], out: Array[f32]):
    out[i] = x[i] + x[i + 1]


try:
    kp.emulate(pairs_in_cpython, x, out)
except IndexError as error:
    trace = error.__traceback__
    while trace and trace.tb_frame.f_code.co_name != "pairs_in_cpython":
        trace = trace.tb_next
    print(f"in CPython: {error}, with i =", trace.tb_frame.f_locals["i"] if trace else "?")


@kp.kernel(checked=True)
def mended_pairs(i: Index, x: Array[f32], out: Array[f32]):
    out[i] = x[i] + x[i + 1] if i + 1 < len(x) else x[i]


mended_pairs(x, out)
print(out)
