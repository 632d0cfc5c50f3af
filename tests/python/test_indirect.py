"""Dispatches whose size lies in a tensor: as many workgroups as a kernel wrote, of the local size that the next one has."""

import kp
import numpy as np
import pytest
from kp.lang import Array, Index, f32, i32, u32

LOCAL = 64


@kp.kernel
def plan(i: Index, much: Array[i32], counts: Array[u32]):
    counts[0] = u32((much[0] + 63) // 64)
    counts[1] = u32(1)
    counts[2] = u32(1)


@kp.kernel(local_size=LOCAL)
def fill(i: Index, much: Array[i32], out: Array[f32]):
    if i < much[0]:
        out[i] = f32(i) + 1.0


@pytest.mark.parametrize("much", [0, 1, 64, 65, 1000])
def test_a_kernel_says_how_much_the_next_one_does(mgr, much):
    n, counts, out = mgr.tensor_t(np.array([much], np.int32)), mgr.zeros(3, "uint32"), mgr.zeros(1024)
    planning = mgr.algorithm([n, counts], plan.program, extent=1)
    filling = mgr.algorithm([n, out], fill.program)
    seq = mgr.sequence().record(kp.OpSyncDevice([n, counts, out])).record(kp.OpAlgoDispatch(planning))
    seq.record(kp.OpAlgoDispatchIndirect(filling, counts)).record(kp.OpSyncLocal([counts, out])).eval()
    assert counts.data()[0] == -(-much // LOCAL)
    expected = np.where(np.arange(1024) < much, np.arange(1, 1025), 0)
    assert (out.data() == expected).all()
