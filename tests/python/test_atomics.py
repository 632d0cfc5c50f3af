"""Atomics on floats: by one instruction where the device has it, by a loop of compare and exchange where not. The values are
NumPy's and Python's in either case. (Which of the two it is, tests/gpu/test_atomics.c looks at.)"""

import itertools

import kp
import numpy as np
import pytest
from kp.lang import (
    Array,
    Index,
    LocalIndex,
    atomic_add,
    atomic_exchange,
    atomic_max,
    atomic_min,
    atomic_sub,
    barrier,
    f32,
    shared,
)

EDGES = [0.0, -0.0, 1.0, -1.0, 2.0**-100, 1e38, -1e38, 3.4e38, 16777216.0, np.inf, -np.inf, np.nan]
PAIRS = np.array(list(itertools.product(EDGES, EDGES)), dtype=np.float32)


@kp.kernel
def in_buffers(i: Index, x: Array[f32], add: Array[f32], sub: Array[f32], old: Array[f32]):
    old[2 * i] = atomic_add(add, i, x[i])
    old[2 * i + 1] = atomic_sub(sub, i, x[i])


@kp.kernel(local_size=32)
def in_shared_memory(i: Index, t: LocalIndex, x: Array[f32], add: Array[f32], sub: Array[f32], old: Array[f32]):
    a = shared(f32, 32)
    b = shared(f32, 32)
    if i < len(x):
        a[t], b[t] = add[i], sub[i]
        old[2 * i] = atomic_add(a, t, x[i])
        old[2 * i + 1] = atomic_sub(b, t, x[i])
        add[i], sub[i] = a[t], b[t]


def same(a, b):
    """Equal bits, or both NaN."""
    return (a.view(np.uint32) == b.view(np.uint32)) | (np.isnan(a) & np.isnan(b))


@pytest.mark.parametrize("kernel", [in_buffers, in_shared_memory], ids=lambda k: k.__name__)
@pytest.mark.parametrize("run", ["device", "emulate"])
def test_sums_of_edge_values_are_those_of_numpy(kernel, run):
    start, x = np.ascontiguousarray(PAIRS[:, 0]), np.ascontiguousarray(PAIRS[:, 1])
    add, sub, old = start.copy(), start.copy(), np.zeros(2 * len(x), dtype=np.float32)
    if run == "device":
        kernel(x, add, sub, old, extent=len(x))
    else:
        kernel.emulate(x, add, sub, old, extent=len(x))
    with np.errstate(all="ignore"):
        assert same(add, start + x).all()
        assert same(sub, start - x).all()
    assert same(old[::2], start).all() and same(old[1::2], start).all()


@pytest.mark.parametrize("run", ["device", "emulate"])
def test_least_and_greatest_are_those_of_python(run):
    @kp.kernel
    def ends(i: Index, x: Array[f32], low: Array[f32], high: Array[f32]):
        atomic_min(low, i, x[i])
        atomic_max(high, i, x[i])

    start, x = np.ascontiguousarray(PAIRS[:, 0]), np.ascontiguousarray(PAIRS[:, 1])
    low, high = start.copy(), start.copy()
    (ends if run == "device" else ends.emulate)(x, low, high, extent=len(x))
    pairs = list(zip(start.tolist(), x.tolist()))
    assert same(low, np.array([min(a, b) for a, b in pairs], dtype=np.float32)).all()
    assert same(high, np.array([max(a, b) for a, b in pairs], dtype=np.float32)).all()


def test_none_of_many_additions_is_lost():
    """Thousands of workgroups on few places; each sees another total."""

    @kp.kernel(local_size=64)
    def count(i: Index, out: Array[f32], seen: Array[f32]):
        seen[i] = atomic_add(out, 0, 1.0)
        atomic_add(out, 1 + i % 7, f32(i % 5))
        atomic_sub(out, 8, 2.0)

    n = 64 * 3000
    out, seen = np.zeros(9, dtype=np.float32), np.full(n, -1, dtype=np.float32)
    count(out, seen, extent=n)
    i = np.arange(n)
    expected = [n, *(np.sum(i[i % 7 == k] % 5) for k in range(7)), -2 * n]
    assert out.tolist() == expected
    assert np.array_equal(np.sort(seen), i)


def test_shared_totals_of_each_workgroup():
    @kp.kernel(local_size=128)
    def totals(i: Index, t: LocalIndex, x: Array[f32], seen: Array[f32], out: Array[f32]):
        part = shared(f32, 2)
        if t < 2:
            part[t] = 0.0
        barrier()
        seen[i] = atomic_add(part, 0, 1.0)
        atomic_sub(part, 1, x[i])
        barrier()
        if t == 0:
            out[i // 128] = atomic_exchange(part, 1, part[0])

    x = np.random.default_rng(5).integers(-100, 100, 128 * 50).astype(np.float32)
    seen, out = np.zeros_like(x), np.zeros(50, dtype=np.float32)
    totals(x, seen, out, extent=len(x))
    assert np.array_equal(np.sort(seen.reshape(50, 128)), np.tile(np.arange(128), (50, 1)))
    assert np.array_equal(out, -x.reshape(50, 128).sum(axis=1))


def test_a_total_is_taken_while_others_add():
    """What is exchanged for 0 on the way, and what is left, are all that was added."""

    @kp.kernel
    def drained(i: Index, total: Array[f32], taken: Array[f32]):
        atomic_add(total, 0, 1.0)
        if i % 16 == 0:
            taken[i // 16] = atomic_exchange(total, 0, 0.0)

    total, taken = np.zeros(1, dtype=np.float32), np.zeros(500, dtype=np.float32)
    drained(total, taken, extent=8000)
    assert total[0] + taken.sum() == 8000


def test_a_kernels_words_run_on_every_device():
    """What is taken out of a kernel asks for nothing but what all devices have."""
    text = in_buffers.disassemble()
    assert "OpAtomicCompareExchange" in text and "AtomicFloat" not in text and "OpAtomicFAdd" not in text
    assert "OpExtension" not in text
