"""The interpreter ends well, whatever is alive."""

import signal
import subprocess
import sys

import pytest

SETUP = """
import sys, gc
import numpy as np
import kp
mgr = kp.Manager()
tensor = kp.Tensor([1, 2, 3])
mgr.eval_tensor_create_def([tensor])
made = mgr.tensor_t(np.arange(2048, dtype=np.int32))
program = kp.compile('''
def count(i: Index, data: Array[i32], steps: i32):
    total = 0
    for k in range(steps):
        total = total + (k ^ data[i])
    data[i] = total
''')
algorithm = mgr.algorithm([made], program, push_consts=np.array([10000], np.int32))
sequence = mgr.create_sequence("s")
sequence.record(kp.OpSyncDevice([made])).record(kp.OpAlgoDispatch(algorithm)).record(kp.OpSyncLocal([made]))
"""
STATES = {
    "imported": "import kp",
    "imported and exit": "import kp; exit()",
    "pyshader": "import pyshader",
    "idle": SETUP,
    "evaluated": SETUP + "sequence.eval()",
    "in flight": SETUP + "sequence.eval_async()",
    "anonymous in flight": SETUP + "mgr.eval_async_tensor_sync_device_def([tensor])",
    "a view alive": SETUP + "view = made.data(); memory = memoryview(tensor)",
    "a view in a builtin": SETUP + "import builtins; builtins.view = made.data(); builtins.mgr = mgr",
    "in flight, and never to begin": SETUP + "go = mgr.semaphore(); sequence.submit(waits=[(go, 1)])",
    "manager destroyed": SETUP + "sequence.eval_async(); mgr.destroy()",
    "a cycle": SETUP
    + "class T(kp.Tensor): pass\nt = T([1]); t.me = t; mgr.eval_tensor_create_def([t]); t.s = sequence",
    "a destructor that uses kp": SETUP
    + "class Late:\n    def __del__(self):\n        made.is_init(); kp.Tensor([1]).data()\nlate = Late()",
    "logging": "import logging; logging.basicConfig(level=1)\n" + SETUP,
    "an atexit hook": "import atexit\n" + SETUP + "atexit.register(sequence.eval)",
    "a daemon thread inside": SETUP
    + "import threading\nfor _ in range(50): sequence.record(kp.OpAlgoDispatch(algorithm))\n"
    + "threading.Thread(target=lambda: [sequence.eval() for _ in range(1000)], daemon=True).start()",
    "a daemon thread in a kernel": SETUP
    + "import threading\nk = kp.kernel_from_source('def k(i: Index, a: Array[i32], n: i32):\\n    for _ in range(n):\\n        a[i] += 1')\n"
    + "k(made, 2)\nthreading.Thread(target=lambda: [k(made, 2000) for _ in range(100000)], daemon=True).start()",
    "a kernel": "import kp\nk = kp.kernel_from_source('def k(i: Index, a: Array[f32]): a[i] = 1.0')\nk([1, 2])",
    "an exception": SETUP + "try:\n    mgr.eval_algo_data_def([tensor], b'')\nexcept Exception as e:\n    kept = e",
}


@pytest.mark.parametrize("state", STATES)
def test_exit(state):
    done = subprocess.run([sys.executable, "-c", STATES[state]], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{done.returncode}\n{done.stdout}{done.stderr}"
    if state != "logging":
        assert done.stderr == ""


def test_exit_by_exception_and_by_interrupt():
    done = subprocess.run(
        [sys.executable, "-c", SETUP + "sequence.eval_async()\n1 / 0"], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr.strip().endswith("ZeroDivisionError: division by zero")
    code = (
        SETUP + "import os, signal\nsequence.eval_async()\nos.kill(os.getpid(), signal.SIGINT)\nsequence.eval_await()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode in (1, -signal.SIGINT)
    assert "KeyboardInterrupt" in done.stderr
