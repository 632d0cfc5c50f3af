"""Kompute's object API: everything comes from a manager, tensors are NumPy arrays, ops are recorded in a sequence.

You should see the sums, and then what a second dispatch with another factor made of them:

    [12. 24. 36.]
    [112. 224. 336.]
"""

import kp
import numpy as np

mgr = kp.Manager()

# 1. Tensors. data() views their host side: nothing is copied.
x = mgr.tensor([1, 2, 3])
y = mgr.tensor_t(np.array([10, 20, 30], dtype=np.float32))

# 2. A kernel, from text. mgr.algorithm takes SPIR-V of any origin as well.
program = kp.compile("""
def saxpy(i: Index, a: f32, x: Array[f32], y: Array[f32]):
    y[i] = a * x[i] + y[i]
""")
saxpy = mgr.algorithm([x, y], program, push_consts=[2.0])

# 3. Record and evaluate. Recording after an evaluation starts afresh; eval() again replays.
sequence = mgr.sequence()
sequence.record(kp.OpSyncDevice([x, y])).record(kp.OpAlgoDispatch(saxpy)).record(kp.OpSyncLocal([y])).eval()
print(y.data())

# 4. The same algorithm with other push constants, without waiting.
sequence.record(kp.OpAlgoDispatch(saxpy, [100.0])).record(kp.OpSyncLocal([y])).eval_async()
sequence.eval_await()
print(y.data())
