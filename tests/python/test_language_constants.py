"""Const[T], specialization constants: of every type, from a call, an algorithm and the values of the text."""

import kp
import numpy as np
import pytest
from typekit import NEEDS, TYPES, device, launch

VALUES = {
    "i8": (-128, 100), "u8": (200, 255), "i16": (-30000, 7), "u16": (65535, 1), "i32": (-(2**31), 5), "u32": (2**32 - 1, 6),
    "i64": (-(2**62) - 1, 2**63 - 1), "u64": (2**64 - 1, 3), "f16": (-0.5, 1024.0), "f32": (0.1, -3e38), "f64": (0.1, 1e300),
    "bool": (True, False),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_each_type(name):
    value, default = VALUES[name]
    dtype = TYPES[name]
    text = f"def k(i: Index, out: Array[{name}], x: Const[{name}], y: Const[{name}] = {default}):\n    out[i] = y if i % 2 else x\n"
    kernel = kp.kernel_from_source(text)
    assert kernel.params[3].default == dtype.type(default)
    types = {name} if NEEDS[name] else set()
    for given, wanted in (
        ((value,), (value, default)),
        ((default, value), (default, value)),
        ((value, value), (value, value)),
    ):
        got = launch(types, text, np.zeros(2, dtype=dtype), *given)
        assert got is None or got[0].tolist() == [dtype.type(x) for x in wanted]


@pytest.mark.parametrize("name", VALUES)
def test_algorithms(name):
    value, default = VALUES[name]
    text = f"def k(i: Index, out: Array[f32], x: Const[{name}], n: Const[i32], y: Const[{name}] = {default}):\n"
    kernel = kp.kernel_from_source(text + f"    out[i] = f32(x == y) + 10.0 * f32(n) + 100.0 * f32({name}(x) == x)\n")
    mgr = kp.Manager()
    out = mgr.zeros(2)
    try:
        algorithms = [
            kernel.algorithm(mgr, [out], x=default, n=3),
            kernel.algorithm(mgr, [out], x=value, n=4, y=default),
        ]
    except kp.UnsupportedError as error:
        assert NEEDS[name] and "llvmpipe" not in device() and "lacks" in str(error)
        mgr.destroy()
        return
    for algorithm, wanted in zip(algorithms, (131, 140)):
        mgr.sequence().record(kp.OpAlgoDispatch(algorithm)).record(kp.OpSyncLocal([out])).eval()
        assert out.data().tolist() == [wanted, wanted]
    mgr.destroy()


def test_what_does_not_fit():
    kernel = kp.kernel_from_source("def k(i: Index, out: Array[i32], x: Const[u8]):\n    out[i] = i32(x)\n")
    out = np.zeros(1, np.int32)
    with pytest.raises(OverflowError, match=r"argument 'x': 256 does not fit in u8"):
        kernel(out, 256)
    with pytest.raises(TypeError, match=r"argument 'x': must be u8, not float"):
        kernel(out, 1.5)
    with pytest.raises(kp.CompileError, match=r"300 does not fit in u8, which holds 0 to 255"):
        kp.kernel_from_source("def k(i: Index, out: Array[i32], x: Const[u8] = 300):\n    out[i] = i32(x)\n")
    with pytest.raises(kp.CompileError, match=r"the length of shared memory is a Const\[i32\], not a Const\[i64\]"):
        kp.kernel_from_source(
            "def k(i: Index, out: Array[i32], n: Const[i64]):\n    t = shared(i32, n)\n    out[i] = t[0]\n",
            local_size=4,
        )
