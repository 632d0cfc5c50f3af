"""What is no kernel, and no struct, is refused where it is written, in words that say what to write. The words for what is wrong
inside of a kernel are in tests/compile/error."""

from __future__ import annotations

import array
import dataclasses
import re
import runpy
from pathlib import Path

import kp
import numpy as np
import pytest
from kp.lang import Array, Index, f32, i32, vec2


def test_parameters_by_name_alone_are_for_helpers_with_types_or_without() -> None:
    words = r"'\*' is for the functions that a kernel calls; what a kernel takes is passed in order or by name"
    with pytest.raises(kp.CompileError, match=words):

        @kp.kernel
        def typed(i: Index, out: Array[f32], *, gain: f32 = 2.0):
            out[i] = gain

    with pytest.raises(kp.CompileError, match=words) as caught:

        @kp.kernel
        def generic(i: Index, out, *, gain=2.0):
            out[i] = gain

    assert caught.value.filename == __file__


def test_parameters_by_place_alone_are_for_helpers() -> None:
    with pytest.raises(kp.CompileError, match="'/' is for the functions that a kernel calls"):

        @kp.kernel
        def generic(i: Index, out, /, gain):
            out[i] = gain


def test_a_tuple_is_no_default_of_a_vector() -> None:
    with pytest.raises(kp.CompileError, match="only a number has a default value, but 'v' is vec2") as caught:

        @kp.kernel
        def shift(i: Index, out: Array[f32], v: vec2 = (1, 2)):
            out[i] = v.x

    assert caught.value.filename == __file__
    line = open(__file__).read().split("\n")[caught.value.lineno - 1]
    assert line[caught.value.offset - 1 :].startswith("(1, 2)")


def test_a_text_is_no_default_of_a_number() -> None:
    with pytest.raises(kp.CompileError, match="the default value of 'mode' is a number, as in mode: i32 = 1") as caught:

        @kp.kernel
        def shift(i: Index, out: Array[f32], mode: i32 = "fast"):
            out[i] = f32(mode)

    assert caught.value.filename == __file__


def test_no_parameter_is_called_as_what_a_call_takes_for_itself() -> None:
    words = "a parameter of a kernel cannot be called 'extent', which is how many indices a call goes over"
    with pytest.raises(kp.CompileError, match=words) as caught:

        @kp.kernel
        def typed(i: Index, out: Array[f32], extent: i32):
            out[i] = f32(extent)

    assert caught.value.filename == __file__
    with pytest.raises(kp.CompileError, match=words):

        @kp.kernel
        def generic(i: Index, out, extent):
            out[i] = extent

    with pytest.raises(kp.CompileError, match=words):
        kp.kernel_from_source("def k(i: Index, out: Array[f32], extent: i32):\n    out[i] = f32(extent)\n")


@pytest.mark.parametrize("name", ["class", "None", "a b", "größe"])
def test_a_field_has_a_name_that_a_kernel_can_write(name: str) -> None:
    dtype = np.dtype([(name, "f4"), ("b", "i4")])
    with pytest.raises(TypeError, match=f"the field '{name}' has no name that a kernel can write"):
        kp.struct(dtype)


def test_fields_of_a_class_are_named_like_what_a_kernel_can_write() -> None:
    with pytest.raises(
        TypeError, match="Shape: the name of the field 'größe' has letters that a kernel's names have not"
    ):

        class Shape(kp.Struct):
            größe: f32


def test_fields_may_be_named_like_words_of_other_languages() -> None:
    dtype = np.dtype([("void", "f4"), ("OpName", "f4"), ("float", "f4"), ("main", "f4")])
    assert list(kp.struct(dtype).fields) == ["void", "OpName", "float", "main"]


def test_a_struct_names_the_values_that_it_misses() -> None:
    class Pair(kp.Struct):
        a: f32
        b: i32

    with pytest.raises(TypeError, match="Pair needs values for 'a', 'b'"):
        Pair()
    with pytest.raises(TypeError, match="Pair needs a value for 'b'"):
        Pair(1.0)
    with pytest.raises(kp.CompileError, match="Pair needs a value for 'b'"):

        @kp.kernel
        def make(i: Index, out: Array[f32]):
            out[i] = Pair(1.0).a


def test_emulate_wants_a_kernel() -> None:
    with pytest.raises(TypeError, match="kp.emulate takes a function, not int"):
        kp.emulate(3)
    with pytest.raises(kp.CompileError, match="a lambda cannot be a kernel: a kernel is a def of its own"):
        kp.emulate(lambda i, a: None, [1.0])


@kp.kernel
def double(i: Index, x, out: Array[f32]):
    out[i] = f32(x[i]) * 2.0


@pytest.mark.parametrize("dtype", [">i4", "<i4", ">f4"])
def test_a_parameter_without_a_type_takes_either_byte_order(dtype: str) -> None:
    out = np.zeros(3, "f4")
    double(np.arange(3).astype(dtype), out)
    assert out.tolist() == [0.0, 2.0, 4.0]


@pytest.mark.parametrize("code", "fi")
def test_a_parameter_without_a_type_takes_the_arrays_of_python(code: str) -> None:
    out = np.zeros(3, "f4")
    double(array.array(code, [1, 2, 3]), out)
    assert out.tolist() == [2.0, 4.0, 6.0]


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        (np.zeros(3, "c8"), "has dtype complex64, which no kernel has"),
        (np.array(["a"]), "has dtype <U1, which no kernel has"),
        (np.array([None]), "has dtype object, which no kernel has"),
        (None, "has no type in the kernel, so it must be a tensor, an array, a list or a number, not NoneType"),
        ("abc", "has no type in the kernel, so it must be a tensor, an array, a list or a number, not str"),
        (
            np.zeros(3, [("x", ">f4")]),
            "the field 'x' has dtype >f4, of the other byte order; convert the array with astype()",
        ),
    ],
)
def test_arguments_that_give_no_type(argument: object, words: str) -> None:
    with pytest.raises(TypeError) as caught:
        double(argument, np.zeros(3, "f4"))
    assert words in str(caught.value)
    assert "double() argument 'x': " in str(caught.value)


def test_a_default_that_is_no_number_is_refused_where_it_stands() -> None:
    with pytest.raises(kp.CompileError, match="only a number has a default value, but 'x' is Array.f32."):

        @kp.kernel
        def optional(i: Index, x: Array[f32] = None):
            x[i] = 1.0

    with pytest.raises(kp.CompileError, match="the default value of 'x' is a number, as in x: f32 = 1"):

        @kp.kernel
        def array_default(i: Index, out: Array[f32], x: f32 = np.zeros(3)):
            out[i] = x


@pytest.mark.parametrize("type_", [np.ndarray, list, kp.Tensor, list[float], np.ndarray[int, np.dtype[np.float32]]])
def test_classes_of_arrays_are_no_types(type_: type) -> None:
    name = type_.__name__ if isinstance(type_, type) else repr(type_)
    words = f"the parameter 'out': {re.escape(name)} is no type of the kernel language; a buffer is Array.f32."
    with pytest.raises(kp.CompileError, match=words):

        @kp.kernel
        def fill(i: Index, out: type_):  # type: ignore[valid-type]
            out[i] = 1.0


def test_array_of_a_type_is_a_buffer_as_in_pyshader() -> None:
    @kp.kernel
    def fill(i: Index, out: Array(f32)):  # type: ignore[valid-type]
        out[i] = 1.0

    out = np.zeros(3, "f4")
    fill(out)
    assert out.tolist() == [1.0, 1.0, 1.0]


def test_a_forgotten_index_is_named() -> None:
    @kp.kernel
    def typed(i: int, out: Array[f32]):
        out[0] = f32(i)

    @kp.kernel
    def generic(i, out):
        out[i] = 1.0

    with pytest.raises(TypeError, match=r"typed\(\) missing arguments: out; the index of a kernel is i: Index$"):
        typed(np.zeros(3, "f4"))
    with pytest.raises(
        TypeError, match=r"types, out; they get them from arguments; the index of a kernel is i: Index$"
    ):
        generic(np.zeros(3, "f4"))


def test_what_a_kernel_without_types_cannot_be_shows_at_its_definition() -> None:
    with pytest.raises(kp.CompileError, match=r"'\*' parameters are not in the kernel language"):

        @kp.kernel
        def variadic(i: Index, x, *more):
            x[i] = 1.0

    with pytest.raises(kp.CompileError, match=r"'\*\*' parameters are not in the kernel language"):

        @kp.kernel
        def named(i: Index, x, **more):
            x[i] = 1.0

    with pytest.raises(kp.CompileError, match="'yield' is not in the kernel language; a kernel returns nothing"):

        @kp.kernel
        def generator(i: Index, x):
            yield x[i]

    with pytest.raises(kp.CompileError, match="'async' is not in the kernel language; a kernel is a plain def"):

        @kp.kernel
        async def coroutine(i: Index, x):
            x[i] = 1.0


def test_staticmethod_goes_above() -> None:
    with pytest.raises(TypeError, match="takes a function, not staticmethod; write @staticmethod above @kp.kernel"):

        class Kernels:
            @kp.kernel
            @staticmethod
            def fill(i: Index, out: Array[f32]):
                out[i] = 1.0

    class Others:
        @staticmethod
        @kp.kernel
        def fill(i: Index, out: Array[f32]):
            out[i] = 1.0

    out = np.zeros(2, "f4")
    Others.fill(out)
    assert out.tolist() == [1.0, 1.0]


TABLE = [1.0, 2.0]
ARRAY = np.zeros(3, "f4")


def test_arrays_from_outside_are_parameters() -> None:
    with pytest.raises(kp.CompileError, match="'TABLE' is a list; .*; make it a tuple, or a parameter"):

        @kp.kernel
        def listed(i: Index, out: Array[f32]):
            out[i] = TABLE[i]

    with pytest.raises(kp.CompileError, match="'ARRAY' is an ndarray; .*; pass it as a parameter"):

        @kp.kernel
        def kept(i: Index, out: Array[f32]):
            out[i] = ARRAY[i]


@pytest.mark.parametrize(
    "call", ["nothing.append(1.0)", "x[i] = nothing.sub.f(x[i])", "x[i] += nothing.f(\n        1)"]
)
def test_what_is_in_front_of_a_function_is_not_there(call: str, tmp_path: Path) -> None:
    text = f"from __future__ import annotations\nimport kp\n@kp.kernel\ndef k(i: Index, x: Array[f32]):\n    {call}\n"
    path = tmp_path / "nothing_there.py"
    path.write_text(text)
    column = text.splitlines()[4].index("nothing") + 1
    with pytest.raises(kp.CompileError, match=rf"nothing_there.py:5:{column}: there is no 'nothing' here\n"):
        runpy.run_path(str(path))


def test_a_view_of_vectors_says_which_axis_is_wrong() -> None:
    view = kp.kernel_from_source("def k(i: Index, a: Array[vec2, 2]):\n    a[0, 0] = vec2(1)\n")
    mgr = kp.Manager()
    for shape, words in (
        ((5, 2, 1), "has 1 numbers on its last axis, not 2$"),
        ((5, 2, 3), "has 3 numbers on its last axis, not 2$"),
        ((5, 2), "has 2 axes, not 3$"),
        ((5, 2, 2, 2), "has 4 axes, not 3$"),
    ):
        with pytest.raises(ValueError, match=words):
            mgr.algorithm([mgr.zeros(shape)], view.program)
    mgr.algorithm([mgr.zeros((5, 2, 2))], view.program)


def test_a_class_with_fields_is_no_struct_without_its_base() -> None:
    @dataclasses.dataclass
    class Particle:
        mass: float

    with pytest.raises(
        kp.CompileError, match="Particle is no type of the kernel language; a struct has kp.Struct as its"
    ):

        @kp.kernel
        def fill(i: Index, p: Particle, out: Array[f32]):  # type: ignore[valid-type]
            out[i] = 1.0
