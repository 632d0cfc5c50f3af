"""Workgroups in kp.emulate: the same numbers as on the device, and errors for what a device would do anything with."""

import kp
import numpy as np
import pytest
from kp.lang import (
    Array,
    Const,
    Index,
    Index2,
    LocalIndex,
    LocalIndex2,
    atomic_add,
    atomic_compare_exchange,
    atomic_max,
    atomic_xor,
    barrier,
    f32,
    i32,
    shared,
    subgroup_add,
    subgroup_all,
    subgroup_any,
    subgroup_ballot,
    subgroup_broadcast,
    subgroup_broadcast_first,
    subgroup_count,
    subgroup_elect,
    subgroup_exclusive_add,
    subgroup_exclusive_max,
    subgroup_id,
    subgroup_inclusive_min,
    subgroup_inclusive_mul,
    subgroup_lane,
    subgroup_max,
    subgroup_shuffle,
    subgroup_shuffle_down,
    subgroup_shuffle_xor,
    subgroup_size,
    subgroup_xor,
    u32,
    vec2,
)

RANDOM = np.random.default_rng(11)


def both(kernel, *args, extent=None, **options):
    """Runs a kernel on the device and in CPython; what they leave in the arrays must be the same. Gives the arrays."""
    ours = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    kernel(*args, extent=extent)
    kernel.emulate(*ours, extent=extent, **options)
    for given, emulated in zip(args, ours, strict=True):
        assert np.array_equal(given, emulated), (given, emulated)
    return [a for a in ours if isinstance(a, np.ndarray)]


totals = kp.kernel_from_source("""
def halve(part, t, step):
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        barrier()
        step //= 2
    return part[0]


@kp.kernel(local_size=64)
def totals(i: Index, t: LocalIndex, g: GroupIndex, size: LocalSize, x: Array[f32], out: Array[f32]):
    part = shared(f32, size)
    part[t] = x[i] if i < len(x) else 0.0
    group_memory_barrier()
    memory_barrier()
    barrier()
    total = halve(part, t, size // 2)
    if t == 0:
        out[g] = total
""")


def test_barriers_in_helpers():
    x = RANDOM.integers(-1000, 1000, 150).astype(np.float32)
    _, out = both(totals, x, np.zeros(3, np.float32), extent=150)
    assert np.array_equal(out, np.add.reduceat(x, [0, 64, 128]))


def test_shared_memory_with_two_axes():
    @kp.kernel(local_size=(8, 8))
    def transpose(at: Index2, t: LocalIndex2, n: i32, x: Array[vec2], y: Array[vec2]):
        tile = shared(vec2, (8, 9))
        tile[t.y, t.x] = x[n * at.y + at.x]
        tile[t.y, t.x].x += 1.0
        barrier()
        y[n * (at.x - t.x + t.y) + at.y - t.y + t.x] = tile[t.x, t.y]

    x = RANDOM.integers(0, 99, (16, 16, 2)).astype(np.float32)
    _, y = both(transpose, 16, x, np.zeros_like(x), extent=(16, 16))
    assert np.array_equal(y, x.transpose(1, 0, 2) + [1, 0])


def test_atomics():
    @kp.kernel
    def count(i: Index, x: Array[u32], counts: Array[u32], f: Array[f32]):
        atomic_add(counts, x[i], 1)
        atomic_max(counts, 8, u32(i))
        atomic_xor(counts, 9, x[i])

        atomic_add(f, 0, 0.5)
        if atomic_compare_exchange(counts, 10, 0, 7) == 0:
            atomic_add(counts, 11, 1)

    x = RANDOM.integers(0, 8, 300).astype(np.uint32)
    _, counts, f = both(count, x, np.zeros(12, np.uint32), np.zeros(1, np.float32), extent=300)
    assert counts.tolist() == [*np.bincount(x, minlength=8), 299, np.bitwise_xor.reduce(x), 7, 1] and f[0] == 150


@kp.kernel(local_size=32)
def subgroups(i: Index, x: Array[i32], out: Array[i32]):
    n = x[i]
    out[i] = subgroup_add(n)
    out[i + 64] = subgroup_exclusive_add(n) + 1000 * subgroup_exclusive_max(n)
    out[i + 128] = subgroup_inclusive_min(n) + 1000 * subgroup_inclusive_mul(n & 1 | 1)
    out[i + 192] = subgroup_size() + 100 * subgroup_lane() + 10000 * subgroup_id() + 1000000 * subgroup_count()
    out[i + 256] = subgroup_broadcast_first(n) + 100 * subgroup_broadcast(n, 1)
    out[i + 320] = subgroup_shuffle_xor(n, 1) + 100 * subgroup_shuffle(n, subgroup_size() - 1 - subgroup_lane())
    if n > 4:
        out[i + 384] = subgroup_max(-n) + 100 * subgroup_xor(n)
        if subgroup_elect():
            out[i + 384] += 100000
    if subgroup_lane() < 3:
        out[i + 448] = subgroup_shuffle_down(n, 1) if subgroup_lane() < 2 else 0
    if subgroup_any(n == 9) and not subgroup_all(n == 9):
        out[i + 512] = i32(subgroup_ballot(n == 9).x)


def test_subgroup_operations():
    size = next(d for d in kp.devices()).subgroup_size
    x = RANDOM.integers(0, 10, 64).astype(np.int32)
    out = np.zeros(576, np.int32)
    subgroups.emulate(x, out, extent=64, subgroup_size=size)
    device = np.zeros(576, np.int32)
    try:
        subgroups(x, device, extent=64)
    except kp.UnsupportedError as error:
        assert "subgroup" in str(error)
    else:
        # Which two lanes meet under a branch is the device's own business where a shuffle's other lane has left.
        device[448:512] = out[448:512]
        assert np.array_equal(device.reshape(9, 64), out.reshape(9, 64))
    by_subgroup = x.reshape(-1, size)
    assert np.array_equal(out[:64], np.repeat(by_subgroup.sum(1), size))
    assert np.array_equal(out[64:128] % 1000, (np.cumsum(by_subgroup, 1) - by_subgroup).ravel()) or size > 8


REDUCTIONS = {
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def test_every_reduction_and_scan():
    """subgroup_add to subgroup_exclusive_xor: on the device, in kp.emulate, and by NumPy's ufuncs."""
    names = [f"subgroup_{kind}{name}" for kind in ("", "inclusive_", "exclusive_") for name in REDUCTIONS]
    assert "subgroup_exclusive_or" in names and "subgroup_inclusive_max" in names and "subgroup_mul" in names
    lines = "".join(f"    out[i + {32 * k}] = {name}(x[i])\n" for k, name in enumerate(names))
    head = "@kp.kernel(local_size=32)\ndef k(i: Index, x: Array[i32], out: Array[i32]):\n"
    kernel = kp.kernel_from_source(head + lines)
    size = next(d for d in kp.devices()).subgroup_size
    x = RANDOM.integers(-9, 10, 32).astype(np.int32)
    out, device = np.zeros((2, 32 * len(names)), np.int32)
    kernel.emulate(x, out, extent=32, subgroup_size=size)
    kernel(x, device, extent=32)
    assert np.array_equal(device, out)
    for k, ufunc in enumerate(REDUCTIONS.values()):
        scans = ufunc.accumulate(x.reshape(-1, size), axis=1, dtype=np.int32)
        assert np.array_equal(out.reshape(21, -1, size)[k], np.repeat(scans[:, -1:], size, axis=1))
        assert np.array_equal(out.reshape(21, -1, size)[7 + k], scans)
        assert np.array_equal(out.reshape(21, -1, size)[14 + k][:, 1:], scans[:, :-1])


def test_constants_of_a_launch():
    def k(i: Index, n: Const[i32], out: Array[i32], m: Const[i32] = 5):
        out[i] = n + m

    out = [0, 0]
    kp.emulate(k, 2, out)
    assert out == [7, 7]
    kp.emulate(k, 2, out, m=1)
    assert out == [3, 3]


def test_a_barrier_that_not_all_reach():
    @kp.kernel(local_size=4)
    def k(i: Index, flags: Array[i32]):
        if flags[0] == 0:
            flags[0] = 1
            barrier()

    line = k.function.__code__.co_firstlineno + 4
    words = rf"barrier\(\) of line {line}: the invocation \(0, 0, 0\) .* waits there, but \(1, 0, 0\) has returned"
    with pytest.raises(RuntimeError, match=words):
        k.emulate([0])


def test_what_nobody_wrote_to_shared_memory_shows():
    @kp.kernel(local_size=2)
    def k(i: Index, t: LocalIndex, x: Array[f32], n: Array[i32]):
        part = shared(f32, 4)
        count = shared(i32, 4)
        part[0] = 1.0
        x[i] = part[t]
        n[i] = count[t]

    x, n = np.zeros(2, np.float32), np.zeros(2, np.int32)
    k.emulate(x, n)
    assert x[0] == 1 and np.isnan(x[1]) and (np.abs(n) > 2**29).all()


def test_an_index_outside_of_shared_memory():
    @kp.kernel(local_size=2)
    def k(i: Index, t: LocalIndex, x: Array[f32]):
        part = shared(f32, 2)
        part[t + 1] = 1.0
        x[i] = part[0]

    with pytest.raises(IndexError, match=r"shared memory of \(2,\) elements has no \[2\]") as caught:
        k.emulate([0.0, 0.0])
    assert caught.value.__notes__ == ["k() was at the index 1"]
