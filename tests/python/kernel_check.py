"""Compiles a kernel, validates it, runs it on the device and in CPython (kp.emulate), and compares the results.

    check(text, [1, 2, 3], ints, floats)        # launches over the length of the first array, or over `extent`

A kernel is given as text, so that it needs no imports. The arguments are those behind the index parameters: NumPy arrays for
buffers (left as they are), numbers or tuples for push constants.
"""

import functools
import shutil
import subprocess
import textwrap

import kp
import numpy as np
from kp.emulate.launch import Emulation


def validate(spirv):
    """Asserts that the module is valid for Vulkan 1.1."""
    command = [shutil.which("spirv-val") or "spirv-val", "--target-env", "vulkan1.1", "-"]
    result = subprocess.run(command, input=bytes(spirv), capture_output=True)
    assert result.returncode == 0, result.stdout.decode() + result.stderr.decode()


@functools.lru_cache(maxsize=64)
def compile_text(text, name=None):
    """The valid SPIR-V of a kernel."""
    spirv = bytes(kp.compile(text, kernel=name))
    validate(spirv)
    return spirv


@functools.cache
def manager():
    return kp.Manager()


def push_bytes(kernel, values):
    """Push constants at their natural alignment, as 32-bit words."""
    block = b""
    for parameter, value in values:
        parts = np.atleast_1d(value).reshape(-1)
        dtype = np.dtype(getattr(getattr(parameter.spec, "scalar", parameter.spec), "numpy", np.uint32))
        width = getattr(parameter.spec, "columns", len(parts))  # of a matrix: its rows are what is aligned
        align = dtype.itemsize * (1 if width == 3 and width < len(parts) else {1: 1, 2: 2}.get(width, 4))
        block += b"\0" * (-len(block) % align) + parts.astype(dtype).tobytes()
    return np.frombuffer(block + b"\0" * (-len(block) % 4), dtype=np.uint32)


def run_on_device(spirv, kernel, extent, args):
    """Runs a module; arrays among `args` are changed in place. `kernel` (an Emulation) knows the parameters."""
    given = list(zip([p for p in kernel.parameters if not p.is_input], args, strict=True))
    buffers = [(p, a) for p, a in given if isinstance(a, np.ndarray)]
    bound = {p.spec[1] if isinstance(p.spec, tuple) else n: a for n, (p, a) in enumerate(buffers)}
    arrays = [bound.get(n, np.zeros(1, np.float32)) for n in range(max(bound, default=-1) + 1)]
    push = push_bytes(kernel, [(p, a) for p, a in given if not isinstance(a, np.ndarray)])
    mgr = manager()
    tensors = [mgr.tensor_t(a.reshape(-1)) for a in arrays]
    extent = tuple(np.atleast_1d(extent).tolist())
    workgroup = extent + (1,) * (3 - len(extent))
    algorithm = (
        mgr.algorithm(tensors, spirv, workgroup, [], push) if len(push) else mgr.algorithm(tensors, spirv, workgroup)
    )
    sequence = mgr.sequence()
    if tensors:
        sequence.record(kp.OpSyncDevice(tensors))
    sequence.record(kp.OpAlgoDispatch(algorithm))
    if tensors:
        sequence.record(kp.OpSyncLocal(tensors))
    sequence.eval()
    for array, tensor in zip(arrays, tensors, strict=True):
        array.reshape(-1)[:] = tensor.data()


def compare(got, wanted, tolerance=None, what=""):
    """Equal: ints bit for bit, floats as numbers (NaN like NaN) or within tolerance(wanted), an absolute error."""
    if got.dtype.kind != "f" or tolerance is None:
        same = (got == wanted) | ((got != got) & (wanted != wanted))
    else:
        with np.errstate(all="ignore"):
            near = np.abs(got.astype(np.float64) - wanted) <= tolerance(wanted.astype(np.float64))
        same = near | (got == wanted) | ((got != got) & (wanted != wanted))
    if not same.all():
        where = np.argwhere(~same)[:8]
        rows = "\n".join(f"  [{', '.join(map(str, w))}] {got[tuple(w)]!r}, CPython {wanted[tuple(w)]!r}" for w in where)
        raise AssertionError(f"{what}: {np.count_nonzero(~same)} of {same.size} differ from CPython\n{rows}")


def relative(factor):
    """A tolerance: `factor` times the value."""
    return lambda wanted: factor * np.abs(wanted)


def outcome(kernel, extent, args):
    """What CPython makes of the arguments: copies of them, after the run."""
    wanted = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    kernel.run(extent, *wanted)
    return wanted


def check(text, *args, extent=None, tolerance=None, name=None):
    """Fails unless the device does what CPython does. Gives the arrays, as the device left them."""
    text = textwrap.dedent(text).lstrip("\n") if isinstance(text, str) else text
    kernel = Emulation(text, name)
    args = [np.array(a, dtype=np.int32) if isinstance(a, list) else a for a in args]
    arrays = [a for a in args if isinstance(a, np.ndarray)]
    extent = extent or (len(arrays[0]) if arrays else 1)
    wanted = outcome(kernel, extent, args)
    got = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    run_on_device(compile_text(text, name), kernel, extent, got)
    for parameter, g, w in zip([p for p in kernel.parameters if not p.is_input], got, wanted, strict=True):
        if isinstance(g, np.ndarray):
            compare(g, w, tolerance, f"{kernel.name}: {parameter.name}")
    return [g for g in got if isinstance(g, np.ndarray)]
