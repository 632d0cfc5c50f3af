"""When Python's own memory runs out, at whatever allocation of a call, that is a MemoryError, and nothing is freed twice."""

import subprocess
import sys

import pytest

PROGRAM = """
import _testcapi
import numpy as np
import kp

SOURCE = "def twice(i: Index, x: Array[f32], out: Array[f32]):\\n    out[i] = x[i] * 2.0\\n"
PAIRS = np.dtype([("a", "f4"), ("b", "i4")])
mgr = kp.Manager()
tensor, image, pairs = mgr.tensor([1.0, 2.0]), mgr.image([0.0] * 4, 2, 2, 1), np.zeros(2, PAIRS)
kernel, x, out = kp.kernel_from_source(SOURCE), np.ones(10, np.float32), np.zeros(10, np.float32)
calls = {
    "data": lambda: mgr.tensor([1.0]).data(),
    "a view": lambda: tensor[0:1].data(),
    "repr": lambda: repr(tensor),
    "the array protocol": lambda: tensor.__array__(),
    "DLPack": lambda: tensor.__dlpack__(),
    "a call with arrays": lambda: kernel(x, out),
    "a call with tensors": lambda: kernel(tensor, tensor),
    "a tensor of an array": lambda: mgr.tensor_t(x),
    "an array that is borrowed": lambda: mgr.tensor_t(x, copy=False),
    "structs": lambda: mgr.tensor_t(pairs),
    "zeros of structs": lambda: mgr.zeros(3, PAIRS),
    "a full one": lambda: mgr.full((2, 3), 2.0),
    "an image": lambda: mgr.image([0.0] * 4, 2, 2, 1),
    "upload": lambda: tensor.upload(x[:2]),
    "download": lambda: tensor.download(),
    "a sequence": lambda: mgr.sequence(0, 3).record(kp.OpSyncDevice([tensor])).eval().profile(),
    "ops": lambda: mgr.sequence().record(kp.OpFill([tensor], 1.0)).record(kp.OpCopy([tensor, tensor])),
    "an algorithm": lambda: mgr.algorithm([tensor, tensor], kernel.program, (2, 1, 1)),
    "compile": lambda: kp.compile(SOURCE),
    "params": lambda: kp.compile(SOURCE).params,
    "devices": lambda: kp.devices(),
    "memory": lambda: mgr.memory(),
    "a semaphore": lambda: mgr.semaphore().vulkan(),
    "handles": lambda: (mgr.vulkan(), tensor.vulkan(), image.vulkan()),
    "the old API": lambda: mgr.eval_tensor_create_def([kp.Tensor([1.0])]),
}
failed = 0
for name, call in calls.items():
    for n in range(60):
        try:
            _testcapi.set_nomemory(n, n + 1)
            try:
                call()
            finally:
                _testcapi.remove_mem_hooks()
        except MemoryError:
            failed += 1
        except SystemError as error:
            print(name, n, error)
        except Exception:  # what Python and NumPy make of it
            failed += 1
kernel(x, out)
assert (out == 2).all() and mgr.tensor([3.0]).data()[0] == 3
print("failed" if failed > 100 else failed)
"""


def test_every_allocation_of_a_call_may_fail():
    pytest.importorskip("_testcapi")  # Python's own
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", PROGRAM], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == "failed\n", done.stdout
