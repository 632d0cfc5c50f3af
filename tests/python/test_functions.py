"""Functions that kernels call, and what kernels take from outside: found as Python finds it, and followed when it changes."""

import enum
import functools
import subprocess
import sys
import textwrap
from math import pi as PI
from math import sqrt as root

import kp
import numpy as np
import pytest
from kp.lang import Array, Index, f32, i32, vec2

SCALE = 3
WEIGHTS = (0.25, 0.5, 0.25)
OFFSETS = ((-1, 0), (1, 0), (0, -2))


class Color(enum.IntEnum):
    RED = 3
    BLUE = 4


class Step(enum.Enum):
    HALF = 0.5


def scaled(x, factor=SCALE):
    return x * factor


def typed(x: float, y: "f32" = 1) -> float:
    return scaled(x, 2.0) + y


def noted(x: dict[str, int], y: "SomethingElse"):  # noqa: F821
    return x + y


def both(a: i32, b: i32) -> tuple[i32, i32]:
    if b == 0:
        return a, 0
    return a // b, a % b


def find(values, wanted, count):
    for k in range(count):
        if values[k] == wanted:
            return k
    return -1


def turned(v: vec2):
    v.x += 1
    return v.yx


def floats(n=8):
    return np.arange(n, dtype=np.float32)


def ints(n=8):
    return np.arange(n, dtype=np.int32)


def test_functions_of_the_module():
    @kp.kernel
    def k(i: Index, x: Array[f32], n: Array[i32], v: Array[vec2]):
        x[i] = typed(x[i], y=2) + scaled(x[i]) + noted(x[i], 1)
        q, r = both(n[i], 3)
        n[i] = 10 * q + r + scaled(factor=2, x=n[i])
        v[i] = turned(v[i])

    x, n, v = floats(), ints(), np.array([[k, 10 * k] for k in range(8)], np.float32)
    k(x, n, v, extent=8)
    assert x.tolist() == [typed(e, y=2) + scaled(e) + noted(e, 1) for e in range(8)]
    assert n.tolist() == [10 * both(e, 3)[0] + both(e, 3)[1] + 2 * e for e in range(8)]
    assert v.tolist() == [[10 * e, e + 1] for e in range(8)]


def test_a_function_returns_early_from_a_loop():
    @kp.kernel
    def k(i: Index, x: Array[f32], n: Array[i32]):
        n[i] = find(x, f32(i) * 2, 8)

    n = ints()
    k(floats(), n)
    assert n.tolist() == [find(range(8), 2 * e, 8) for e in range(8)]


def test_functions_of_other_modules(tmp_path, monkeypatch):
    (tmp_path / "kernel_lib.py").write_text(
        "LIMIT = 4\n\ndef cut(x):\n    return min(x, LIMIT)\n\ndef twice(x):\n    return cut(x) + cut(x)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import kernel_lib
    from kernel_lib import twice

    @kp.kernel
    def k(i: Index, n: Array[i32]):
        n[i] = twice(n[i]) * 10 + kernel_lib.cut(n[i]) + kernel_lib.LIMIT

    n = ints()
    k(n)
    assert n.tolist() == [kernel_lib.twice(e) * 10 + kernel_lib.cut(e) + 4 for e in range(8)]
    kernel_lib.LIMIT = 2  # twice and cut see it too
    n = ints()
    k(n)
    assert n.tolist() == [kernel_lib.twice(e) * 10 + kernel_lib.cut(e) + 2 for e in range(8)]


def test_an_error_in_a_function_points_to_its_file_and_line(tmp_path, monkeypatch):
    path = tmp_path / "kernel_faulty.py"
    path.write_text("# one\n# two\ndef wrong(x):\n    y = x * 2\n    return y + 0.5\n")
    monkeypatch.syspath_prepend(tmp_path)
    import kernel_faulty

    with pytest.raises(kp.CompileError) as caught:

        @kp.kernel
        def k(i: Index, n: Array[i32]):
            n[i] = kernel_faulty.wrong(n[i])

    assert (caught.value.filename, caught.value.lineno) == (str(path), 5)
    assert "wrong(i32), called in" in str(caught.value)


def test_closures_of_one_factory_are_told_apart():
    def make(combine, bias):
        @kp.kernel
        def k(i: Index, n: Array[i32]):
            n[i] = combine(n[i], bias)

        return k

    def add(a, b):
        return a + b

    def multiply(a, b):
        return a * b

    results = []
    for combine, bias in ((add, 5), (multiply, 5), (add, 6)):
        n = ints(4)
        make(combine, bias)(n)
        results.append(n.tolist())
    assert results == [[5, 6, 7, 8], [0, 5, 10, 15], [6, 7, 8, 9]]


def test_captured_constants():
    @kp.kernel
    def k(i: Index, x: Array[f32], n: Array[i32]):
        x[i] = PI + root(4.0) + Step.HALF + Step.HALF.value
        for w in WEIGHTS:
            x[i] += w * x[i]
        row, column = OFFSETS[i % 3]
        n[i] = Color.RED + Color.BLUE.value * 10 + row * 100 + column + len(OFFSETS)

    x, n = floats(), ints()
    k(x, n)
    assert x[0] == pytest.approx((PI + 3) * 1.25 * 1.5 * 1.25, rel=1e-6)
    assert n.tolist() == [43 + OFFSETS[e % 3][0] * 100 + OFFSETS[e % 3][1] + 3 for e in range(8)]


def test_a_changed_capture_is_a_new_program():
    space = {"kp": kp, "Index": Index, "Array": Array, "i32": i32, "N": 1}
    text = (
        "def helper(x):\n    return x + N\n\n@kp.kernel\ndef k(i: Index, n: Array[i32]):\n    n[i] = helper(n[i]) * N\n"
    )
    import linecache

    linecache.cache["<changes>"] = (len(text), None, text.splitlines(True), "<changes>")
    exec(compile(text, "<changes>", "exec"), space)
    k = space["k"]
    for value in (1, 3, 1):
        space["N"] = value
        n = ints(4)
        k(n)
        assert n.tolist() == [(e + value) * value for e in range(4)]
    first = k.program
    assert k.program is first
    space["helper"] = scaled
    n = ints(4)
    k(n)
    assert n.tolist() == [3 * e for e in range(4)]
    assert k.program is not first


def test_a_function_may_be_defined_after_the_kernel():
    @kp.kernel
    def k(i: Index, n: Array[i32]):
        n[i] = later(n[i])

    def later(x):
        return x + 7

    n = ints(3)
    k(n)
    assert n.tolist() == [7, 8, 9]


def test_a_constant_may_be_defined_after_the_kernel():
    @kp.kernel
    def k(i: Index, n: Array[i32]):
        n[i] = later + Later.more

    later = 7

    class Later:
        more = 10

    n = ints(3)
    k(n)
    assert n.tolist() == [17] * 3

    with pytest.raises(kp.CompileError, match="there is no 'never_there' here"):

        @kp.kernel
        def never(i: Index, n: Array[i32]):
            n[i] = never_there  # noqa: F821


def test_a_local_name_goes_before_one_of_the_module():
    @kp.kernel
    def k(i: Index, n: Array[i32], p: Array[vec2]):
        Color = p[i]
        SCALE = 5
        n[i] = i32(Color.x) + SCALE

    n = ints(2)
    k(n, np.array([[1, 2], [3, 4]], np.float32))
    assert n.tolist() == [6, 8]


def test_parameters_without_types_take_those_of_the_arguments():
    @kp.kernel
    def double(i: Index, x, factor):
        x[i] = x[i] * factor

    x, n = floats(), ints()
    double(x, 2.5)
    double(n, 3)
    double(x, factor=2.0)
    assert x.tolist() == [5.0 * e for e in range(8)]
    assert n.tolist() == [3 * e for e in range(8)]
    assert double.spirv(x="Array[f32]", factor=1.0) != double.spirv(x="Array[i32]", factor=1)
    assert "OpFMul" in double.disassemble(x=x, factor=1.0)
    with pytest.raises(TypeError, match="parameters without types, x, factor"):
        double.spirv()


LATER = lambda x: x  # noqa: E731


async def asynchronous(x):
    return x


def generator(x):
    yield x


class Thing:
    def method(self, x):
        return x

    def __call__(self, x):
        return x


thing, bound = Thing(), Thing().method


def test_what_cannot_be_called_is_refused_with_the_reason():
    with pytest.raises(kp.CompileError, match="'LATER' cannot be called from a kernel: it is a lambda"):

        @kp.kernel
        def a(i: Index, n: Array[i32]):
            n[i] = LATER(i)

    with pytest.raises(kp.CompileError, match="it is async"):

        @kp.kernel
        def b(i: Index, n: Array[i32]):
            n[i] = asynchronous(i)

    with pytest.raises(kp.CompileError, match="it is a generator"):

        @kp.kernel
        def c(i: Index, n: Array[i32]):
            n[i] = generator(i)

    with pytest.raises(kp.CompileError, match="it is a method of Thing"):

        @kp.kernel
        def d(i: Index, n: Array[i32]):
            n[i] = bound(i)

    with pytest.raises(kp.CompileError, match="it is a class"):

        @kp.kernel
        def e(i: Index, n: Array[i32]):
            n[i] = Thing(i)

    with pytest.raises(kp.CompileError, match="it is an object of type Thing"):

        @kp.kernel
        def f(i: Index, n: Array[i32]):
            n[i] = thing(i)


def test_functions_of_a_text_that_nobody_holds_have_no_source():
    program = textwrap.dedent(
        """
        import kp
        from kp.lang import Array, Index, i32
        exec('DEF helper(x):\\n    return x'.lower())
        try:
            exec('@kp.kernel\\ndef k(i: Index, n: Array[i32]):\\n    n[i] = helper(i)\\n')
        except kp.CompileError as error:
            print(error)
        """
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "is not at hand" in result.stdout and "kp.kernel_from_source(text)" in result.stdout, result.stderr


def test_future_annotations_and_closure_names():
    text = textwrap.dedent(
        """
        from __future__ import annotations
        import kp
        from kp.lang import Array, Index, i32

        def make(number, kind):
            def plus(x: kind) -> kind:
                return x + number

            @kp.kernel
            def k(i: Index, n: Array[i32]):
                n[i] = plus(n[i])

            return k
        """
    )
    import linecache

    linecache.cache["<future>"] = (len(text), None, text.splitlines(True), "<future>")
    space: dict[str, object] = {}
    exec(compile(text, "<future>", "exec"), space)
    n = ints(3)
    space["make"](4, i32)(n)  # type: ignore[operator]
    assert n.tolist() == [4, 5, 6]


@functools.lru_cache
def remembered(x):
    return x + 1.0


def tripling(function):
    @functools.wraps(function)
    def inner(x):
        return 3.0 * function(x)

    return inner


@tripling
def tripled(x):
    return x + 1.0


@kp.kernel
def decorated_helpers(i: Index, x: Array[f32]):
    x[i] = np.abs(tripled(x[i])) + 100.0 * remembered(x[i])


def test_decorators_of_helpers_count():
    for run in (decorated_helpers, decorated_helpers.emulate):
        x = np.array([1, -3], np.float32)
        run(x)
        assert x.tolist() == [206.0, -194.0]


def apply(function, x):
    return function(x)


def test_functions_are_not_passed_on():
    with pytest.raises(
        kp.CompileError, match=r"'remembered' is a function; call it, as in remembered\(...\): a kernel"
    ):

        @kp.kernel
        def k(i: Index, x: Array[f32]):
            x[i] = apply(remembered, x[i])
