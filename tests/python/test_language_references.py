"""Arrays as arguments of helpers: by reference, as Python's lists are, whole or in part, in variables, buffers and shared memory."""

import textwrap

import kp
import numpy as np
import pytest
from kernel_check import check
from kp.lang import Array, Index, LocalIndex, barrier, f32, i32, shared


def sort(values):
    for k in range(1, len(values)):
        at = k
        while at > 0 and values[at - 1] > values[at]:
            values[at - 1], values[at] = values[at], values[at - 1]
            at -= 1


def fill(a: Array[i32], start):
    for k in range(len(a)):
        a[k] = start + k


def total(a: Array[i32]):
    s = 0
    for x in a:
        s += x
    return s


def sort_and_sum(values, start):
    fill(values, start)
    values[0] = 100
    sort(values)
    return total(values)


@kp.kernel
def sorted_rows(i: Index, x: Array[i32], out: Array[i32]):
    row = [x[8 * i + k] for k in range(8)]
    sort(row)
    for k in range(8):
        out[9 * i + k] = row[k]
    out[9 * i + 8] = sort_and_sum(row, i) + 1000 * row[7] + total([1, 2, 3])


@pytest.mark.parametrize("how", ["device", "cpython"])
def test_a_helper_sorts_the_list_of_its_caller(how):
    x = (np.arange(80, dtype=np.int32) * 7919) % 101 - 50
    out = np.zeros(90, dtype=np.int32)
    (sorted_rows if how == "device" else sorted_rows.emulate)(x, out, extent=10)
    for i in range(10):
        row = sorted(x[8 * i : 8 * i + 8].tolist())
        rest = sorted([100, *range(i + 1, i + 8)])
        assert out[9 * i : 9 * i + 9].tolist() == [*row, sum(rest) + 1000 * rest[7] + 6]


def test_rows_and_the_whole_are_one():
    """The same array under several names, in part or whole: each sees what the others write, as in Python."""
    check(
        """
        def add(to, a, k):
            for n in range(len(to)):
                to[n] += k * a[n]
                a[n] += 1

        def twice(m, at, row):
            add(m[at], row, 2)
            add(row, row, 3)
            m[at][0] += row[1]

        def k(i: Index, out: Array[i32]):
            m = [[3 * r + c + i for c in range(3)] for r in range(3)]
            add(m[i % 3], m[(i + 1) % 3], 2)
            add(m[i % 3], m[i // 3 % 3], 5)
            add(m[-1], m[i % 3 - 3], 1)
            twice(m, i % 2, m[i % 3])
            for r in range(3):
                for c in range(3):
                    out[9 * i + 3 * r + c] = m[r][c]
        """,
        np.zeros(81, dtype=np.int32),
        extent=9,
    )


def test_deep_arrays_and_vectors():
    check(
        """
        def inner(v, x):
            v[1].x += x
            v[0] = v[1] * 2.0

        def middle(rows, x):
            inner(rows[1], x)
            inner(rows[0], rows[1][0].y)

        def k(i: Index, x: Array[f32], out: Array[f32]):
            a = [[[vec2(f32(r), f32(2 * c + p)) for p in range(2)] for c in range(2)] for r in range(3)]
            middle(a[i % 3], x[i])
            out[i] = 0.0
            for plane in range(3):
                for row in range(2):
                    out[i] += a[plane][row][0] @ vec2(1, 3) + a[plane][row][1] @ vec2(5, 7)
        """,
        np.arange(9, dtype=np.float32),
        np.zeros(9, dtype=np.float32),
    )


def test_rows_of_a_buffer():
    """What a helper does to an element that is an array, it does to the buffer; another helper sees it there."""
    got = check(
        """
        def scale(row, k):
            for n in range(len(row)):
                row[n] *= k

        def use(row, i, whole):
            scale(row, 3)
            row[0] += whole[i][1]

        def k(i: Index, a: Array[Array(3, i32)]):
            use(a[i], i, a)
        """,
        np.arange(30, dtype=np.int32).reshape(10, 3),
        extent=10,
    )[0]
    wanted = np.arange(30).reshape(10, 3) * 3
    wanted[:, 0] += wanted[:, 1]
    assert (got == wanted).all()


def test_a_buffer_that_a_helper_writes_a_row_of_comes_back():
    text = "def put(row, k):\n    row[1] = k\n\ndef k(i: Index, a: Array[Array(2, f32)]):\n    put(a[i], f32(i))\n"
    kernel = kp.kernel_from_source(text)
    assert kernel.params[1].writes
    a = np.zeros((5, 2), dtype=np.float32)
    kernel(a)
    assert a.tolist() == [[0, k] for k in range(5)]


def test_arguments_come_before_the_call_in_order():
    """An index is worked out where it stands; what is in the array, when the helper looks."""
    check(
        """
        def bump(a, k):
            a[k] += 1
            return a[k]

        def read(a, x, row):
            return 100 * a[0] + 10 * x + row[1]

        def k(i: Index, out: Array[i32]):
            a = [i, 1, 2]
            m = [[1, 2], [3, 4]]
            out[i] = read(a, bump(a, 0), m[bump(a, 1) % 2]) + read([i] * 3, bump(a, 2), [5, bump(a, 1)])
        """,
        np.zeros(5, dtype=np.int32),
    )


def reverse(tile, n: i32):
    for k in range(n // 2):
        tile[k], tile[n - 1 - k] = tile[n - 1 - k], tile[k]


def tail(tile: Array[f32]) -> f32:
    return tile[len(tile) - 1]


@kp.kernel(local_size=8)
def with_shared(i: Index, t: LocalIndex, x: Array[f32], out: Array[f32]):
    tile = shared(f32, 8)
    own = [f32(i), 0.5]
    tile[t] = x[i]
    barrier()
    if t == 0:
        reverse(tile, 8)
    barrier()
    out[i] = tile[t] + tail(tile) + tail(own) + tail(x)


@pytest.mark.parametrize("how", ["device", "cpython"])
def test_shared_memory_and_buffers(how):
    x, out = np.arange(16, dtype=np.float32), np.zeros(16, dtype=np.float32)
    (with_shared if how == "device" else with_shared.emulate)(x, out, extent=16)
    rows = x.reshape(2, 8)
    assert out.tolist() == (rows[:, ::-1] + rows[:, :1] + 0.5 + 15).reshape(-1).tolist()


def test_a_barrier_under_what_a_helper_wrote():
    """An array that a helper fills with what differs makes a condition differ."""
    text = """
        def put(a, x):
            a[0] = x

        def k(i: Index, t: LocalIndex, out: Array[i32]):
            a = [0, 0]
            put(a, t)
            if a[0] > 1:
                barrier()
            out[i] = a[0]
    """
    with pytest.raises(kp.CompileError, match="the condition of line 8 is not the same for all"):
        kp.kernel_from_source(textwrap.dedent(text), local_size=8)


def test_a_checked_kernel_finds_a_row_out_of_range():
    text = """
        def put(row, k):
            row[k] = 1

        def k(i: Index, at: i32, out: Array[i32]):
            m = [[0, 0], [0, 0]]
            put(m[at], 0)
            put(m[0], 1 + at)
            out[i] = m[0][1]
    """
    kernel = kp.kernel_from_source(textwrap.dedent(text), checked=True)
    out = np.zeros(1, dtype=np.int32)
    kernel(0, out)
    assert out[0] == 1
    with pytest.raises(IndexError, match="index 2 of 'm' is out of range for size 2"):
        kernel(2, out)
    with pytest.raises(IndexError, match="index 2 of 'row' is out of range for size 2"):
        kernel(1, out)
