"""Atomics on floats: by one instruction where the device has it, by a loop of compare and exchange where not. The values are
NumPy's and Python's in either case. (Which of the two it is, tests/gpu/test_atomics.c looks at.)"""

import itertools

import kp
import numpy as np
import pytest
from kp.lang import (
    Array,
    Index,
    Index2,
    LocalIndex,
    atomic_add,
    atomic_compare_exchange,
    atomic_exchange,
    atomic_max,
    atomic_min,
    atomic_or,
    atomic_sub,
    barrier,
    f32,
    i32,
    ivec2,
    mat2,
    shared,
    u32,
    vec2,
    vec3,
    vec4,
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


# ----------------------------------------------------------------------------------------------------------------------
# What is inside of an element
# ----------------------------------------------------------------------------------------------------------------------


class Cell(kp.Struct):
    count: u32
    mass: f32
    at: vec3
    velocity: vec2
    parts: Array(3, f32)
    turn: mat2
    ends: Array(2, ivec2)


class Both:
    """Runs a kernel on the device and in CPython, on copies of the same arrays, and holds the two equal."""

    def __init__(self, kernel, extent):
        self.kernel, self.extent = kernel, extent

    def __call__(self, *arrays):
        copies = [a.copy() for a in arrays]
        self.kernel(*arrays, extent=self.extent)
        self.kernel.emulate(*copies, extent=self.extent)
        for a, b in zip(arrays, copies, strict=True):
            assert a.tobytes() == b.tobytes(), (a, b)
        return arrays


def start(count):
    cells = np.zeros(count, Cell.dtype)
    cells["mass"] = np.arange(count)
    cells["at"] = np.arange(3 * count).reshape(count, 3)
    cells["turn"] = np.arange(4 * count).reshape(count, 2, 2)
    cells["ends"] = 8
    return cells


def test_fields_of_structs():
    """With an atomic_max among them: all floats of the buffer are kept as bits."""

    @kp.kernel
    def fields(i: Index, cells: Array[Cell]):
        c = i % 4
        atomic_add(cells[c].count, 1)
        atomic_add(cells[c].mass, 0.5)
        atomic_sub(cells[c].at.y, 1.0)
        atomic_max(cells[c].velocity.x, f32(i))
        atomic_add(cells[c].velocity[1 + i // 400], 2.0)
        atomic_add(cells[c].parts[1], 1.0)
        atomic_add(cells[c].parts, 2, 3.0)
        atomic_add(cells[c].turn[1, 0], 1.0)
        atomic_or(cells[c].ends[1].y, 1)
        if i == 3:
            atomic_compare_exchange(cells[-1].parts[0], 0.0, 9.0)
            atomic_exchange(cells[-1].at[0], -1.0)

    (cells,) = Both(fields, 400)(start(5))
    expected = start(5)
    i = np.arange(400)
    expected["count"][:4] = 100
    expected["mass"][:4] += 50
    expected["at"][:4, 1] -= 100
    expected["velocity"][:4, 0] = [i[(i % 4 == c)].max() for c in range(4)]
    expected["parts"][:4, 1], expected["parts"][:4, 2] = 100, 300
    expected["turn"][:4, 1, 0] += 100
    expected["ends"][:4, 1, 1] |= 1
    expected["parts"][4, 0], expected["at"][4, 0] = 9, -1
    names = [name for name in Cell.dtype.names if name != "velocity"]
    assert all(np.array_equal(cells[name], expected[name]) for name in names)
    assert np.array_equal(cells["velocity"][:4, 1], [200] * 4)


def test_what_is_only_added_to_stays_as_it_is():
    """Whole elements are copied beside it."""

    @kp.kernel
    def added(i: Index, cells: Array[Cell], v: Array[vec4], w: Array[vec3], m: Array[mat2], rows: Array[Array(3, f32)]):
        atomic_add(cells[0].mass, 1.0)
        atomic_sub(cells[0].at.z, 1.0)
        atomic_add(v[0].w, 1.0)
        atomic_add(w[0][i % 3], 1.0)
        atomic_add(m[0][0, 1], 1.0)
        atomic_add(rows[0], 2, 1.0)
        if i == 0:
            cells[2] = cells[1]
            v[2], w[2], m[2] = v[1] + v[1].wzyx, w[1] * 2.0, 2.0 * m[1]
            rows[2][0] = rows[1][2]

    count = 300
    shapes = [(3, 4), (3, 3), (3, 2, 2), (3, 3)]
    v, w, m, rows = (np.arange(np.prod(s), dtype=np.float32).reshape(s) for s in shapes)
    cells, v, w, m, rows = Both(added, count)(start(3), v, w, m, rows)
    assert cells[0]["mass"] == count and cells[0]["at"][2] == 2 - count and cells[2] == cells[1]
    assert v[0].tolist() == [0, 1, 2, 3 + count] and v[2].tolist() == [11, 11, 11, 11]
    assert w[0].tolist() == [count / 3, 1 + count / 3, 2 + count / 3] and w[2].tolist() == [6, 8, 10]
    assert m[0].tolist() == [[0, 1 + count], [2, 3]] and m[2].tolist() == [[8, 10], [12, 14]]
    assert rows[0].tolist() == [0, 1, 2 + count] and rows[2].tolist() == [5, 7, 8]


def test_elements_of_views():
    @kp.kernel
    def views(at: Index2, a: Array[f32, 2], n: Array[i32, 3], v: Array[vec2, 2]):
        atomic_add(a[at.y, at.x % 2], 1.0)
        atomic_sub(a, (at.y, -1), 2.0)
        atomic_max(n[at.x % 2, at.y, 1], at.x)
        atomic_add(v[at.y, at.x % 3].y, 0.5)

    a, n, v = np.zeros((4, 3), np.float32), np.zeros((2, 4, 2), np.int32), np.zeros((4, 3, 2), np.float32)
    Both(views, (60, 4))(a, n, v)
    assert a.tolist() == [[30, 30, -120]] * 4
    assert n.tolist() == [[[0, 58]] * 4, [[0, 59]] * 4]
    assert v.tolist() == [[[0, 10]] * 3] * 4


def test_shared_structs_vectors_and_tables():
    @kp.kernel(local_size=32)
    def totals(i: Index, t: LocalIndex, x: Array[f32], cells: Array[Cell], out: Array[f32]):
        part = shared(Cell, 2)
        table = shared(f32, (2, 3))
        v = shared(vec3, 2)
        m = shared(mat2, 2)
        counts = shared(ivec2, 2)
        rows = shared(Array(3, vec2), 2)
        if t < 2:
            part[t] = cells[t]
            v[t], m[t], counts[t] = vec3(0.0), mat2(0, 0, 0, 0), ivec2(0)
            for k in range(3):
                table[t, k] = 0.0
                rows[t][k] = vec2(0.0)
        barrier()
        k = t % 2
        atomic_add(part[k].count, 1)
        atomic_add(part[k].mass, x[i])
        atomic_min(part[k].at.z, x[i])
        atomic_add(part[k].parts[2], 1.0)
        atomic_add(table[k, t % 3], 1.0)
        atomic_sub(v[k].y, x[i])
        atomic_max(m[k][1, 0], x[i])
        atomic_add(counts[k].y, 2)
        atomic_sub(rows[k][1].y, 0.5)
        barrier()
        if t < 2:
            cells[t] = part[t]
            at = 7 * t
            for c in range(3):
                out[at + c] = table[t, c]
            out[at + 3] = v[t].y
            out[at + 4], out[at + 5] = m[t][1, 0], rows[t][1].y + rows[t][0].y + m[t][0, 0]
            out[at + 6] = f32(counts[t].y - counts[t].x)

    x = np.arange(32, dtype=np.float32)[::-1].copy()
    x, cells, out = Both(totals, 32)(x, start(2), np.zeros(14, np.float32))
    t = np.arange(32)
    for k in range(2):
        mine = x[t % 2 == k]
        assert cells[k]["count"] == 16 and cells[k]["mass"] == k + mine.sum() and cells[k]["parts"][2] == 16
        assert cells[k]["at"].tolist() == [3 * k, 3 * k + 1, min(3 * k + 2, mine.min())]
        assert cells[k]["turn"].tolist() == [[4 * k, 4 * k + 1], [4 * k + 2, 4 * k + 3]]
        table = [np.sum((t % 2 == k) & (t % 3 == c)) for c in range(3)]
        assert out[7 * k : 7 * k + 7].tolist() == [*table, -mine.sum(), mine.max(), -8, 32]


def test_places_out_of_range_are_left_alone():
    @kp.kernel
    def wild(i: Index, at: i32, cells: Array[Cell], v: Array[vec2], rows: Array[Array(3, f32)]):
        atomic_add(cells[at].count, 1)
        atomic_add(cells[at].at.y, 1.0)
        atomic_add(v[at].x, 1.0)
        atomic_add(rows[at][1], 1.0)
        atomic_max(cells[i].mass, 100.0)

    for at in (4, 5, 1000, -1, 2**29, 2**31 - 1, -(2**31)):
        cells, v, rows = start(4), np.zeros((4, 2), np.float32), np.zeros((4, 3), np.float32)
        wild(at, cells, v, rows, extent=4)
        expected = start(4)
        expected["mass"] = 100
        assert cells.tobytes() == expected.tobytes() and not v.any() and not rows.any()


def test_places_in_helpers():
    def bump(row, x):
        atomic_add(row[1], x)
        return atomic_sub(row, 0, x)

    def note(cells, k):
        return atomic_add(cells[k].count, 1)

    @kp.kernel
    def helped(i: Index, rows: Array[Array(3, f32)], cells: Array[Cell], seen: Array[u32]):
        bump(rows[i % 2], 2.0)
        seen[note(cells, 1)] = 1

    rows, cells, seen = np.zeros((2, 3), np.float32), start(2), np.zeros(64, np.uint32)
    Both(helped, 64)(rows, cells, seen)
    assert rows.tolist() == [[-64, 64, 0]] * 2 and cells["count"].tolist() == [0, 64] and seen.all()


def test_a_buffer_of_one_value():
    text = """
def k(i: Index, total=("buffer", 0, f32), cell=("buffer", 1, Struct(n=u32, at=vec3))):
    atomic_add(total, 0.5)
    atomic_add(cell.n, 2)
    atomic_sub(cell.at.z, 1.0)
"""
    cell = np.zeros(1, np.dtype([("n", np.uint32), ("at", np.float32, 3)]))
    total = np.zeros(1, np.float32)
    kp.kernel_from_source(text)(total, cell, extent=1000)
    assert total[0] == 500 and cell["n"][0] == 2000 and cell["at"].tolist() == [[0, 0, -1000]]
    with pytest.raises(TypeError, match="line 3: 'total' is a number in Python, which an atomic cannot change"):
        kp.kernel_from_source(text).emulate(total, cell, extent=1)
    rest = text.replace("total, 0.5", "at.y, total").replace("total=(", "at=('buffer', 2, vec3), total=(")
    arrays = [np.zeros(3, np.float32), np.ones(1, np.float32), np.zeros(1, cell.dtype)]
    kp.kernel_from_source(rest).emulate(*arrays, extent=10)
    assert arrays[0].tolist() == [0, 10, 0] and arrays[2]["n"][0] == 20 and arrays[2]["at"].tolist() == [[0, 0, -10]]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("cells[i + 3].count", "index 5 of 'cells' is out of range for size 5"),
        ("cells[0].parts[i + 2]", "index 3 of 'cells\\[0\\].parts' is out of range for size 3"),
        ("a[i, 0]", "index 2 of 'a' is out of range for size 2"),
        ("a[0, i + 1]", "index 3 of 'a' is out of range for size 3"),
    ],
)
def test_checked_places(place, message):
    text = f"""
class Cell(Struct):
    count: i32
    parts: Array(3, i32)
def k(i: Index, cells: Array[Cell], a: Array[i32, 2]):
    atomic_add({place}, 1)
"""
    cells = np.zeros(5, np.dtype([("count", np.int32), ("parts", np.int32, 3)]))
    with pytest.raises(IndexError, match=message):
        kp.kernel_from_source(text, checked=True)(cells, np.zeros((2, 3), np.int32), extent=5)
