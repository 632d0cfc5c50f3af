"""The types: the stub is held against the built module, the package against mypy, a user's kernel against both."""

import inspect
import pydoc
import subprocess
import sys

import kp
import pytest
from kp.lang import Array, Index, f32, i32

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


def public_callables():
    """Each with its name: what kp has, and what its classes have of their own. Exceptions are made as Python's are."""
    for name in dir(kp):
        thing = getattr(kp, name)
        if name.startswith("_") or not callable(thing) or (inspect.isclass(thing) and issubclass(thing, BaseException)):
            continue
        yield name, thing
        for cls in inspect.getmro(thing) if inspect.isclass(thing) else ():
            if cls.__module__.partition(".")[0] == "kp":
                methods = ((key, getattr(thing, key)) for key in vars(cls) if not key.startswith("_"))
                yield from ((f"{name}.{key}", method) for key, method in methods if callable(method))


def test_everything_has_a_signature():
    found = dict(public_callables())
    assert {"Manager", "Manager.tensor", "Tensor.upload", "Sequence.eval", "OpFill", "OpBase", "devices"} <= set(found)
    for name, thing in found.items():
        try:
            inspect.signature(thing)
        except ValueError as error:
            pytest.fail(f"kp.{name}: {error}")
    made = inspect.signature(kp.Manager.tensor).parameters["memory_type"].default
    assert made is kp.MemoryTypes.device and "memory_type=<MemoryTypes.device" in pydoc.render_doc(kp.Manager.tensor)


def test_a_kernel_has_the_signature_of_its_function():
    def blur(i: Index, x: Array[f32], out: Array[f32], size: i32 = 3):
        out[i] = x[i] / f32(size)

    def generic(i, x, out, gain=2.0):
        out[i] = gain * x[i]

    for function in (blur, generic):
        assert inspect.signature(kp.kernel(function)) == inspect.signature(function)
    assert inspect.signature(kp.kernel(local_size=64)(blur)) == inspect.signature(blur)
