"""What the invocations of a workgroup do together: local ids, shared memory, barriers, atomics. Against NumPy."""

import kp
import numpy as np
import pytest
from kp.lang import (
    Array,
    Const,
    GroupCount,
    GroupIndex,
    GroupIndex2,
    Index,
    Index2,
    LocalIndex,
    LocalIndex2,
    LocalSize,
    LocalSize3,
    atomic_add,
    atomic_and,
    atomic_compare_exchange,
    atomic_exchange,
    atomic_max,
    atomic_min,
    atomic_or,
    atomic_sub,
    atomic_xor,
    barrier,
    f32,
    i32,
    memory_barrier,
    shared,
    u32,
    vec3,
)

RANDOM = np.random.default_rng(7)


def test_ids_and_sizes():
    @kp.kernel(local_size=(4, 2))
    def ids(
        at: Index2, n: LocalIndex, t: LocalIndex2, g: GroupIndex2, size: LocalSize, sizes: LocalSize3, out: Array[i32]
    ):
        out[at.x + 12 * at.y] = (
            n + 10 * t.x + 100 * t.y + 1000 * g.x + 10000 * g.y + 100000 * (size + sizes.x * sizes.y * sizes.z)
        )

    out = np.zeros((4, 12), dtype=np.int32)
    ids(out, extent=(12, 4))
    y, x = np.mgrid[0:4, 0:12]
    expected = (x % 4 + 4 * (y % 2)) + 10 * (x % 4) + 100 * (y % 2) + 1000 * (x // 4) + 10000 * (y // 2) + 1600000
    assert np.array_equal(out, expected)


def test_extent_is_rounded_up_to_whole_groups():
    @kp.kernel(local_size=32)
    def count(i: Index, groups: GroupCount, out: Array[u32]):
        atomic_add(out, 0, 1)
        out[1] = u32(groups)
        atomic_max(out, 2, u32(i))

    for extent in (1, 31, 32, 33, 100):
        out = np.zeros(3, dtype=np.uint32)
        count(out, extent=extent)
        groups = -(-extent // 32)
        assert list(out) == [32 * groups, groups, 32 * groups - 1]


@kp.kernel(local_size=128)
def block_sums(i: Index, t: LocalIndex, g: GroupIndex, size: LocalSize, x: Array[f32], out: Array[f32]):
    part = shared(f32, size)
    part[t] = x[i] if i < len(x) else 0.0
    barrier()
    step = size // 2
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        barrier()
        step //= 2
    if t == 0:
        out[g] = part[0]


@pytest.mark.parametrize("count", [1, 127, 128, 1000, 20000])
def test_sum(count):
    x = RANDOM.integers(-1000, 1000, count).astype(np.float32)
    while len(x) > 1 or count:
        count = 0
        out = np.full(-(-len(x) // 128), -1, dtype=np.float32)
        block_sums(x, out, extent=len(x))
        assert np.array_equal(out, np.add.reduceat(x, np.arange(0, len(x), 128)))
        x = out


def test_inclusive_scan():
    @kp.kernel(local_size=64)
    def scan(i: Index, t: LocalIndex, x: Array[i32], out: Array[i32]):
        a = shared(i32, (2, 64))
        a[0, t] = x[i]
        now = 0
        reach = 1
        while reach < 64:
            barrier()
            a[1 - now, t] = a[now, t] + (a[now, t - reach] if t >= reach else 0)
            now = 1 - now
            reach *= 2
        out[i] = a[now, t]

    x = RANDOM.integers(-100, 100, 640).astype(np.int32)
    out = np.zeros_like(x)
    scan(x, out)
    assert np.array_equal(out, np.cumsum(x.reshape(-1, 64), axis=1).ravel())


def test_bitonic_sort():
    @kp.kernel(local_size=256)
    def sort(i: Index, t: LocalIndex, x: Array[f32]):
        s = shared(f32, 256)
        s[t] = x[i]
        k = 2
        while k <= 256:
            j = k // 2
            while j > 0:
                barrier()
                other = t ^ j
                if other > t:
                    up = (t & k) == 0
                    if (s[t] > s[other]) == up:
                        s[t], s[other] = s[other], s[t]
                j //= 2
            k *= 2
        barrier()
        x[i] = s[t]

    x = RANDOM.standard_normal(512).astype(np.float32)
    expected = np.sort(x.reshape(-1, 256), axis=1).ravel()
    sort(x)
    assert np.array_equal(x, expected)


def test_tiled_matrix_product():
    @kp.kernel(local_size=(16, 16))
    def matmul(at: Index2, t: LocalIndex2, n: i32, a: Array[f32], b: Array[f32], c: Array[f32]):
        rows = shared(f32, (16, 17))
        columns = shared(f32, (16, 17))
        total = 0.0
        for k in range(0, n, 16):
            rows[t.y, t.x] = a[n * at.y + k + t.x]
            columns[t.y, t.x] = b[n * (k + t.y) + at.x]
            barrier()
            for j in range(16):
                total += rows[t.y, j] * columns[j, t.x]
            barrier()
        c[n * at.y + at.x] = total

    a, b = RANDOM.integers(-8, 8, (2, 48, 48)).astype(np.float32)
    c = np.zeros_like(a)
    matmul(48, a, b, c, extent=(48, 48))
    assert np.array_equal(c, a @ b)


def test_histogram():
    @kp.kernel(local_size=64)
    def histogram(i: Index, t: LocalIndex, x: Array[u32], counts: Array[u32]):
        mine = shared(u32, 64)
        mine[t] = 0
        barrier()
        if i < len(x):
            atomic_add(mine, x[i], 1)
        barrier()
        atomic_add(counts, t, mine[t])

    @kp.kernel
    def plain(i: Index, x: Array[u32], counts: Array[u32]):
        atomic_add(counts, x[i], 1)

    x = RANDOM.integers(0, 64, 5000).astype(np.uint32)
    counts, others = np.zeros((2, 64), dtype=np.uint32)
    histogram(x, counts, extent=len(x))
    plain(x, others, extent=len(x))
    assert np.array_equal(counts, np.bincount(x, minlength=64))
    assert np.array_equal(others, counts)


def test_integer_atomics():
    @kp.kernel
    def atomics(i: Index, x: Array[i32], s: Array[i32], u: Array[u32]):
        n = x[i]
        atomic_add(s, 0, n)
        atomic_sub(s, 1, n)
        atomic_min(s, 2, n)
        atomic_max(s, 3, n)
        atomic_and(s, 4, n)
        atomic_or(s, 5, n)
        atomic_xor(s, 6, n)
        atomic_min(u, 0, u32(n))
        atomic_max(u, 1, u32(n))
        if atomic_exchange(s, 7, 1) == 0:  # one is the first
            atomic_add(u, 2, 1)
        if atomic_compare_exchange(u, 3, 5, u32(i)) == 5:
            atomic_add(u, 4, 1)

    x = RANDOM.integers(-(2**31), 2**31, 1000).astype(np.int32)
    s = np.array([0, 0, 0, 0, -1, 0, 0, 0], dtype=np.int32)
    u = np.array([2**32 - 1, 0, 0, 5, 0], dtype=np.uint32)
    atomics(x, s, u, extent=len(x))
    total = x.sum(dtype=np.int32)
    ored, anded, xored = (f.reduce(x) for f in (np.bitwise_or, np.bitwise_and, np.bitwise_xor))
    assert list(s) == [total, -total, min(x.min(), 0), max(x.max(), 0), anded, ored, xored, 1]
    bits = x.view(np.uint32)
    assert list(u[:3]) == [bits.min(), bits.max(), 1]
    assert u[4] == 1 or u[3] == 5


def test_float_atomics():
    @kp.kernel(local_size=64)
    def atomics(i: Index, t: LocalIndex, x: Array[f32], out: Array[f32], seen: Array[f32]):
        mine = shared(f32, 3)
        if t < 3:
            mine[t] = 0.0
        barrier()
        atomic_add(mine, 0, x[i])
        atomic_min(mine, 1, x[i])
        atomic_max(mine, 2, x[i])
        barrier()
        if t == 0:
            atomic_add(out, 0, mine[0])
            atomic_min(out, 1, mine[1])
            atomic_max(out, 2, mine[2])
        atomic_sub(out, 3, x[i])
        out[5 + i] = 2.0 * x[i]
        seen[i] = atomic_add(out, 4, 1.0)
        if i == 3:
            seen[len(x)] = atomic_exchange(out, 5 + len(x), 7.5)
            seen[len(x) + 1] = atomic_compare_exchange(out, 6 + len(x), 0.5, -1.5)

    x = RANDOM.integers(-1000, 1000, 256).astype(np.float32)
    out = np.zeros(len(x) + 7, dtype=np.float32)
    out[-2:] = 2.5, 0.5
    seen = np.zeros(len(x) + 2, dtype=np.float32)
    atomics(x, out, seen, extent=len(x))
    assert list(out[:5]) == [x.sum(), x.min(), x.max(), -x.sum(), len(x)]
    assert np.array_equal(out[5:-2], 2 * x)
    assert list(out[-2:]) == [7.5, -1.5]
    assert np.array_equal(np.sort(seen[:-2]), np.arange(len(x)))
    assert list(seen[-2:]) == [2.5, 0.5]


def test_functions_of_the_source_go_before():
    text = (
        "def shared(a, b):\n    return a + b\n\ndef barrier():\n    pass\n\ndef atomic_add(a, i, x):\n    return x\n\n"
        "def k(i: Index, x: Array[i32]):\n    n = shared(2, 3)\n    barrier()\n    x[i] = n + atomic_add(x, i, 10)\n"
    )
    x = np.zeros(3, dtype=np.int32)
    kp.kernel_from_source(text)(x)
    assert list(x) == [15, 15, 15]


ATOMICS_64 = """
def k(i: Index, x: Array[{t}], out: Array[{t}]):
    n = x[i]
    atomic_add(out, 0, n)
    atomic_min(out, 1, n)
    atomic_max(out, 2, n)
    atomic_xor(out, 3, n)
    if atomic_exchange(out, 4, 1) == 0:
        atomic_compare_exchange(out, 5, 0, 2**40)
"""
SHARED_64 = """
def k(i: Index, t: LocalIndex, x: Array[i64], out: Array[i64]):
    most = shared(i64, 1)
    most[0] = x[0]
    barrier()
    atomic_max(most, 0, x[i])
    barrier()
    out[0] = most[0]
"""


@pytest.mark.parametrize("t", ["i64", "u64"])
def test_atomics_of_64_bits(t):
    dtype = np.int64 if t == "i64" else np.uint64
    x = RANDOM.integers(0, 2**63, 256).astype(dtype)
    if t == "i64":
        x -= 2**62
    out = np.zeros(6, dtype=dtype)
    try:
        kp.kernel_from_source(ATOMICS_64.format(t=t))(x, out, extent=len(x))
    except kp.UnsupportedError as error:
        assert "shaderInt64" in str(error) or "shaderBufferInt64Atomics" in str(error)
        return
    assert list(out) == [x.sum(), min(x.min(), 0), x.max(), np.bitwise_xor.reduce(x), 1, 2**40]


def test_shared_atomics_of_64_bits():
    x = RANDOM.integers(-(2**62), 2**62, 64)
    out = np.zeros(1, dtype=np.int64)
    try:
        kp.kernel_from_source(SHARED_64, local_size=64)(x, out, extent=64)
    except kp.UnsupportedError as error:
        assert "shaderInt64" in str(error) or "Int64Atomics" in str(error)
        return
    assert out[0] == x.max()


def test_atomics_out_of_range_write_nothing():
    @kp.kernel
    def wild(i: Index, at: i32, n: Array[i32], x: Array[f32]):
        atomic_add(n, at, 1)
        atomic_add(x, at, 1.0)
        atomic_add(n, i, 1)
        atomic_add(x, i, 1.0)

    for at in (4, 5, 1000, -1, 2**29, 2**31 - 1, -(2**31)):
        n, x = np.zeros(4, dtype=np.int32), np.zeros(4, dtype=np.float32)
        wild(at, n, x, extent=4)
        assert list(n) == list(x) == [1, 1, 1, 1]


def test_shared_indices_out_of_range_stay_inside():
    @kp.kernel(local_size=8)
    def wild(t: LocalIndex, at: i32, out: Array[i32]):
        before = shared(i32, 8)
        m = shared(i32, 8)
        after = shared(i32, 8)
        before[t], m[t], after[t] = 10 + t, 20 + t, 30 + t
        barrier()
        if t == 0:
            m[at] = 99
        barrier()
        out[t], out[8 + t], out[16 + t] = before[t], m[t], after[t]
        out[24] = m[at]

    for at in (8, 9, 1000, -1, -8, 2**31 - 1, -(2**31)):
        out = np.zeros(25, dtype=np.int32)
        wild(at, out, extent=8)
        assert list(out[:8]) == list(range(10, 18))
        assert list(out[8:16]) == [*range(20, 27), 99]
        assert list(out[16:24]) == list(range(30, 38))
        assert out[24] == 99


def test_shared_vectors_and_lengths():
    @kp.kernel(local_size=4)
    def vectors(t: LocalIndex, out: Array[vec3], lengths: Array[i32]):
        v = shared(vec3, (2, 4))
        flags = shared(bool, 4)
        v[0, t] = vec3(f32(t), f32(t + 1), f32(t + 2))
        v[1, t].y = 5.0
        flags[t] = t % 2 == 0
        barrier()
        out[t] = v[0, 3 - t] if flags[t] else vec3(v[1, 3 - t].y)
        lengths[0], lengths[1] = len(v), len(flags)
        lengths[2] = i32(v[-2, -1].z)

    out = np.zeros((4, 3), dtype=np.float32)
    lengths = np.zeros(3, dtype=np.int32)
    vectors(out, lengths, extent=4)
    assert out.tolist() == [[3, 4, 5], [5, 5, 5], [1, 2, 3], [5, 5, 5]]
    assert list(lengths) == [2, 4, 5]


def test_invocations_talk_through_a_buffer():
    """The last workgroup to finish adds the others' results up: a memory barrier, then an atomic."""

    @kp.kernel(local_size=32)
    def total(
        i: Index,
        t: LocalIndex,
        g: GroupIndex,
        groups: GroupCount,
        x: Array[i32],
        part: Array[i32],
        done: Array[i32],
        out: Array[i32],
    ):
        mine = shared(i32, 1)
        last = shared(bool, 1)
        if t == 0:
            mine[0] = 0
        barrier()
        atomic_add(mine, 0, x[i])
        barrier()
        if t == 0:
            part[g] = mine[0]
            memory_barrier()
            last[0] = atomic_add(done, 0, 1) == groups - 1
        barrier()
        if last[0] and t == 0:
            memory_barrier()
            for k in range(groups):
                out[0] += part[k]

    x = RANDOM.integers(-1000, 1000, 2048).astype(np.int32)
    part, done, out = np.zeros(64, dtype=np.int32), np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int32)
    total(x, part, done, out, extent=len(x))
    assert out[0] == x.sum()


def test_constants():
    @kp.kernel(local_size=16)
    def fill(
        t: LocalIndex, n: Const[i32], x: Array[f32], twice: Const[bool], scale: Const[f32] = 0.5, u: Const[u32] = 7
    ):
        part = shared(f32, (2, n))
        part[1, t % n] = f32(t % n)
        barrier()
        x[t] = scale * part[1, n - 1] + f32(len(part))
        if twice:
            x[t] *= 2.0
        x[15] = f32(u)

    assert [
        (param.name, param.kind, param.spec_id, param.default) for param in fill.params if param.kind == "spec"
    ] == [
        ("n", "spec", 0, None),
        ("twice", "spec", 1, None),
        ("scale", "spec", 2, 0.5),
        ("u", "spec", 3, 7),
    ]
    x = np.zeros(16, dtype=np.float32)
    for n, twice, scale in ((4, False, 0.5), (4, True, 0.5), (8, True, -2.0), (4, False, 0.5)):
        fill(n, x, twice, scale=scale)
        assert list(x[:15]) == [(scale * (n - 1) + 2) * (2 if twice else 1)] * 15
        assert x[15] == 7
    fill(x=x, n=2, twice=False, u=2**32 - 1)
    assert list(x[:15]) == [2.5] * 15
    assert x[15] == 2.0**32

    mgr = kp.Manager()
    tensor = mgr.tensor(x)
    algorithm = fill.algorithm(mgr, [tensor], n=8, twice=True, u=3)
    mgr.sequence().eval(kp.OpAlgoDispatch(algorithm)).eval(kp.OpSyncLocal([tensor]))
    assert list(tensor.data()) == [11] * 15 + [3]
    with pytest.raises(TypeError, match=r"fill\(\) missing arguments: twice"):
        fill(4, x)
    with pytest.raises(OverflowError, match="2.* does not fit in i32"):
        fill(2**31, x, False)
    with pytest.raises(kp.LimitError, match="maxComputeSharedMemorySize"):
        fill(2**20, x, False)


def test_limits_are_refused_with_both_numbers():
    mgr = kp.Manager()
    device = next(d for d in kp.devices() if d.name == mgr.get_device_properties()["device_name"])
    tensor = mgr.tensor_t(np.zeros(4, dtype=np.int32))
    most = device.max_workgroup_invocations

    text = f"@kernel(local_size={2 * most})\ndef k(t: LocalIndex, x: Array[i32]):\n    x[t] = 0\n"
    with pytest.raises(kp.LimitError, match=rf"\b{device.max_workgroup_size[0]}\b.*\b{2 * most}\b"):
        kp.kernel_from_source(text)(tensor, extent=4)

    words = device.max_shared_memory // 4
    for extra in (0, 1):
        text = (
            "@kernel(local_size=1)\ndef k(t: LocalIndex, x: Array[i32]):\n"
            f"    m = shared(i32, {words + extra})\n    m[t] = 7\n    x[t] = m[t]\n"
        )
        if extra:
            with pytest.raises(kp.LimitError, match=rf"\b{4 * words}\b.*\b{4 * words + 4}\b"):
                kp.kernel_from_source(text)(tensor, extent=1)
        else:
            kp.kernel_from_source(text)(tensor, extent=1)
