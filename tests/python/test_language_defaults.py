"""Default values of a kernel's numbers, and parameters of helpers that are passed by place or by name alone."""

import math

import kp
import numpy as np
import pytest
from kp.lang import Array, Const, Index, f32, i32, u32
from typekit import NEEDS, launch

BASE = 3


@kp.kernel
def numbers(i: Index, x: Array[f32], gain: f32 = 2.5, shift: i32 = -BASE, on: bool = True, most: u32 = 4000000000):
    if on and most > 3999999999:
        x[i] = gain * x[i] + f32(shift)


@kp.kernel
def untyped(i: Index, x, gain=0.5, shift=2, turn=math.pi, n: Const[i32] = 2):
    x[i] = gain * x[i] + f32(shift + n) * turn


def call(kernel, how):
    return kernel if how == "device" else kernel.emulate


@pytest.mark.parametrize("how", ["device", "cpython"])
def test_what_the_call_leaves_out(how):
    x = np.arange(4, dtype=np.float32)
    start = x.copy()
    call(numbers, how)(x)
    assert x.tolist() == (2.5 * start - 3).tolist()
    x[:] = start
    call(numbers, how)(x, 2.0, on=True)
    assert x.tolist() == (2 * start - 3).tolist()
    x[:] = start
    call(numbers, how)(x, shift=7)
    assert x.tolist() == (2.5 * start + 7).tolist()
    x[:] = start
    call(numbers, how)(x, on=False)
    call(numbers, how)(x, most=3)
    assert x.tolist() == start.tolist()


@pytest.mark.parametrize("how", ["device", "cpython"])
def test_a_default_gives_its_type(how):
    x = np.arange(4, dtype=np.float32)
    call(untyped, how)(x)
    wanted = np.float32(0.5) * np.arange(4, dtype=np.float32) + np.float32(4) * np.float32(math.pi)
    assert np.allclose(x, wanted, rtol=1e-6)
    call(untyped, how)(x, 1, shift=-2)
    assert np.allclose(x, wanted, rtol=1e-6)
    with pytest.raises(TypeError, match="must be i32, not float"):
        untyped(x, shift=1.5)


def test_algorithms_and_params():
    assert [p.default for p in numbers.params] == [None, None, 2.5, -3, True, 4000000000]
    mgr = kp.Manager()
    x = mgr.tensor([1, 2])
    algorithms = [numbers.algorithm(mgr, [x]), mgr.algorithm([x], numbers.program, extent=2)]
    for algorithm, wanted in zip(algorithms, ([-0.5, 2], [-4.25, 2])):
        seq = mgr.sequence().record(kp.OpSyncDevice([x])).record(kp.OpAlgoDispatch(algorithm))
        seq.record(kp.OpSyncLocal([x])).eval()
        assert x.data().tolist() == wanted
    mgr.destroy()


@pytest.mark.parametrize(
    ("name", "value"),
    [("i8", -128), ("u8", 200), ("i16", -30000), ("u16", 65535), ("i64", -(2**62) - 1), ("u64", 2**64 - 1)]
    + [("f16", -0.5), ("f64", 0.1), ("i32", -(2**31)), ("u32", 2**32 - 1), ("f32", 1e-3), ("bool", True)],
)
def test_a_default_of_each_type(name, value):
    text = f"def k(i: Index, out: Array[{name}], x: {name} = {value}):\n    out[i] = x\n"
    kernel = kp.kernel_from_source(text)
    dtype = np.dtype(getattr(np, {"bool": "bool_"}.get(name, kernel.params[1].type and _numpy(name))))
    assert kernel.params[2].default == dtype.type(value)
    got = launch({name} if NEEDS[name] else set(), text, np.zeros(2, dtype=dtype))
    assert got is None or got[0].tolist() == [dtype.type(value)] * 2


def _numpy(name):
    return name.replace("u", "uint").replace("f", "float") if name[0] != "i" else name.replace("i", "int")


def put(a, at, /, value, *, scale=2, more):
    a[at] = value * scale + more


def only(*, x=1):
    return x


@kp.kernel
def places(i: Index, x: Array[i32]):
    put(x, i, 5, more=only(x=x[i]) + only())
    put(x, i + len(x) // 2, more=x[i], value=2, scale=3)


@pytest.mark.parametrize("how", ["device", "cpython"])
def test_helpers_with_places_and_names(how):
    x = np.arange(6, dtype=np.int32)
    call(places, how)(x, extent=3)
    assert x.tolist() == [11, 12, 13, 17, 18, 19]


def scaled(x, by=2.0, *, more=0.0, less=0.0):
    return x * by + more - less


def scaled_otherwise(x, by=2.0, *, more=0.0, less=0.0):
    return x / by + more - less


@kp.kernel
def through_a_helper(i: Index, x: Array[f32]):
    x[i] = scaled(x[i])


@pytest.mark.parametrize("how", ["device", "cpython"])
def test_defaults_of_a_helper_that_change_in_place(how, monkeypatch):
    def one(value):
        x = np.full(3, value, dtype=np.float32)
        expected = [scaled(value)] * 3
        for _ in range(2):  # the second one finds what the first one left
            x[:] = value
            call(through_a_helper, how)(x)
            assert x.tolist() == expected

    one(8.0)
    monkeypatch.setattr(scaled, "__defaults__", (4.0,))
    one(8.0)
    monkeypatch.setitem(scaled.__kwdefaults__, "more", 100.0)
    one(8.0)
    monkeypatch.setattr(scaled, "__kwdefaults__", {"more": 5.0, "less": 1.0})
    one(8.0)
    monkeypatch.setattr(scaled, "__code__", scaled_otherwise.__code__)
    one(8.0)
    monkeypatch.setitem(globals(), "scaled", scaled_otherwise)
    one(8.0)
    monkeypatch.undo()
    one(8.0)


@pytest.mark.parametrize("where", ["__defaults__", "__kwdefaults__"])
def test_a_default_that_is_gone_is_not_taken_from_the_text(where, monkeypatch):
    x = np.full(3, 8, dtype=np.float32)
    monkeypatch.setattr(scaled, where, None)
    with pytest.raises(TypeError, match="missing . required"):
        scaled(8.0)
    with pytest.raises(kp.CompileError, match="of 'scaled' has lost the default value"):
        through_a_helper(x)
    assert x.tolist() == [8] * 3
    monkeypatch.undo()
    through_a_helper(x)
    assert x.tolist() == [scaled(8.0)] * 3


def test_defaults_of_a_kernel_that_change_in_place(monkeypatch):
    x = np.ones(2, dtype=np.float32)
    numbers(x)
    assert x.tolist() == [-0.5] * 2
    monkeypatch.setattr(numbers.function, "__defaults__", (4.0, 1, True, 4000000000))
    x[:] = 1
    numbers(x)
    assert x.tolist() == [5.0] * 2


def test_a_helper_of_another_name():
    def inner(x):
        return x + 1.0

    inner.__name__ = "outer"

    @kp.kernel
    def k(i: Index, x: Array[f32]):
        x[i] = inner(x[i])

    x = np.ones(2, dtype=np.float32)
    k(x)
    assert x.tolist() == [2.0] * 2
