"""kp.emulate: the function itself runs, in CPython, on the arrays that it is given; numbers are a device's. That it gives what
devices give is what the language tests compare."""

import array
import enum
import io
import linecache
import math
import pdb

import kp
import numpy as np
import pyshader as ps
import pytest
from kp.lang import Array, Index, Index2, LocalIndex, LocalSize, exp, f32, i32, u8, u32, vec2, vec3
from typekit import TYPES

SCALE = 3
TYPED = np.float32(0.1)


class Mode(enum.IntEnum):
    DOUBLE = 2


@kp.kernel
def saxpy(i: Index, a: f32, x: Array[f32], y: Array[f32]):
    y[i] = a * x[i] + y[i]


def test_a_call_with_no_device(python):
    """All that a call of a kernel takes, on a machine without Vulkan."""
    code = """
import kp, numpy as np, os, sys
sys.path.insert(0, sys.argv[1])
from test_emulate import saxpy
y = np.array([10, 20, 30], np.float32)
saxpy.emulate(2.0, [1, 2, 3], y)
kp.emulate(saxpy, x=[1, 2, 3], a=1, y=y, extent=1)
print(y.tolist(), kp.devices())
"""
    nowhere = {"VK_DRIVER_FILES": "/nonexistent.json", "VK_ICD_FILENAMES": "/nonexistent.json"}
    assert python(code, __file__.rpartition("/")[0], env=nowhere) == "[13.0, 24.0, 36.0] []\n"


def test_arrays_of_all_kinds_are_changed_in_place(mgr):
    x = np.array([1, 2], np.float32)
    tensor, strided = mgr.tensor([1, 1]), np.zeros(4, np.float32)[::2]
    for y in (
        [1.0, 1.0],
        array.array("f", [1, 1]),
        tensor,
        np.ones((2, 1), np.float32),
        np.ones(2, ">f4"),
        strided + 1,
    ):
        saxpy.emulate(2.0, x, y)
        assert np.array(y).reshape(-1).tolist() == [3, 5]
    saxpy.emulate(2.0, x, strided)
    assert strided.tolist() == [2, 4]
    saxpy.emulate(2.0, x, x)
    assert x.tolist() == [3, 6]
    assert tensor.data().tolist() == [3, 5]


def test_numbers_are_rounded_and_wrapped():
    def k(i: Index, n: i32, m: u32, x: Array[f32], h: Array[i32], w: Array[u32]):
        t = 5381
        for c in range(n):
            t = t * 33 + c
        h[i] = t
        m -= 5
        w[i] = m
        x[i] = x[i] + 1e-8
        x[i] = x[i] / 3

    x, h, w = np.ones(1, np.float32), np.zeros(1, np.int32), np.zeros(1, np.uint32)
    kp.emulate(k, 20, 3, x, h, w)
    t = 5381
    for c in range(20):
        t = t * 33 + c
    assert h[0] == (t + 2**31) % 2**32 - 2**31
    assert w[0] == 2**32 - 2
    assert x[0] == np.float32(1) / np.float32(3)


def test_special_numbers():
    """NumPy's power is its square root here, which keeps the sign of -0.0; math.fsum takes no infinities."""
    text = """
def k(i: Index, x: Array[f32], y: Array[f32]):
    y[i] = copysign(1.0, x[i] ** 0.5)
    x[i] = dot(vec2(x[0], x[1]), vec2(x[1], 1.0 / x[0]))
"""
    x, y = np.array([-0.0, 2.0], np.float32), np.zeros(2, np.float32)
    kp.emulate(kp.kernel_from_source(text), x[:1].repeat(2), y)
    assert y.tolist() == [math.copysign(1.0, (-0.0) ** 0.5)] * 2
    kp.kernel_from_source(text).emulate(x, y, extent=1)
    assert x[0] == -np.inf
    x[:] = np.inf, 0.0
    kp.kernel_from_source(text).emulate(x, y, extent=1)
    assert np.isnan(x[0])


def test_a_literal_beside_or_and_and_has_the_others_type():
    text = """
def k(i: Index, x: Array[f32], y: Array[u32]):
    a = x[i] or 1
    b = 2 and x[i] and 16777216
    a += 0.5
    x[i] = a + b
    c = y[i] or 4
    y[i] = c - 5
"""
    arrays = [np.array([0, 3], np.float32), np.array([0, 7], np.uint32)]
    others = [a.copy() for a in arrays]
    kp.kernel_from_source(text)(*arrays)
    kp.kernel_from_source(text).emulate(*others)
    assert [a.tolist() for a in arrays] == [[1.5, 16777220], [2**32 - 1, 2]] == [a.tolist() for a in others]


def helper(v, scale=2.0):
    v.x = v.x * scale
    return v


def test_names_from_outside():
    offset = 1.5

    def k(i: Index, x: Array[f32], v: Array[vec2]):
        p = v[i]
        q = helper(p, scale=TYPED)
        x[i] = p.x * SCALE + offset + q.x + x[i] * Mode.DOUBLE
        v[i].y = exp(0.0) + f32(len(v))

    x, v = np.array([1, 1], np.float32), np.array([[1, 2], [3, 4]], np.float32)
    kp.emulate(k, x, v)
    tenth = np.float32(0.1)
    assert x.tolist() == [
        np.float32(np.float32(4.5 + tenth) + 2),
        np.float32(np.float32(10.5 + np.float32(3 * tenth)) + 2),
    ]
    assert v.tolist() == [[1, 3], [3, 3]]


decorated = lambda function: kp.kernel(function)  # noqa: E731
factor = lambda: 5  # noqa: E731
exec("def no_text(): pass")


def test_names_that_the_kernel_does_not_take_from_outside():
    @decorated
    def k(i: Index, x: Array[f32]):
        factor, no_text = 2.0, 1.0
        x[i] = factor * x[i] + no_text

    x = np.array([1, 2], np.float32)
    k.emulate(x)
    assert x.tolist() == [3, 5]


def test_an_index_of_a_narrow_type():
    def k(i: Index, at: Array[u8], x: Array[i32], out: Array[i32]):
        v = vec2(1, 2)
        out[i] = x[at[i]] + i32(v[at[i] & 1])

    out = [0, 0]
    kp.emulate(k, [3, 200], np.arange(300, dtype=np.int32), out)
    assert out == [5, 201]


def test_views_with_axes():
    def transpose(at: Index2, a: "Array[f32, 2]", out: "Array[f32, 2]"):
        rows, columns = a.shape
        out[at.y, at.x] = a[at.x, at.y] + f32(10 * rows + columns) + a[-1, -1]

    a, out = np.arange(6, dtype=np.float32).reshape(2, 3), np.zeros((3, 2), np.float32)
    kp.emulate(transpose, a, out)
    assert np.array_equal(out, a.T + 23 + 5)
    with pytest.raises(
        ValueError, match=r"^transpose\(\) argument 'a': has shape \(6,\), Array\[f32, 2\] needs 2 axes"
    ):
        kp.emulate(transpose, a.reshape(-1), out)

    def beyond(at: Index2, out: "Array[f32, 2]"):
        out[at.y, at.x + 1] = 1.0

    with pytest.raises(IndexError, match=r"out\[0, 2\]: out has the shape \(3, 2\)"):
        kp.emulate(beyond, out)


def test_a_kernel_in_pyshaders_form():
    @ps.python2shader
    def compute(
        index=("input", "GlobalInvocationId", ps.ivec3),
        a=("buffer", 0, ps.Array(ps.f32)),
        b=("buffer", 1, "Array(vec3)"),
    ):
        b[index.x] = vec3(a[index.x], 1, 2).zyx  # noqa: F821

    b = np.zeros((2, 3), np.float32)
    kp.emulate(compute, [5, 6], b)
    assert b.tolist() == [[2, 1, 5], [2, 1, 6]]


def test_a_kernel_from_a_text():
    kernel = kp.kernel_from_source(
        "def twice(n):\n    return 2 * n\n\ndef k(i: Index2, n: Array[i32]):\n    n[i.x + 2 * i.y] += i.y\n"
    )
    n = [0, 0, 0, 0]
    kernel.emulate(n, extent=(2, 2))
    assert n == [0, 0, 1, 1]


def test_print_and_the_lines_of_the_source(capsys):
    def k(i: Index, x: Array[f32]):
        print("x is", x[i], i)
        x[i + 1] = 0.0

    with pytest.raises(IndexError, match=r"^x\[1\]: x has 1 elements") as caught:
        kp.emulate(k, np.array([0.1], np.float32))
    assert capsys.readouterr().out == "x is 0.1 0\n"
    assert caught.value.__notes__ == ["k() was at the index 0"]
    frame = next(f for f in caught.traceback if f.name == "k")
    assert frame.path.samefile(__file__) and "x[i + 1] = 0.0" in linecache.getline(__file__, frame.lineno + 1)


def test_print_is_as_on_the_device(capsys):
    @kp.kernel
    def k(i: Index, x: Array[f32], n: Array[i32], m: Array[u32]):
        print("x", x[i], n[i], m[i], x[i] > 0.5, sep=", ", end=";\n")
        print(vec2(x[i], 1), x[i] * 1e10, x[i] / 4)
        print(math.pi, 123456789.0, 1 / 3, 16777217, 3, True)
        x[i] += 1

    given = np.array([0.1, 1, 2.5e-7, 1e20], np.float32), np.array([-1, 0, 7, 2**31 - 1], np.int32)
    k(*(a.copy() for a in given), np.arange(4, dtype=np.uint32))
    device = capsys.readouterr().out
    k.emulate(*(a.copy() for a in given), np.arange(4, dtype=np.uint32))
    assert device.splitlines() == capsys.readouterr().out.splitlines()
    assert device.startswith("x, 0.1, -1, 0, False;\n")


def test_asserts_and_faults_are_those_of_a_checked_kernel():
    @kp.kernel(checked=True)
    def k(i: Index, x: Array[i32], y: Array[i32]):
        assert x[i] != 5, "not five"
        y[i] = 10 // x[i] + x[i + y[i]]

    for x, y, error in (([5], [0], AssertionError), ([0], [0], ZeroDivisionError), ([1], [1], IndexError)):
        for run in (k, k.emulate):
            with pytest.raises(error):
                run(np.array(x, np.int32), np.array(y, np.int32))


def test_sizes_that_are_worked_out():
    @kp.kernel(local_size=SCALE + 1)
    def k(i: Index, t: LocalIndex, n: LocalSize, out: Array[i32]):
        out[i] = 10 * t + n

    out = np.zeros(8, np.int32)
    k.emulate(out)
    assert out.tolist() == [4, 14, 24, 34] * 2


def test_a_breakpoint(monkeypatch):
    def k(i: Index, x: Array[f32]):
        y = x[i] * 2
        breakpoint()
        x[i] = y

    said = io.StringIO()
    debugger = pdb.Pdb(stdin=io.StringIO("p y\np i\nc\n"), stdout=said, nosigint=True, readrc=False)
    monkeypatch.setattr("sys.breakpointhook", lambda: debugger.set_trace(__import__("sys")._getframe(1)))
    kp.emulate(k, [1.5], extent=1)
    assert "3.0" in said.getvalue() and "x[i] = y" in said.getvalue()


def test_what_a_device_lets_pass_raises():
    def divide(i: Index, n: Array[i32]):
        n[i] = 1 // n[i]

    def unset(i: Index, n: Array[i32]):
        if n[i] != 0:
            t = 1
        n[i] = t

    def failed(i: Index, n: Array[i32]):
        assert n[i] == 1, "must be one"

    def before(i: Index, n: Array[i32]):
        n[i - 1] = 0

    for kernel, error in ((divide, ZeroDivisionError), (unset, UnboundLocalError), (before, IndexError)):
        with pytest.raises(error):
            kp.emulate(kernel, [0])
    with pytest.raises(AssertionError, match="must be one"):
        kp.emulate(failed, [0], extent=1)


def test_arguments_that_do_not_fit():
    cases = [
        ((1.0, [1.0]), TypeError, r"^saxpy\(\) missing arguments: y$"),
        ((1.0, [1.0], [1.0], 2), TypeError, r"^saxpy\(\) takes 3 arguments but 4 were given$"),
        ((1.0, [1.0], np.zeros(1)), TypeError, r"^saxpy\(\) argument 'y': has dtype float64, must be float32$"),
    ]
    for args, error, words in cases:
        with pytest.raises(error, match=words):
            saxpy.emulate(*args)
    with pytest.raises(TypeError, match="unexpected argument 'z'"):
        saxpy.emulate(1.0, [1.0], [1.0], z=1)

    def grid(at: Index2, n: i32, out: Array[vec2]):
        out[at.x] = vec2(n)

    with pytest.raises(TypeError, match=r"give its extent"):
        kp.emulate(grid, 1, [1.0, 2.0])
    with pytest.raises(TypeError, match=r"^grid\(\) argument 'n': must be i32, not float$"):
        kp.emulate(grid, 1.5, [1.0, 2.0], extent=(1, 1))
    with pytest.raises(OverflowError, match=r"^grid\(\) argument 'n': 2147483648 does not fit in i32$"):
        kp.emulate(grid, 2**31, [1.0, 2.0], extent=(1, 1))
    with pytest.raises(
        ValueError, match=r"^grid\(\) argument 'out': has 3 numbers, Array\[vec2\] needs a multiple of 2$"
    ):
        kp.emulate(grid, 1, [1.0, 2.0, 3.0], extent=(1, 1))


@pytest.mark.parametrize("value", ["max(1, 2)", "min(1, 2)", "abs(-1)", "pow(2, 3)", "max(1, 2.5)"])
def test_functions_of_literals_are_literals(value):
    for kind in ("f32", "f16", "u32", "i64"):
        if "." in value and kind[0] != "f":
            continue
        x = np.array([2, 3], dtype=TYPES[kind])
        kernel = kp.kernel_from_source(f"def k(i: Index, x: Array[{kind}]):\n    x[i] = x[i] * {value}\n")
        kernel.emulate(x)
        assert x.tolist() == [n * eval(value) for n in (2, 3)]
