"""Kernels whose parameters take the types of their arguments, and what a signature may hold that the kernel does not use."""

import enum
import functools
import sys
import threading

import kp
import numpy as np
import pytest
from kp.lang import Array, GroupIndex, Index, LocalIndex, LocalSize, Texture2D, f32, i32, vec2


@kp.kernel
def doubled(i: Index, x, y):
    y[i] = x[i] + x[i]


def test_threads_call_one_kernel_with_arguments_of_several_types():
    faults = []

    def work(dtype):
        for _ in range(40):
            x, y = np.arange(5, dtype=dtype), np.zeros(5, dtype)
            try:
                doubled(x, y)
            except Exception as error:
                faults.append(error)
            else:
                faults.extend([y] if y.tolist() != [0, 2, 4, 6, 8] else [])

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(dtype,)) for dtype in (np.float32, np.int32, np.uint32)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not faults


@kp.kernel(local_size=4)
def placed(i: Index, t: LocalIndex, n: LocalSize, g: GroupIndex, x, by):
    x[i] = x[i] * by + 10 * t + n + 100 * g


@pytest.mark.parametrize("call", [placed, placed.emulate])
def test_parameters_without_types_behind_places_in_the_workgroup(call):
    x = np.arange(8, dtype=np.int32)
    call(x, 2)
    assert x.tolist() == [4, 16, 28, 40, 112, 124, 136, 148]


def test_a_view_that_is_not_used():
    @kp.kernel
    def one(i: Index, a: Array[f32, 2], x: Array[i32]):
        x[i] = 1

    @kp.kernel
    def scale(i: Index, by: i32, a: Array[f32, 2], x: Array[i32], b: Array[i32, 3]):
        x[i] *= by

    a, x, b = np.zeros((2, 3), np.float32), np.zeros(4, np.int32), np.zeros((1, 2, 2), np.int32)
    one(a, x)
    scale(3, a, x, b)
    assert x.tolist() == [3, 3, 3, 3]
    manager = kp.Manager()
    tensors = [manager.tensor(a).reshape((2, 3)), manager.tensor_t(np.zeros(4, np.int32))]
    algorithm = one.algorithm(manager, tensors)
    manager.sequence().record(kp.OpSyncDevice(tensors)).record(kp.OpAlgoDispatch(algorithm)).record(
        kp.OpSyncLocal(tensors)
    ).eval()
    assert tensors[1].data().tolist() == [1, 1, 1, 1]


# fmt: off
class Home:
    @kp.kernel
    def add(i: Index, x: Array[i32]):
        """A text
further left.
"""
# and a comment
        x[i] += \
  5
# fmt: on


def test_emulate_takes_lines_that_begin_further_left_than_the_function():
    x = np.zeros(3, np.int32)
    Home.add(x)
    Home.add.emulate(x)
    assert x.tolist() == [10, 10, 10]


def test_a_wrapped_kernel_is_the_function_inside():
    def outer(function, step):
        @functools.wraps(function)
        def wrapper(*args):
            return step  # a name of the wrapper, not of the kernel

        return wrapper

    def plain(i: Index, x: Array[i32]):
        x[i] = step

    step = 7
    kernel = kp.kernel(outer(plain, 5))
    x, y = np.zeros(2, np.int32), np.zeros(2, np.int32)
    kernel(x)
    kernel.emulate(y)
    assert x.tolist() == y.tolist() == [7, 7]


class Level(enum.Enum):
    LOW = 2
    HIGH = 2.5


def test_the_values_of_enums():
    @kp.kernel
    def k(i: Index, x: Array[f32]):
        x[i] = Level.LOW.value + Level.HIGH.value + Level.LOW

    x, y = np.zeros(1, np.float32), np.zeros(1, np.float32)
    k(x)
    k.emulate(y)
    assert x.tolist() == y.tolist() == [6.5]


@kp.kernel
def moved(i: Index, by: vec2, n: i32, x: Array[f32]):
    x[i] = by.x + by.y + f32(n)


@pytest.mark.parametrize(
    "by, n, message",
    [
        (3.0, 1, r"moved\(\) argument 'by': must be vec2, not float"),
        ((1, 2), np.array([1]), r"moved\(\) argument 'n': must be i32, not ndarray"),
        ((1, "2"), 1, r"moved\(\) argument 'by': must be f32, not str"),
    ],
)
def test_values_of_a_wrong_kind_are_named(by, n, message):
    with pytest.raises(TypeError, match=message):
        moved(by, n, np.zeros(1, np.float32))


def test_a_comprehensions_variable_ends_with_it():
    with pytest.raises(kp.CompileError, match="there is no 'n' here: it is neither a parameter"):
        kp.kernel_from_source("def k(i: Index, x: Array[i32]):\n    q = [n for n in range(3)]\n    x[i] = n + q[1]\n")


TABLE, WORDS, HUGE = np.arange(3), {"a": [1]}, 2**70


@pytest.mark.parametrize(
    "name, message",
    [
        ("TABLE", r"'TABLE' is an ndarray; from outside, a kernel takes numbers, tuples of them, and functions"),
        ("WORDS", r"'WORDS' is a dict; from outside"),
        ("HUGE", r"'HUGE' is 1180591620717411303424, which no type of the kernel language holds"),
        ("Level", r"'Level' is a class; from outside"),
        ("GONE", r"there is no 'GONE' here: it is neither"),
    ],
)
def test_names_that_only_python_has_are_explained(name, message):
    def table(i: Index, x: Array[f32]):
        x[i] = TABLE[0]

    def words(i: Index, x: Array[f32]):
        x[i] = WORDS["a"][0]

    def huge(i: Index, x: Array[f32]):
        x[i] = HUGE % 3

    def level(i: Index, x: Array[f32]):
        x[i] = Level

    def gone(i: Index, x: Array[f32]):
        x[i] = GONE

    function = {"TABLE": table, "WORDS": words, "HUGE": huge, "Level": level, "GONE": gone}[name]
    with pytest.raises(kp.CompileError, match=message) as caught:
        kp.kernel(function)
    assert caught.value.lineno == function.__code__.co_firstlineno + 1
    assert str(caught.value).count("^") >= len(name)


def test_a_text_takes_the_types_of_its_arguments(mgr):
    """One program for each signature, as a decorated function has; nothing of the text is run."""
    kernel = kp.kernel_from_source("def scale(i: Index, x, by, n: i32 = 2):\n    x[i] = x[i] * by if i < n else x[i]\n")
    assert repr(kernel) == "<kp.Kernel scale>"
    for dtype, by in (("float32", 0.5), ("int32", 3), ("float32", 4.0)):
        x, copy = np.arange(4, dtype=dtype), np.arange(4, dtype=dtype)
        kernel(x, by)
        kernel.emulate(copy, by)
        assert x.tolist() == copy.tolist() == [v * by if v < 2 else v for v in range(4)]
    assert kernel.spirv(x="Array[f32]", by="f32") == kernel.spirv(x=x, by=1.0) != kernel.spirv(x="Array[i32]", by="i32")
    tensor = mgr.tensor([1, 2])
    seq = mgr.sequence().record(kp.OpSyncDevice([tensor]))
    seq.record(kp.OpAlgoDispatch(kernel.algorithm(mgr, [tensor], by=10.0))).record(kp.OpSyncLocal([tensor])).eval()
    assert tensor.data().tolist() == [10, 20]
    with pytest.raises(TypeError, match="has parameters without types, x, by"):
        kernel.spirv()


def test_a_text_takes_views_and_structs():
    shifted = kp.kernel_from_source(
        "def k(at: Index2, a, b):\n    rows, columns = a.shape\n    b[at.y, at.x] = a[at.y, columns - 1 - at.x]\n"
    )
    a, b = np.arange(6, dtype=np.int32).reshape(2, 3), np.zeros((2, 3), np.int32)
    shifted(a, b)
    assert b.tolist() == a[:, ::-1].tolist()
    grown = kp.kernel_from_source("def k(i: Index, p):\n    p[i].age += 1.0\n    p[i].at.y = 5\n")
    people = np.zeros(2, np.dtype([("age", "f4"), ("at", "i4", (2,))], align=True))
    grown(people)
    assert people["age"].tolist() == [1, 1] and people["at"].tolist() == [[0, 5]] * 2


def test_a_text_whose_function_has_a_parameter_of_the_same_name():
    kernel = kp.kernel_from_source(
        "def half(x, by):\n    return x / by\n\ndef k(i: Index, x, by):\n    x[i] = half(x[i], 2)\n"
    )
    x = np.array([3, 8], np.float32)
    kernel(x, 1)
    assert x.tolist() == [1.5, 4]


def test_a_fault_in_a_type_that_has_a_name_of_its_own():
    named = Texture2D[f32, "foo"]
    with pytest.raises(kp.CompileError, match="^<type of 'a'>:1:16: a texture is sampled by") as caught:

        @kp.kernel
        def sampled(i: Index, a: named, x: Array[f32]):
            x[i] = a[0, 0]

    assert 'Texture2D[f32, "foo"]' in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def k(i: Index, x):\n    x[i] = nope\n", "<kernel>:2:12: there is no 'nope' here"),
        ("def k(i: Index, x):\n    x[i] = \n", "<kernel>:2:12: expected an expression"),
        ("def k(i: Index, extent):\n    extent[i] = 1\n", "cannot be called 'extent'"),
    ],
)
def test_a_text_without_types_is_looked_at_where_it_is_made(text, words):
    with pytest.raises(kp.CompileError) as caught:
        kp.kernel_from_source(text)
    assert words in str(caught.value)
