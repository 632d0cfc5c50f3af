"""The types: the stub is held against the built module, the package against mypy, a user's kernel against both."""

import subprocess
import sys

USER = """
import kp
import numpy as np
from kp.lang import Array, Index, Index2, exp, f32, i32, vec2

@kp.kernel
def k(i: Index, a: f32, x: Array[f32], v: Array[vec2], out: Array[f32]) -> None:
    n = i32(3)
    for _ in range(n):
        out[i] = a * x[i] + exp(-x[i]) + v[i].x + (v[i] @ vec2(1.0, 2.0))

mgr = kp.Manager(0)
t: kp.Tensor = mgr.tensor([1, 2, 3])
u: kp.Tensor = mgr.tensor_t(np.zeros(3))
s: kp.Sequence = mgr.sequence().record(kp.OpSyncDevice([t])).eval()
s2: kp.Sequence = mgr.create_sequence("s").begin().record_tensor_copy([t, u]).end()
mgr.eval_algo_data_def([t], b"")
k(1.0, t, [1.0], np.zeros(3))
name: str = kp.devices()[0].name
kind: kp.MemoryTypes = t.memory_type()
"""


def mypy(*args, cwd):
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(cwd / "cache"), *args],
        capture_output=True, text=True, cwd=cwd,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_stub_is_the_module(tmp_path):
    """Before Python 3.12 the buffer protocol has no names in Python, but type checkers go by them."""
    allowed = tmp_path / "allowed"
    allowed.write_text("kp._kp.Program.__buffer__\nkp._kp.Memory.__buffer__\nkp._kp.Memory.__release_buffer__\n")
    command = [sys.executable, "-m", "mypy.stubtest", "kp._kp", "--concise", "--allowlist", str(allowed)]
    done = subprocess.run([*command, "--ignore-unused-allowlist"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_users_program_is_typed(tmp_path):
    (tmp_path / "user.py").write_text(USER)
    mypy("user.py", cwd=tmp_path)


def test_the_package_is_typed(tmp_path):
    mypy("-p", "kp", "-p", "pyshader", cwd=tmp_path)
