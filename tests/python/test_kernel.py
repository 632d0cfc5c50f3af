"""kp.kernel: a function in the kernel language, called with tensors, arrays, lists and scalars; and kp.lang."""

import array
import gc
import re
from pathlib import Path

import kp
import kp.lang
import numpy as np
import pytest
from kp.lang import Array, Index, Index2, f32, i32, vec2


@kp.kernel
def multiply(i: Index, a: Array[f32], b: Array[f32], out: Array[f32]):
    """Elementwise."""
    out[i] = a[i] * b[i]


@kp.kernel
def saxpy(i: Index, a: f32, x: Array[f32], y: Array[f32]):
    y[i] = a * x[i] + y[i]


@kp.kernel
def mixed(i: Index, v: vec2, n: i32, flag: bool, data: Array[f32]):
    if flag:
        data[i] = v.x + v.y + f32(n)


@kp.kernel
def grid(i: Index2, width: i32, data: Array[i32]):
    data[i.y * width + i.x] = 10 * i.y + i.x


@kp.kernel
def lengths(i: Index, points: Array[vec2], out: Array[f32]):
    out[i] = points[i].x * points[i].y


def floats(*values):
    return np.array(values, np.float32)


def test_what_a_kernel_knows():
    assert isinstance(multiply, kp.Kernel)
    assert multiply.__name__ == "multiply"
    assert multiply.__doc__ == "Elementwise."
    assert multiply.__module__ == __name__
    assert multiply.source.startswith("@kp.kernel\ndef multiply(")
    assert type(multiply.spirv()) is bytes
    assert [(p.name, p.type, p.kind) for p in multiply.params] == [
        ("i", "Index", "input"),
        ("a", "Array[f32]", "buffer"),
        ("b", "Array[f32]", "buffer"),
        ("out", "Array[f32]", "buffer"),
    ]
    assert [(p.reads, p.writes) for p in multiply.params[1:]] == [(True, False), (True, False), (False, True)]
    assert repr(saxpy) == "<kp.Kernel saxpy(i: Index, a: f32, x: Array[f32], y: Array[f32])>"


def test_disassembling():
    lines = multiply.disassemble().splitlines()
    assert lines[0] == "; SPIR-V" and any("OpEntryPoint GLCompute" in line for line in lines)
    assert sum("OpFMul" in line for line in lines) >= 1
    assert multiply.program.disassemble() == multiply.disassemble()


def test_arrays_are_copied_in_and_out():
    a, b, out = floats(1, 2, 3), floats(4, 5, 6), floats(0, 0, 0)
    assert multiply(a, b, out) is None
    assert out.tolist() == [4, 10, 18]
    multiply(out=out, b=b, a=out)  # by name, and the same array twice
    assert out.tolist() == [16, 50, 108]
    assert a.tolist() == [1, 2, 3]


def test_arrays_of_any_layout():
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    out = np.zeros((3, 8), np.float32)[:, ::2]
    multiply(a, a, out)
    assert np.array_equal(out, a * a)
    out = np.zeros((4, 3), np.float32).T
    multiply(a, np.ones((3, 4), np.float32), out)
    assert np.array_equal(out, a)
    swapped = np.zeros(12, ">f4")
    multiply(a, a.astype(">f4"), swapped)
    assert np.array_equal(swapped, (a * a).reshape(-1))


def test_lists_and_other_buffers():
    out = [0, 0, 0]
    multiply([1, 2, 3], (4, 5, 6), out)
    assert out == [4.0, 10.0, 18.0]
    out = array.array("f", [0, 0])
    multiply(array.array("f", [1, 2]), [3, 4], out)
    assert out.tolist() == [3, 8]
    out = bytearray(8)
    multiply([1, 2], [3, 4], memoryview(out).cast("f"))
    assert np.frombuffer(out, np.float32).tolist() == [3, 8]


def test_tensors_are_used_where_they_are():
    mgr = kp.Manager(unified=False)
    a, b, out = mgr.tensor([1, 2, 3]), mgr.tensor([4, 5, 6]), mgr.tensor([0, 0, 0])
    mgr.sequence().eval(kp.OpSyncDevice([a, b, out]))
    multiply(a, b, out)
    assert out.data().tolist() == [0, 0, 0]  # its device side has them
    mgr.sequence().eval(kp.OpSyncLocal([out]))
    assert out.data().tolist() == [4, 10, 18]


def test_tensors_and_arrays_together(mgr):
    a, out = mgr.tensor([1, 2, 3]), floats(0, 0, 0)
    mgr.sequence().eval(kp.OpSyncDevice([a]))
    multiply(a, [2, 2, 2], out)
    assert out.tolist() == [2, 4, 6]


def test_classic_tensors(mgr):
    a, out = kp.Tensor([1, 2]), kp.Tensor([0, 0])
    with pytest.raises(kp.StateError, match=r"has no device memory; call manager\.eval_tensor_create_def"):
        multiply(a, a, out)
    mgr.eval_tensor_create_def([a, out])
    multiply(a, a, out)
    mgr.eval_tensor_sync_local_def([out])
    assert out.data() == [1, 4]


def test_scalars():
    y = floats(1, 1)
    saxpy(2, floats(1, 2), y)
    assert y.tolist() == [3, 5]
    saxpy(np.float32(0.5), [2, 2], y)
    assert y.tolist() == [4, 6]
    saxpy(a=0, x=y, y=y)
    assert y.tolist() == [4, 6]
    data = floats(0)
    mixed((1, 2), 3, True, data)
    assert data.tolist() == [6]
    mixed(np.array([1, 2]), np.int32(4), np.bool_(True), data)
    assert data.tolist() == [7]
    mixed((1, 2), 3, False, data)
    assert data.tolist() == [7]


def test_extents():
    ones = floats(1, 1, 1, 1)
    for launch in (lambda out: multiply(ones, ones, out, extent=2), lambda out: multiply[2](ones, ones, out)):
        out = floats(0, 0, 0, 0)
        launch(out)
        assert out.tolist() == [1, 1, 0, 0]
    out = floats(5, 5, 5, 5)
    multiply(ones, ones, out, extent=0)
    assert out.tolist() == [5, 5, 5, 5]
    data = np.zeros((2, 3), np.int32)
    grid[3, 2](3, data)
    assert data.tolist() == [[0, 1, 2], [10, 11, 12]]
    grid(3, data, extent=np.array([3, 2]))
    with pytest.raises(
        TypeError, match=r"^grid\(\) has Index2: give its extent, as in grid\(\.\.\., extent=\(640, 480\)\)$"
    ):
        grid(3, data)
    for wrong in ((-1,), (), (1, 1, 1, 1)):
        with pytest.raises(ValueError, match=r"^extent: must be one to three numbers from 0 up"):
            grid(3, data, extent=wrong)
    with pytest.raises(TypeError):
        multiply(ones, ones, out, extent="4")


def test_the_extent_is_that_of_the_first_buffer_written():
    long, short = floats(*range(10)), floats(0, 0)
    multiply(long, long, short)
    assert short.tolist() == [0, 1]


def test_vectors_count_as_one_element():
    points, out = floats(1, 2, 3, 4, 5, 6), floats(0, 0, 0)
    lengths(points.reshape(3, 2), out)
    assert out.tolist() == [2, 12, 30]
    with pytest.raises(
        ValueError, match=r"^lengths\(\) argument 'points': has 3 numbers, Array\[vec2\] needs a multiple of 2$"
    ):
        lengths(floats(1, 2, 3), out)


def test_empty_arrays():
    out = floats()
    multiply(floats(), floats(), out)
    assert out.tolist() == []


def test_arguments_that_do_not_fit(mgr):
    good = floats(1, 2)
    cases = [
        ((good, good), TypeError, "multiply() missing arguments: out"),
        ((good,) * 4, TypeError, "multiply() takes 3 arguments but 4 were given"),
        ((good, good, np.zeros(2)), TypeError, "multiply() argument 'out': has dtype float64, must be float32"),
        ((np.zeros(2, np.int32), good, good), TypeError, "multiply() argument 'a': has dtype int32, must be float32"),
        ((good, mgr.tensor_t(np.zeros(2, np.int32)), good), TypeError,
         "multiply() argument 'b': has dtype int32, must be float32"),
        ((good, "ab", good), TypeError, "multiply() argument 'b': must be an array or a sequence of numbers, not str"),
        ((good, ["a"], good), TypeError, "multiply() argument 'b'[0]: must be a number, not str"),
        ((good, good, (1, 2)), TypeError, "multiply() argument 'out': is written by the kernel; pass a tensor, a writable "
         "array or a list, not tuple"),
        ((good, good, bytes(8)), TypeError, "multiply() argument 'out': is written by the kernel; pass a tensor, a writable "
         "array or a list, not bytes"),
        ((good, good, [[1, 2]]), TypeError,
         "multiply() argument 'out': is written by the kernel; pass an array instead of nested lists"),
    ]  # fmt: skip
    for args, error, message in cases:
        with pytest.raises(error) as caught:
            multiply(*args)
        assert str(caught.value) == message
    for kwargs, message in (
        ({"c": 1}, "multiply() got an unexpected argument 'c'; it has a, b, out"),
        ({"a": 1}, "multiply() got multiple values for argument 'a'"),
    ):
        with pytest.raises(TypeError) as caught:
            multiply(good, good, good, **kwargs)
        assert str(caught.value) == message
    with pytest.raises(TypeError, match="got an unexpected argument 'label'; it has none by name$"):
        multiply.algorithm(kp.Manager(), [kp.Manager().zeros(1)] * 3, label="product")
    frozen = floats(0, 0)
    frozen.flags.writeable = False
    with pytest.raises(TypeError, match="'out': is written by the kernel"):
        multiply(good, good, frozen)
    multiply(frozen, good, good)


def test_scalars_that_do_not_fit():
    data = floats(0)
    for value in ("1", None, [1], 1j):
        with pytest.raises(TypeError, match=r"^saxpy\(\) argument 'a': must be f32, not "):
            saxpy(value, data, data)
    with pytest.raises(TypeError, match=r"^mixed\(\) argument 'n': must be i32, not float$"):
        mixed((1, 2), 1.5, True, data)
    with pytest.raises(OverflowError, match=r"^mixed\(\) argument 'n': 4294967296 does not fit in i32$"):
        mixed((1, 2), 2**32, True, data)
    with pytest.raises(ValueError, match=r"^mixed\(\) argument 'v': vec2 has 2 components, not 3$"):
        mixed((1, 2, 3), 1, True, data)


def test_tensors_of_two_managers(mgr):
    other = kp.Manager()
    with pytest.raises(ValueError, match=r"belongs to another manager$"):
        multiply(mgr.tensor([1]), other.tensor([1]), mgr.tensor([1]))


def test_algorithms(mgr):
    x, y = mgr.tensor([1, 2]), mgr.tensor([10, 20])
    algorithm = saxpy.algorithm(mgr, [x, y], a=3)
    sequence = mgr.sequence().record(kp.OpSyncDevice([x, y])).record(kp.OpAlgoDispatch(algorithm))
    sequence.record(kp.OpSyncLocal([y])).eval()
    assert y.data().tolist() == [13, 26]
    short = saxpy.algorithm(mgr, [x, y], a=1, extent=1)
    sequence.record(kp.OpAlgoDispatch(short)).record(kp.OpSyncLocal([y])).eval()
    assert y.data().tolist() == [14, 26]
    with pytest.raises(ValueError, match=r"^saxpy\(\): an extent of \(0,\) leaves nothing to dispatch$"):
        saxpy.algorithm(mgr, [x, y], a=1, extent=0)
    with pytest.raises(TypeError, match=r"^saxpy\(\) has 2 buffers, not 1$"):
        saxpy.algorithm(mgr, [x], a=1)
    with pytest.raises(TypeError, match=r"^saxpy\(\) missing arguments: a$"):
        saxpy.algorithm(mgr, [x, y])
    with pytest.raises(TypeError, match=r"^saxpy\(\) argument 'y': must be a kp\.Tensor, not int$"):
        saxpy.algorithm(mgr, [x, 1], a=1)
    mgr.eval_algo_data_def([x, x, y], multiply.program)
    mgr.eval_algo_data_def([x, x, y], multiply.spirv())


def test_constants_of_a_text():
    text = """
from typing import Annotated, Final
N = 4
M: Final[int] = 2 * N + 1
TABLE: tuple[int, ...] = (1, N, -M)
F: Annotated[float, dict(unit="m")] = 2.5
NOTHING: int
def k(i: Index, x: Array[f32]):
    x[i] = f32(TABLE[i] + M) * F
"""
    for run in (kp.kernel_from_source(text), kp.kernel_from_source(text).emulate):
        x = np.zeros(3, np.float32)
        run(x)
        assert x.tolist() == [25, 32.5, 0]


@pytest.mark.parametrize("many", ["(" * 3000 + "1" + ")" * 3000, "-" * 5000 + "1"])
def test_a_text_that_python_cannot_read_is_a_compile_error(many):
    with pytest.raises(kp.CompileError, match="this is nested too deep"):
        kp.kernel_from_source(f"def k(i: Index, x: Array[i32]):\n    x[i] = {many}\n")


def test_kernels_from_text():
    text = "def one(i: Index, a: Array[f32]):\n    a[i] = 1.0\n\ndef two(i: Index, a: Array[f32]):\n    a[i] = 2.0\n"
    last, first = kp.kernel_from_source(text), kp.kernel_from_source(text, "one")
    out = [0]
    last(out)
    assert out == [2]
    first(out)
    assert out == [1]
    assert last.source == text
    assert last.function is None
    assert last.__name__ == "two"
    with pytest.raises(kp.CompileError, match=r"^mine\.py:2:12: "):
        kp.kernel_from_source("def k(i: Index, a: Array[f32]):\n    a[i] = x\n", file="mine.py")


def test_python_and_numpy_types_as_annotations():
    @kp.kernel
    def k(i: Index, n: int, x: float, data: Array[float], more: Array[np.int32]):
        data[i] = x
        more[i] = n

    assert [p.type for p in k.params] == ["Index", "i32", "f32", "Array[f32]", "Array[i32]"]
    data, more = floats(0), np.zeros(1, np.int32)
    k(2, 1.5, data, more)
    assert (data[0], more[0]) == (1.5, 2)


def test_types_from_a_factory():
    def make(kind, value):
        @kp.kernel
        def fill(i: Index, data: Array[kind]):
            data[i] = value

        return fill

    data, more = floats(0), np.zeros(1, np.int32)
    make(f32, 2.5)(data)
    make(i32, 7)(more)
    assert (data[0], more[0]) == (2.5, 7)


def test_local_sizes():
    @kp.kernel(local_size=(4, 2))
    def k(i: Index2, data: Array[i32]):
        data[i.y * 8 + i.x] = 1

    data = np.zeros(32, np.int32)
    k[8, 4](data)
    assert data.sum() == 32

    def plain(i: Index, data: Array[f32]):
        data[i] = 1.0

    assert kp.kernel(plain).program.local_size is None
    wide = kp.kernel(local_size=[4])(plain)
    assert wide.program.local_size == (4, 1, 1)
    data = floats(0, 0, 0, 0, 0)
    wide(data)
    assert list(data) == [1] * 5
    for bad in ((), (0,), (4, 0), (1, 1, 1, 1), -1, "4", 2.5):
        with pytest.raises(ValueError, match="local_size: must be one to three numbers from 1 up"):
            kp.kernel(local_size=bad)
    with pytest.raises(ValueError, match="subgroup_size: must be a number from 1 up"):
        kp.kernel(local_size=4, subgroup_size=0)
    text = "@kp.kernel(local_size=8)\ndef k(t: LocalIndex, n: LocalSize, x: Array[i32]):\n    x[t] = n\n"
    assert kp.kernel_from_source(text).program.local_size == (8, 1, 1)
    assert kp.kernel_from_source(text, local_size=(4, 2)).program.local_size == (4, 2, 1)


def test_what_cannot_be_a_kernel():
    with pytest.raises(
        TypeError,
        match=r"^@kp\.kernel takes a function, not int; an option has a name, as in @kp\.kernel\(local_size=64\)$",
    ):
        kp.kernel(3)
    with pytest.raises(kp.CompileError, match="a lambda cannot be a kernel"):
        kp.kernel(lambda i: i)


def test_nothing_stays_behind(mgr):
    before = mgr.memory()["used"]
    out = floats(0, 0)
    tensor = mgr.tensor([1, 2])
    mgr.sequence().eval(kp.OpSyncDevice([tensor]))
    for _ in range(20):
        multiply(tensor, out, out)
    del tensor
    gc.collect()
    mgr.trim()  # what is kept for the next call
    assert mgr.memory()["used"] == before


# ----------------------------------------------------------------------------------------------------------------------
# kp.lang
# ----------------------------------------------------------------------------------------------------------------------

BUILTINS = Path(__file__).parents[2] / "src" / "compiler" / "builtins.def"
PYTHONS = {"abs", "all", "any", "divmod", "len", "max", "min", "pow", "print", "round", "sum"}


def test_lang_has_the_functions_of_the_compiler():
    rows = re.findall(r'^BUILTIN\("(\w+)", .*?, (\w+), \w+\)', BUILTINS.read_text(), re.M)
    assert len(rows) > 50
    known = {name for name, _ in rows} - PYTHONS
    ours = {name for name, thing in vars(kp.lang).items() if isinstance(thing, kp.lang.LanguageFunction)}
    assert ours == known


def test_lang_writes_types():
    assert repr(f32) == "f32"
    assert repr(Array[f32]) == "Array[f32]"
    assert repr(Array[vec2]) == "Array[vec2]"
    assert repr(Array["i32"]) == "Array[i32]"
    assert repr(Index2) == "Index2"
    assert kp.lang.type_text(np.dtype("float32")) == kp.lang.type_text(np.float32) == "f32"
    assert kp.lang.type_text(np.bool_) == "bool"
    with pytest.raises(TypeError, match="is no type of the kernel language"):
        Array[object]
    with pytest.raises(TypeError, match=r"^f32 is a type of the kernel language"):
        f32(1)
    with pytest.raises(TypeError, match=r"^exp\(\) is a function of the kernel language"):
        kp.lang.exp(1)


def test_a_destroyed_tensor_says_so(mgr):
    kernel = kp.kernel_from_source("def k(i: Index, x: Array[f32]):\n    x[i] = 1.0\n")
    tensor = mgr.tensor([1, 2])
    tensor.destroy()
    with pytest.raises(kp.StateError, match=r"^k\(\) argument 'x': is destroyed$"):
        kernel(tensor)
    with pytest.raises(kp.StateError, match=r"^k\(\) argument 'x': has no device memory; call manager"):
        kernel(kp.Tensor([1, 2]))
