"""Local arrays and arrays in buffers: what a kernel computes is what Python's lists give."""

import functools
import textwrap

import kp
import numpy as np
import pytest
from kp.lang import Array, Index, f32, i32


def run(text, *arguments, extent=None):
    """Runs the kernel and gives its last argument back."""
    kernel = kp.kernel_from_source(textwrap.dedent(text))
    kernel(*arguments, extent=extent)
    return arguments[-1]


def ints(*shape):
    return np.zeros(shape, dtype=np.int32)


def test_a_local_array_counts():
    x = np.arange(1000, dtype=np.int32) * 7919 % 251
    out = run(
        """
        def histogram(i: Index, x: Array[i32], out: Array[i32]):
            count = [0] * 16
            for k in range(len(x)):
                count[x[k] % 16] += 1
            for k in range(len(count)):
                out[k] = count[k]
        """,
        x,
        ints(16),
        extent=1,
    )
    assert out.tolist() == np.bincount(x % 16, minlength=16).tolist()


def test_each_call_has_arrays_of_its_own():
    out = run(
        """
        def k(i: Index, out: Array[i32]):
            a = [i, 2 * i, 3 * i]
            a[1] += 1
            if i % 2 == 0:
                b = [5] * 100
                b[i % 100] = i
            c = [1] * 100
            c[3] = b[i % 100] + b[7]
            out[i] = a[0] + a[1] + a[2] + c[3]
        """,
        ints(300),
    )
    wanted = []
    for i in range(300):
        b = [5] * 100 if i % 2 == 0 else [0] * 100  # a variable that only some paths assign reads 0
        if i % 2 == 0:
            b[i % 100] = i
        wanted.append(6 * i + 1 + b[i % 100] + b[7])
    assert out.tolist() == wanted


@pytest.mark.parametrize("kind", ["i32", "u32"])
def test_an_index_out_of_range_stays_inside(kind):
    """A negative one counts from the end as in Python; beyond either end it is the last element."""
    index = np.array([0, 1, 3, 4, 5, -1, -2, -4, -5, 2**31 - 1, -(2**31)], dtype=np.int32)
    out = run(
        f"""
        def k(i: Index, index: Array[{kind}], out: Array[i32]):
            a = [10, 20, 30, 40]
            guard = [7] * 4
            at = index[i]
            x = a[at]
            a[at] = 1
            v = ivec4(10, 20, 30, 40)
            out[i] = 1000 * guard[i % 4] + x + 100 * (a[0] + a[1] + a[2] + a[3] - 101 + x) + 10000 * v[at]
        """,
        index if kind == "i32" else index.view(np.uint32),
        ints(len(index)),
    )
    a = [10, 20, 30, 40]
    found = [a[k] if 0 <= k < 4 or (-4 <= k < 0 and kind == "i32") else a[3] for k in index.tolist()]
    assert out.tolist() == [7000 + x + 10000 * x for x in found]


def test_loops_go_over_arrays():
    x = np.array([3, 1, 4, 1, 5], dtype=np.int32)
    out = run(
        """
        def k(i: Index, x: Array[i32], out: Array[i32]):
            total = 0
            for y in x:
                if y == 4:
                    continue
                total += y
            out[0] = total
            a = [1, 2, 3]
            for y in a:
                a[2] = 10               # seen when the loop gets there, as in Python
                total += y
            out[1] = total
            for y in (5, 6, 7):
                if y == 6:
                    break
            else:
                y = 100
            out[2] = y
            m = [[1, 2], [3, 4]]
            row = 0
            for y in m[row]:
                row = 1                 # the loop stays in the row that it started in
                total += y
            out[3] = total
            for z in vec2(0.5, 2.5):
                total += i32(2.0 * z)
            out[4] = total
            for y in [n * n for n in range(3)]:
                total += y
            out[5] = total
        """,
        x,
        ints(6),
        extent=1,
    )
    assert out.tolist() == [10, 23, 6, 26, 32, 37]


def test_comprehensions():
    out = run(
        """
        def k(i: Index, out: Array[i32]):
            k = 5
            squares = [k * k for k in range(6)]
            down = [x + k for x in range(10, 0, -3)]
            table = [[r * c for c in range(4)] for r in range(3)]
            rows = [row[1] for row in [[1, 2], [3, 4]]]
            for step in range(2):
                moved = [squares[x + step] for x in range(5)]
                squares = [s + step for s in squares]
            at = 0
            for x in squares:
                out[at] = x
                at += 1
            for x in down:
                out[at] = x
                at += 1
            for r in range(3):
                for x in table[r]:
                    out[at] = x
                    at += 1
            for x in rows:
                out[at] = x
                at += 1
            for x in moved:
                out[at] = x
                at += 1
            out[at] = k
        """,
        ints(30),
        extent=1,
    )
    k = 5
    squares = [x * x for x in range(6)]
    down = [x + k for x in range(10, 0, -3)]
    table = [r * c for r in range(3) for c in range(4)]
    for step in range(2):
        moved = [squares[x + step] for x in range(5)]
        squares = [s + step for s in squares]
    assert out.tolist() == [*squares, *down, *table, 2, 4, *moved, k]


def test_a_matrix_of_19_by_19_compiles_fast_and_right():
    x = np.random.default_rng(1).standard_normal((19, 19)).astype(np.float32)
    out = run(
        """
        def product(i: Index, x: Array[f32], out: Array[f32]):
            m = [[x[r * 19 + c] for c in range(19)] for r in range(19)]
            z = [[0.0] * 19 for _ in range(19)]
            for r in range(19):
                for c in range(19):
                    s = 0.0
                    for k in range(19):
                        s += m[r][k] * m[k][c]
                    z[r][c] = s
            for c in range(19):
                out[19 * i + c] = z[i][c]
        """,
        x,
        np.zeros(361, dtype=np.float32),
        extent=19,
    )
    np.testing.assert_allclose(out.reshape(19, 19), x @ x, rtol=1e-4, atol=1e-4)


def test_a_copy_is_another_array():
    out = run(
        """
        def k(i: Index, out: Array[i32]):
            a = [1, 2, 3]
            b = a.copy()
            b[0] = 10
            m = [[1, 2], [3, 4]]
            row = m[1].copy()
            row[0] = 9
            m[0] = [7, 8]
            a, b = [b[2], b[1], b[0]], [a[0], 0, 0]
            out[0], out[1], out[2], out[3], out[4] = a[0], a[2], b[0], m[1][0], m[0][1]
        """,
        ints(5),
        extent=1,
    )
    assert out.tolist() == [3, 10, 1, 3, 8]


def test_arrays_of_vectors_and_bools():
    out = run(
        """
        def k(i: Index, out: Array[vec3]):
            a = [vec3(1, 2, 3)] * 3
            a[1].xz = vec2(7, 8)
            a[i].y = 0.5
            flags = [False] * 3
            flags[2] = True
            out[i] = a[i] if flags[i] else a[1]
        """,
        np.zeros((3, 3), dtype=np.float32),
    )
    assert out.tolist() == [[7, 2, 8], [7, 0.5, 8], [1, 0.5, 3]]


def digits(row):
    a, b = row
    return 10 * a + b


def unpacked(i: Index, x: Array[Array(2, i32)], out: Array[i32]):
    rows = [[1, i], [i, 2]]
    for a, b in rows:
        out[i] = 100 * out[i] + 10 * a + b
    a, b = x[i]
    x[i][1], x[i][0] = x[i]
    p, (q, r) = digits(rows[1]), x[i]
    rows[0][1], rows[0][0] = rows[0]
    c, d = e, f = rows[0]
    out[i] = 100 * out[i] + 10 * a + b
    out[i] += 1000000 * (p + q - r) + 3 * c - d + 5 * e - f


def test_unpacking():
    wanted, sums = [[3, 9], [4, 5], [8, 7]], [0, 0, 0]
    x = np.array(wanted, dtype=np.int32)
    for i in range(3):
        unpacked(i, wanted, sums)
    for run_it in (kp.kernel(unpacked), functools.partial(kp.emulate, unpacked)):
        y, out = x.copy(), ints(3)
        run_it(y, out)
        assert (y.tolist(), out.tolist()) == (wanted, sums)


@pytest.mark.parametrize("emulated", [False, True])
def test_a_buffer_gets_copies(emulated):
    text = """
class Row(Struct):
    n: Array(3, i32)
    w: Array(2, f32)
def put(rows, k, a):
    rows[k].n = a
def k(i: Index, x: Array[Array(3, i32)], rows: Array[Row]):
    a = [1, 2, 3]
    x[i] = a
    a[0] = 9
    put(rows, i, a)
    a[1] = 9
    x[1], x[2] = x[2], x[1]
    rows[1].n = x[3]
    rows[i].w = [1, 2]
    rows[1] = Row([4, 5, 6], [3, 4])
    rows[2].w, rows[3].w = rows[1].w, rows[2].w
    x[3] = rows[1].n
    m = [[1, 2], [0.5, f32(i)]]
    rows[2].w[1] = m[0][1] / 4
    m[1] = [7, 8]
    rows[3].w = m[1]
"""
    x = np.arange(12, dtype=np.int32).reshape(4, 3)
    rows = np.zeros(4, np.dtype([("n", np.int32, 3), ("w", np.float32, 2)]))
    kernel = kp.kernel_from_source(text)
    (kernel.emulate if emulated else kernel)(x, rows, extent=1)
    assert x.tolist() == [[1, 2, 3], [6, 7, 8], [3, 4, 5], [4, 5, 6]]
    assert rows["n"].tolist() == [[9, 2, 3], [4, 5, 6], [0, 0, 0], [0, 0, 0]]
    assert rows["w"].tolist() == [[1, 2], [3, 4], [3, 0.5], [7, 8]]


def test_buffers_of_arrays():
    p = np.arange(12, dtype=np.float32).reshape(4, 3)
    q = np.arange(20, dtype=np.int32).reshape(4, 5)
    kernel = kp.kernel_from_source(
        """def k(i: Index, p: Array[vec3], q: Array[Array(5, i32)]):
            row = q[i].copy()
            row[-1] = len(p) + len(row)
            q[i][0] = 100 + row[1]
            for x in q[i]:
                p[i].y += f32(x)
            q[i][4] = row[4]
        """
    )
    wanted_p, wanted_q = p.copy(), q.copy()
    wanted_q[:, 0] = 100 + wanted_q[:, 1]
    wanted_p[:, 1] += wanted_q.sum(axis=1)
    wanted_q[:, 4] = 9
    kernel(p, q)
    assert p.tolist() == wanted_p.tolist()
    assert q.tolist() == wanted_q.tolist()


def test_a_long_array_is_filled():
    out = run(
        """
        def k(i: Index, n: i32, out: Array[i32]):
            a = [n + i] * 1000
            b = Array(300, i32)()
            a[i] = b[5 * i]
            b[i] = 1
            s = 0
            for x in a:
                s += x
            out[i] = s + b[i]
        """,
        3,
        ints(2),
    )
    assert out.tolist() == [999 * 3 + 1, 999 * 4 + 1]


def test_the_names_stand_in_annotations():
    @kp.kernel
    def k(i: Index, q: Array[Array(3, i32)], out: Array[f32]):
        a: Array(2, f32) = [0] * 2
        b = Array(2, f32)()
        b[1] = f32(q[i][2])
        out[i] = a[0] + b[1]

    out = np.zeros(2, dtype=np.float32)
    k(np.arange(6, dtype=np.int32).reshape(2, 3), out)
    assert out.tolist() == [2, 5]
    assert repr(Array(3, i32)) == "Array(3, i32)"
