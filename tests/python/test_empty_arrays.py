"""Arrays and tensors of no elements: their length in a kernel, what is read behind them, and calls that have nothing to do."""

import kp
import numpy as np
import pytest
from kp.lang import Array, Index, f32, i32
from typekit import NEEDS, TYPES, device


@kp.kernel
def looks(i: Index, x: Array[f32], out: Array[i32]):
    out[0] = len(x)
    out[1] = 0
    for _ in x:
        out[1] += 1
    out[2] = i32(x[0] + x[-1] + x[3])
    x[0] = 5.0


@kp.kernel(checked=True)
def first(i: Index, x: Array[f32], out: Array[f32]):
    out[i] = x[0]


@kp.kernel
def doubled(i: Index, x: Array[f32], out: Array[f32]):
    out[i] = 2.0 * x[i]


def kinds(mgr):
    """The same nothing in every form, behind memory that is full of other things."""
    stained = [mgr.full(4, 7.0) for _ in range(100)]
    mgr.sequence().record(kp.OpSyncDevice(stained)).eval()
    stained.clear()
    whole = mgr.full(8, 7.0)
    mgr.sequence().record(kp.OpSyncDevice([whole])).eval()
    return [
        np.zeros(0, np.float32), mgr.zeros(0), mgr.tensor([]), whole[3:3], whole[8:], mgr.zeros((0, 5)),
        *(mgr.empty(0, np.float32, kind) for kind in kp.MemoryTypes),
    ]  # fmt: skip


def test_a_kernel_finds_nothing_in_an_empty_array(mgr):
    for x in kinds(mgr):
        out = np.full(3, 9, np.int32)
        looks(x, out, extent=1)
        assert out.tolist() == [0, 0, 0]
    out = np.full(3, 9, np.int32)
    looks.emulate(np.zeros(0, np.float32), out[:2], extent=0)


@pytest.mark.parametrize("name", TYPES)
def test_the_length_is_zero_for_every_type(mgr, name):
    count = kp.kernel_from_source(f"def count(i: Index, x: Array[{name}], out: Array[i32]):\n    out[i] = len(x)\n")
    for x in (np.zeros(0, TYPES[name]), mgr.zeros(0, TYPES[name])):
        out = np.full(2, 9, np.int32)
        try:
            count(x, out)
        except kp.UnsupportedError as error:
            assert NEEDS[name] and "llvmpipe" not in device(), error
            return
        assert out.tolist() == [0, 0]


def test_a_checked_kernel_says_so(mgr):
    for x in kinds(mgr):
        with pytest.raises(IndexError, match="index 0 of 'x' is out of range for size 0"):
            first(x, np.zeros(2, np.float32))


def test_a_call_on_nothing_does_nothing(mgr):
    for x in kinds(mgr):
        out = np.zeros(0, np.float32)
        doubled(x, out)
        doubled(np.ones(3, np.float32), out)
        assert out.size == 0


def test_an_empty_array_is_no_uniform(mgr):
    kernel = kp.kernel_from_source("def k(i: Index, u: Uniform[Array(4, f32)], out: Array[f32]):\n    out[i] = u[1]\n")
    out = mgr.zeros(1)
    for x in (mgr.zeros(0), mgr.full(8, 7.0)[8:], np.zeros(0, np.float32)):
        with pytest.raises(ValueError, match=r"needs at least 16 bytes, tensor 'tensor' has 0|takes \(4,\)|has .* 4"):
            kernel(x, out)
