"""Calls that came before are replays, and nobody can tell but by the clock: whatever changed between two calls shows."""

import gc
import itertools
import os
import threading
import types
import weakref

import kp
import numpy as np
import pytest
from kp.lang import Array, Const, Index, Index2, f32, i32

FACTOR = 2.0
SETTINGS = types.SimpleNamespace(offset=1.0)
MODULE = types.ModuleType("module")
MODULE.offset = 1.0


def helper(x):
    return x + 1.0


@kp.kernel
def scaled(i: Index, x: Array[f32], out: Array[f32]):
    out[i] = FACTOR * x[i]


@kp.kernel
def add(i: Index, step: f32, data: Array[f32]):
    data[i] = data[i] + step


@kp.kernel
def helped(i: Index, data: Array[f32]):
    data[i] = helper(data[i])


@kp.kernel
def from_module(i: Index, data: Array[f32]):
    data[i] = data[i] + MODULE.offset


@kp.kernel
def from_object(i: Index, data: Array[f32]):
    data[i] = data[i] + SETTINGS.offset


def tensor_of(mgr, *values):
    tensor = mgr.tensor(list(values))
    mgr.sequence().eval(kp.OpSyncDevice([tensor]))
    return tensor


def values_of(tensor):
    tensor.manager.sequence().eval(kp.OpSyncLocal([tensor]))
    return tensor.data().tolist()


@pytest.fixture
def slow_calls(monkeypatch):
    """Counts the calls of each kernel that went through Python."""
    seen = []
    original = kp.Kernel._call

    def _call(self, /, *args, **kwargs):
        seen.append(self.__name__)
        return original(self, *args, **kwargs)

    monkeypatch.setattr(kp.Kernel, "_call", _call)
    return seen


def test_the_same_call_again_is_a_replay(mgr, slow_calls):
    data = tensor_of(mgr, 0, 10)
    for _ in range(5):
        add(1.0, data)
    assert values_of(data) == [5, 15]
    assert slow_calls == ["add"]


def test_keywords_and_extents_are_part_of_the_call(mgr, slow_calls):
    data = tensor_of(mgr, 0, 0, 0)
    for _ in range(2):
        add(1.0, data=data)
        add(data=data, step=10.0)
        add(100.0, data, extent=2)
        add[1](1000.0, data)
        add(10000.0, data, extent=(1,))
    assert values_of(data) == [22222, 222, 22]
    assert slow_calls == ["add"] * 5


def test_the_order_of_tensors_is_part_of_the_call(mgr):
    a, b = tensor_of(mgr, 1, 2), tensor_of(mgr, 30, 40)
    for _ in range(2):
        scaled(a, b)
        assert values_of(b) == [2 * value for value in values_of(a)]
        scaled(b, a)
        assert values_of(a) == [2 * value for value in values_of(b)]


def test_numbers_that_are_equal_but_not_the_same(mgr):
    """2 and 2.0 are equal in Python; a NaN is not equal to itself."""

    @kp.kernel
    def kind(i: Index, x, out: Array[f32]):
        out[i] = 7.0 + f32(x) / 2 if x == x else 9.0

    out = tensor_of(mgr, 0)
    for value, wanted in ((0.0, 7), (np.nan, 9), (2.0, 8), (2, 8), (-2.0, 6), (1, 7.5)) * 2:
        kind(value, out)
        assert values_of(out) == [wanted], value


def test_a_parameter_without_a_type_takes_that_of_each_call(mgr):
    @kp.kernel
    def divided(i: Index, x, out: Array[f32]):
        out[i] = f32(x // 2)

    out = tensor_of(mgr, 0)
    for value, wanted in ((5, 2), (5.5, 2), (-5, -3), (7, 3)) * 2:
        divided(value, out)
        assert values_of(out) == [wanted]


def test_what_a_name_stands_for_may_change(mgr, monkeypatch):
    x, out = tensor_of(mgr, 1, 2), tensor_of(mgr, 0, 0)
    for factor in (2.0, 3.0, 3.0, 2.0, 5):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        scaled(x, out)
        assert values_of(out) == [factor, 2 * factor]


def test_a_function_that_it_calls_may_change(mgr, monkeypatch):
    data = tensor_of(mgr, 0)
    helped(data)
    helped(data)
    assert values_of(data) == [2]

    def helper(x):
        return x + 100.0

    monkeypatch.setitem(globals(), "helper", helper)
    helped(data)
    assert values_of(data) == [102]


def test_an_attribute_of_a_module_may_change_and_go(mgr, monkeypatch):
    data = tensor_of(mgr, 0)
    from_module(data)
    from_module(data)
    monkeypatch.setattr(MODULE, "offset", 10.0)
    from_module(data)
    assert values_of(data) == [12]
    monkeypatch.delattr(MODULE, "offset")
    with pytest.raises(kp.CompileError):
        from_module(data)
    monkeypatch.undo()
    from_module(data)
    assert values_of(data) == [13]


def test_an_attribute_of_an_object_is_looked_at_each_time(mgr, monkeypatch):
    data = tensor_of(mgr, 0)
    for _ in range(2):
        from_object(data)
    monkeypatch.setattr(SETTINGS, "offset", 10.0)
    from_object(data)
    assert values_of(data) == [12]


def test_a_name_of_the_closure_may_change(mgr, slow_calls):
    step = 1.0

    @kp.kernel
    def stepped(i: Index, data: Array[f32]):
        data[i] = data[i] + step

    data = tensor_of(mgr, 0)
    for _ in range(3):
        stepped(data)
    assert slow_calls == ["stepped"]
    step = 10.0
    stepped(data)
    assert values_of(data) == [13]


def test_a_destroyed_tensor_says_so(mgr):
    data = tensor_of(mgr, 0)
    add(1.0, data)
    add(1.0, data)
    data.destroy()
    with pytest.raises(kp.StateError, match="destroyed"):
        add(1.0, data)


def test_a_destroyed_manager_says_so():
    mgr = kp.Manager()
    data = tensor_of(mgr, 0)
    add(1.0, data)
    add(1.0, data)
    mgr.destroy()
    with pytest.raises(kp.StateError, match="destroyed"):
        add(1.0, data)


def test_a_classic_tensor_that_is_created_again(mgr):
    """Its address and its object stay; what is behind it does not."""
    data = kp.Tensor([0.0, 1.0])
    for _ in range(2):
        mgr.eval_tensor_create_def([data])
        before = data.data()
        add(1.0, data)
        add(1.0, data)
        mgr.eval_tensor_sync_local_def([data])
        assert data.data() == [value + 2 for value in before]
        data.destroy()
        with pytest.raises(kp.StateError, match="has no device memory"):
            add(1.0, data)


def test_objects_that_come_and_go_at_one_address(mgr):
    for k in range(20):
        data = tensor_of(mgr, k)
        add(0.5, data)
        add(0.5, data)
        assert values_of(data) == [k + 1]
        del data


def test_two_managers(mgr):
    other = kp.Manager()
    here, there = tensor_of(mgr, 0), tensor_of(other, 0)
    for _ in range(3):
        add(1.0, here)
        add(2.0, there)
    assert (values_of(here), values_of(there)) == ([3], [6])
    with pytest.raises(ValueError, match="another manager"):
        scaled(here, there)
    other.destroy()
    add(1.0, here)
    assert values_of(here) == [4]


def test_more_calls_than_are_remembered(mgr):
    tensors = [tensor_of(mgr, 0) for _ in range(70)]
    for _ in range(3):
        for k, data in enumerate(tensors):
            add(float(k), data)
    assert [values_of(data) for data in tensors] == [[3 * k] for k in range(70)]


def test_new_numbers_need_no_python(mgr, slow_calls):
    data, other = tensor_of(mgr, 0), tensor_of(mgr, 0)
    for k in range(50):
        add(float(k), data)
        add(k, other)
        add(0.5, other, extent=1)
    assert (values_of(data), values_of(other)) == ([1225], [1225 + 25])
    assert len(slow_calls) <= 11


RANGES = {
    "f32": (0.0, -0.0, 1.5, 1, -7, np.inf, np.nan, 16777217, 1e-50, 3.4e38, -(2**63)),
    "f64": (0.0, 1.5, 1, 1e300, np.nan, 2**53 + 1),
    "i8": (0, 127, -128),
    "u8": (0, 255),
    "i16": (0, 32767, -32768),
    "u16": (0, 65535),
    "i32": (0, 2**31 - 1, -(2**31)),
    "u32": (0, 2**32 - 1),
    "i64": (0, 2**63 - 1, -(2**63)),
    "u64": (0, 2**63 - 1, 2**64 - 1),
    "bool": (True, False, 1, 0, 5),
}
BEYOND = {
    "i8": (128, -129), "u8": (256, -1), "i16": (32768,), "u16": (65536, -1), "i32": (2**31,),
    "u32": (2**32, -1), "i64": (2**63,), "u64": (2**64, -1), "f32": (3.5e38, -1e300, 10**40), "f64": (10**400,),
}  # fmt: skip
WRONG = {"i32": (1.0, True), "u8": (1.0, False), "f32": ("1", True, 1j, None), "bool": (1.0, "1", None, [])}


@pytest.mark.parametrize("dtype", RANGES)
def test_numbers_of_each_type_replace_each_other(mgr, dtype):
    numpy_type = next(name for text, name, *_ in kp._kp.DTYPES if text == dtype)
    kernel = kp.kernel_from_source(
        f"def k(i: Index, a: {dtype}, b: {dtype}, out: Array[{dtype}]):\n"
        f"    if i == 0:\n        out[0] = a\n    else:\n        out[1] = b\n"
    )
    out = mgr.tensor_t(np.zeros(2, numpy_type))
    try:
        kernel(0, 0, out)
    except kp.UnsupportedError as error:
        assert "lacks" in str(error)
        return
    values = RANGES[dtype]
    for _ in range(2):
        for a, b in zip(values * 2, values[1:] + values + values[:1], strict=True):
            kernel(a, b, out)
            with np.errstate(all="ignore"):
                wanted = np.array([np.array(a).astype(numpy_type), np.array(b).astype(numpy_type)])
            mgr.sequence().eval(kp.OpSyncLocal([out]))
            np.testing.assert_array_equal(out.data(), wanted)
        for beyond in BEYOND.get(dtype, ()):
            with pytest.raises(OverflowError, match="does not fit"):
                kernel(beyond, values[0], out)
            with pytest.raises(OverflowError, match="does not fit"):
                kernel(values[0], beyond, out)
        for wrong in WRONG.get(dtype, ()):
            with pytest.raises(TypeError, match=f"must be {dtype}"):
                kernel(wrong, values[0], out)


def test_numbers_that_are_no_push_constants_stay_what_they_are(mgr):
    @kp.kernel
    def both(i: Index, a: f32, data: Array[f32], n: Const[i32], b: f32):
        data[i] = a + 10.0 * f32(n) + 100.0 * b

    data = tensor_of(mgr, 0, 0)
    for k in range(10):
        for n in (1, 2):
            both(float(k), data, n, 3.0)
            assert values_of(data) == [k + 10 * n + 300] * 2
            both(float(k), data, n, b=float(k))
            assert values_of(data) == [k + 10 * n + 100 * k] * 2
            both[1](0.0, data, n, float(-k))
            assert values_of(data) == [10 * n - 100 * k, k + 10 * n + 100 * k]


def test_arrays_and_lists_are_copied_each_time():
    array, listed = np.zeros(2, np.float32), [0.0, 0.0]
    for k in range(3):
        array[0] += 10
        add(1.0, array)
        add(1.0, listed)
        assert array.tolist() == [11 * (k + 1), k + 1]
    assert listed == [3, 3]


def test_a_tuple_is_a_new_buffer_each_time(mgr):
    out = tensor_of(mgr, 0, 0)
    for _ in range(3):
        scaled((1.0, 2.0), out)
        assert values_of(out) == [2, 4]


def test_a_subclass_of_tensor_may_say_something_else_each_time(mgr):
    class Mine(kp.Tensor):
        pass

    data = Mine([0.0])
    mgr.eval_tensor_create_def([data])
    for _ in range(3):
        add(1.0, data)
    mgr.eval_tensor_sync_local_def([data])
    assert data.data() == [3]


def test_errors_stay_errors(mgr):
    data, integers = tensor_of(mgr, 0), mgr.tensor_t(np.zeros(1, np.int32))
    add(1.0, data)
    for _ in range(2):
        with pytest.raises(TypeError, match=r"add\(\) missing arguments: data"):
            add(1.0)
        with pytest.raises(TypeError, match=r"must be f32, not str"):
            add("1", data)
        with pytest.raises(TypeError, match=r"has dtype int32"):
            add(1.0, integers)
        with pytest.raises(TypeError, match="unexpected argument 'other'"):
            add(1.0, data, other=1)
        with pytest.raises(TypeError, match="multiple values for argument 'extent'"):
            add[1](1.0, data, extent=1)
        with pytest.raises(ValueError, match="extent"):
            add(1.0, data, extent=-1)
    add(1.0, data, extent=0)
    add(1.0, data)
    assert values_of(data) == [2]


def test_a_checked_kernel_raises_each_time(mgr):
    @kp.kernel(checked=True)
    def beyond(i: Index, at: i32, data: Array[f32]):
        data[at] = 1.0

    data = tensor_of(mgr, 0, 0)
    for _ in range(3):
        with pytest.raises(IndexError):
            beyond(2, data)
        beyond(1, data)
    assert values_of(data) == [0, 1]


def test_a_kernel_that_prints_prints_each_time(mgr, capsys):
    @kp.kernel
    def telling(i: Index, data: Array[f32]):
        print("at", i)
        data[i] = 1.0

    data = tensor_of(mgr, 0)
    for _ in range(3):
        telling(data)
    assert capsys.readouterr().out == "at 0\n" * 3


def test_axes_come_from_the_tensor(mgr):
    @kp.kernel
    def rows(i: Index2, data: Array[f32, 2]):
        data[i.y, i.x] = f32(10 * i.y + i.x)

    flat = mgr.zeros(6)
    for shape in ((2, 3), (3, 2)) * 2:
        rows(flat.reshape(*shape))
        wanted = [10 * y + x for y in range(shape[0]) for x in range(shape[1])]
        assert values_of(flat) == wanted


def test_specialization_constants_are_part_of_the_call(mgr):
    @kp.kernel
    def special(i: Index, data: Array[f32], n: Const[i32], flag: Const[bool] = False):
        data[i] = f32(n) if flag else f32(-n)

    data = tensor_of(mgr, 0)
    for n in (1, 2) * 2:
        special(data, n)
        assert values_of(data) == [-n]
        special(data, n, flag=True)
        assert values_of(data) == [n]


def test_code_of_the_users_that_runs_while_names_are_looked_at(mgr):
    """A module with a __getattr__ that calls the kernel itself, and one that raises."""

    class Odd(types.ModuleType):
        trouble = None
        inner = False

        def __getattr__(self, name):
            if name != "step" or self.inner:
                raise AttributeError(name)
            if self.trouble is not None:
                raise self.trouble
            self.inner = True
            try:
                for k in range(40):
                    add(float(k), other)
            finally:
                self.inner = False
            return 1.0

    odd = Odd("odd")
    other = tensor_of(mgr, 0)

    @kp.kernel
    def odd_step(i: Index, data: Array[f32]):
        data[i] = data[i] + odd.step

    data = tensor_of(mgr, 0)
    for _ in range(3):
        odd_step(data)
    assert values_of(data) == [3]
    odd.trouble = KeyError("from the module")
    with pytest.raises(KeyError, match="from the module"):
        odd_step(data)


@pytest.mark.parametrize("shared", [True, False], ids=["on one tensor each", "on tensors of all"])
def test_eight_threads_call_one_kernel(mgr, shared):
    """On tensors of their own each sees its own results; what they all only read is the same for all."""
    source = tensor_of(mgr, *range(16))
    outs = [tensor_of(mgr, *[0] * 16) for _ in range(8)]
    ready = threading.Barrier(8)

    def work(k):
        ready.wait()
        for n in range(50):
            if shared:
                scaled(source, outs[k])
            else:
                add(1.0, outs[k])
                add(float(n), outs[k])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wanted = [2.0 * value for value in range(16)] if shared else [50.0 + sum(range(50))] * 16
    assert [values_of(out) for out in outs] == [wanted] * 8


def test_threads_while_what_a_name_stands_for_changes(mgr, monkeypatch):
    x = tensor_of(mgr, 1.0)
    outs = [tensor_of(mgr, 0.0) for _ in range(4)]
    stop = threading.Event()

    def work(out):
        while not stop.is_set():
            scaled(x, out)

    threads = [threading.Thread(target=work, args=(out,)) for out in outs]
    for thread in threads:
        thread.start()
    for factor in range(3, 30):
        monkeypatch.setitem(globals(), "FACTOR", float(factor))
        scaled(x, outs[0])
    stop.set()
    for thread in threads:
        thread.join()
    for out in outs:
        scaled(x, out)
    assert [values_of(out) for out in outs] == [[29.0]] * 4


def test_the_device_works_while_other_threads_run(mgr):
    """A call leaves the GIL to others, also the second time."""

    @kp.kernel
    def busy(i: Index, data: Array[i32], steps: i32):
        total = 0
        for k in range(steps):
            total = total + (k ^ data[i])
        data[i] = total

    data = mgr.tensor_t(np.arange(2048, dtype=np.int32))
    busy(data, 20_000)
    count, stop, started = 0, threading.Event(), threading.Event()

    def counting():
        nonlocal count
        started.set()
        while not stop.is_set():
            count += 1

    thread = threading.Thread(target=counting)
    thread.start()
    started.wait()
    before = count
    while count - before < 1000:
        busy(data, 20_000)
    stop.set()
    thread.join()


def call_and_watch(mgr):
    """A weak reference to what a kernel took its constant from, after the kernel is gone."""
    module = types.ModuleType("noted")
    module.step = 1.0

    @kp.kernel
    def noted(i: Index, data: Array[f32]):
        data[i] = data[i] + module.step

    data = tensor_of(mgr, 0)
    noted(data)
    noted(data=data)
    return weakref.ref(module)


def test_a_kernel_lets_go_of_what_it_was_called_with(mgr):
    watched = call_and_watch(mgr)
    gc.collect()
    assert watched() is None


def resident():
    """Bytes of memory that the process has."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def growth(work, before, count):
    """KiB that each of `count` calls adds, after as many as `before`."""
    numbers = itertools.count(1)
    for _ in range(before):
        work(next(numbers))
    gc.collect()
    start = resident()
    for _ in range(count):
        work(next(numbers))
    gc.collect()
    return (resident() - start) / 1024 / count


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux's /proc")
def test_memory_does_not_grow_with_ever_new_arguments(mgr):
    data = tensor_of(mgr, 0)
    assert growth(lambda k: add(float(k), data), 150, 300) < 1
    assert growth(lambda k: add(1.0, mgr.tensor([k])), 150, 300) < 1
    assert growth(lambda k: add(1.0, data, extent=(1, k)), 150, 300) < 1
