"""Kernels that are called with NumPy arrays: what is copied, what is kept between calls, and that nobody can tell."""

import gc
import itertools
import threading

import kp
import numpy as np
import pytest
from kp.kernel import default_manager
from kp.lang import Array, Image1D, Image2D, Index, Index2, Texture2D, f32, i32, vec2

LARGE = (4 << 20) // 4 + 5  # floats that do not go by way of a host side


@kp.kernel
def multiply(i: Index, a: Array[f32], b: Array[f32], out: Array[f32]):
    out[i] = a[i] * b[i]


@kp.kernel
def add(i: Index, step: f32, data: Array[f32]):
    data[i] = data[i] + step


@kp.kernel
def even(i: Index, out: Array[f32]):
    if i % 2 == 0:
        out[i] = 1.0


@kp.kernel
def move(i: Index, a: Array[f32], b: Array[f32]):
    b[i] = a[i] + 100.0


@kp.kernel
def both(i: Index, a: Array[f32], b: Array[f32]):
    a[i] = a[i] + 1.0
    b[i] = b[i] + 1.0


@kp.kernel
def brighter(i: Index2, a: Image2D[f32], out: Image2D[f32]):
    out[i.x, i.y] = a[i.x, i.y] + 1.0


class Mine(np.ndarray):
    pass


def floats(*values):
    return np.array(values, np.float32)


@pytest.fixture
def rng():
    return np.random.default_rng(42)


@pytest.fixture
def slow_calls(monkeypatch):
    """Counts the calls of each kernel that went through Python."""
    seen = []
    add(1.0, floats(1))  # from now on arrays are known
    original = kp.Kernel._call

    def _call(self, /, *args, **kwargs):
        seen.append(self.__name__)
        return original(self, *args, **kwargs)

    monkeypatch.setattr(kp.Kernel, "_call", _call)
    return seen


@pytest.fixture
def memory():
    """What the manager of calls without tensors holds, after nothing is left of other tests."""
    manager = default_manager()
    manager.trim()
    return lambda: manager.memory()


def held(stats):
    return stats["used"], stats["reserved"], stats["allocations"]


def test_the_same_call_again_needs_no_python_and_no_memory(slow_calls, memory, rng):
    for count in (3, 1000, LARGE):
        a, b, out = (rng.random(count, dtype=np.float32) for _ in range(3))
        multiply(a, b, out)
        before, slow = held(memory()), len(slow_calls)
        for _ in range(10 if count == LARGE else 1000):
            multiply(a, b, out)
        assert np.array_equal(out, a * b) and len(slow_calls) == slow
        if count != LARGE:
            assert held(memory()) == before
        else:  # two threads may have come to use two pieces of staging memory each
            assert memory()["used"] - before[0] <= 16 << 20
    a[:] = 2.0  # nothing is kept of what the arrays held
    multiply(b=b, a=a, out=out)
    assert np.array_equal(out, 2 * b)


def test_other_arrays_of_the_same_shape(slow_calls, rng):
    for _ in range(5):
        a, b, out = (rng.random((4, 5), dtype=np.float32) for _ in range(3))
        multiply(a, b, out)
        assert np.array_equal(out, a * b)
        a, b, out = a.reshape(20), b.reshape(20), out.reshape(20)
        multiply(a, b, out)
        assert np.array_equal(out, a * b)
    assert slow_calls == ["multiply"] * 2


def test_numbers_are_part_of_the_call(slow_calls):
    data = floats(0, 0)
    for k in range(100):
        add(float(k), data)
    assert data.tolist() == [4950, 4950]
    assert slow_calls == ["add"]
    with pytest.raises(TypeError, match="must be f32, not str"):
        add("1", data)
    add(1, data)
    assert data.tolist() == [4951, 4951]


def test_an_array_may_be_a_number():
    data = floats(0, 0)
    for k in range(5):
        add(np.array(k), data)
        add(np.float32(k), data)
    assert data.tolist() == [20, 20]
    one = floats(3)
    for power in (6, 12, 24):
        add(one[0:1].reshape(()), one)
        assert one == power


def test_numpys_numbers_need_no_python(mgr, slow_calls):
    tensor = mgr.tensor([0.0])
    mgr.sequence().eval(kp.OpSyncDevice([tensor]))
    data, wanted = floats(0), 0
    for k in range(10):
        for number in (float, np.float32, np.float64, np.int32, np.int64):
            add(number(k), data)
            add(number(k), tensor)
            wanted += k
        add(np.float32(0.25), data)
        assert data[0] == wanted + 0.25 * (k + 1)
    mgr.sequence().eval(kp.OpSyncLocal([tensor]))
    assert tensor.data()[0] == wanted
    assert len(slow_calls) <= 14  # each kind once, and four recordings that differ in the number
    for bad in (np.float64(1e300), np.int64(2**62)) * 2:
        if isinstance(bad, float):
            with pytest.raises(OverflowError, match="does not fit in f32"):
                add(bad, data)
        else:
            add(bad, data)
    assert data[0] == np.float32(2**63)


def test_a_parameter_without_a_type_takes_that_of_numpys_numbers():
    @kp.kernel
    def shifted(i: Index, x, out: Array[i32]):
        out[i] = i32(x // 2)

    out = np.zeros(2, np.int32)
    for _ in range(2):
        for value, wanted in ((7, 3), (np.int32(-7), -4), (np.float32(7.5), 3), (7.5, 3), (np.int32(9), 4)):
            shifted(value, out)
            assert out.tolist() == [wanted] * 2, value


def test_what_is_not_written_stays():
    for count in (6, LARGE):
        out = np.arange(count, dtype=np.float32)
        for _ in range(3):
            even(out)
            assert (out[::2] == 1).all() and np.array_equal(out[1::2], np.arange(count, dtype=np.float32)[1::2])
    a, out = np.ones(6, np.float32), np.full(6, 5, np.float32)
    for _ in range(3):
        multiply(a, a, out, extent=2)
        assert out.tolist() == [1, 1, 5, 5, 5, 5]
        out[:] = 5


@kp.kernel
def count_up(i: Index, out: Array[f32]):
    out[i] = f32(i)


def test_what_is_overwritten_need_not_come_along():
    """What a temporary held before never shows: it is filled, or what it is for is brought."""
    for count in (6, LARGE):
        wanted = np.arange(count, dtype=np.float32)
        other = np.full(count, 7, np.float32)
        add(1.0, other)  # leaves its numbers in the temporary
        out = np.zeros(count, np.float32)
        for _ in range(3):
            count_up(out)
            assert np.array_equal(out, wanted)
        out[:] = -1
        count_up(out, extent=4)
        assert out[:4].tolist() == [0, 1, 2, 3] and (out[4:] == -1).all()
        count_up(out, extent=(count, 2))
        multiply(out, out, out)
        assert np.array_equal(out, wanted * wanted)
        listed = [9.0] * 6
        count_up(listed, extent=2)
        assert listed == [0, 1, 9, 9, 9, 9]


@kp.kernel
def number_rows(i: Index2, out: Array[f32, 2]):
    out[i.y, i.x] = f32(10 * i.y + i.x)


@kp.kernel
def number_pixels(at: Index2, out: Image2D[f32]):
    out[at] = f32(10 * at.y + at.x)


@pytest.mark.parametrize("kernel", [number_rows, number_pixels], ids=["view", "image"])
def test_views_and_images_that_are_overwritten(kernel):
    wanted = np.add.outer(10 * np.arange(4), np.arange(6)).astype(np.float32)
    for _ in range(3):
        out = np.full((4, 6), 7, np.float32)
        kernel(out)
        assert np.array_equal(out, wanted)
        out[:] = -1
        kernel(out, extent=(5, 4))
        assert np.array_equal(out[:, :5], wanted[:, :5]) and (out[:, 5] == -1).all()
        out[:] = -1
        kernel(out, extent=(6, 3))
        assert np.array_equal(out[:3], wanted[:3]) and (out[3] == -1).all()


def test_memory_is_given_back(memory):
    before = held(memory())[0]
    for count in range(1, 300):
        data = np.zeros(1000 * count, np.float32)
        add(1.0, data)
        assert (data == 1).all()
    assert memory()["used"] - before < 2 * 100 * 4 * 300_000  # of some calls, not of all
    default_manager().trim()
    assert memory()["used"] == before
    add(1.0, data)
    assert (data == 2).all()


def test_large_temporaries_do_not_pile_up(memory):
    before = held(memory())[0]
    for k in range(20):
        data = np.zeros((8 << 20) + k, np.float32)  # 32 MiB
        add(1.0, data)
    assert data.min() == data.max() == 1
    assert memory()["used"] - before <= 600 << 20
    default_manager().trim()
    assert memory()["used"] == before


def test_one_array_twice(slow_calls):
    for count in (3, LARGE):
        data = np.full(count, 3, np.float32)
        for power in (9, 81, 6561):
            multiply(data, data, data)
            assert (data == power).all()
        whole = np.zeros(count, np.float32)
        for k in range(1, 4):
            both(whole, whole)  # twice to one buffer
            both(whole[:], whole.reshape(-1))  # also where the objects are two
            assert (whole == 4 * k).all() or (whole == 4 * k - 4 + 3).all()
    data = floats(1, 2)
    frozen = data[:]
    frozen.flags.writeable = False
    move(frozen, data)
    move(frozen, data)
    assert data.tolist() == [201, 202]


def test_arrays_that_overlap_are_copied_each_for_itself():
    for _ in range(2):
        data = np.arange(6, dtype=np.float32)
        move(data[:-1], data[1:])  # as if the first were read before the second is written
        assert data.tolist() == [0, 100, 101, 102, 103, 104]
        data = np.arange(6, dtype=np.float32)
        both(data[:4], data[2:])  # written in the order of the parameters
        assert data.tolist() == [1, 2, 3, 4, 5, 6]
        data = np.arange(6, dtype=np.float32)
        both(data[::2], data[1::2])
        assert data.tolist() == [1, 2, 3, 4, 5, 6]


def test_arrays_that_only_look_alike(slow_calls):
    good = floats(1, 2, 3, 4)
    frozen = good.copy()
    frozen.flags.writeable = False
    for _ in range(2):
        out = floats(0, 0, 0, 0)
        multiply(good, frozen, out)
        assert out.tolist() == [1, 4, 9, 16]
        with pytest.raises(TypeError, match="'out': is written by the kernel"):
            multiply(good, good, frozen)
        with pytest.raises(TypeError, match=r"'b': has dtype int32, must be float32"):
            multiply(good, np.ones(4, np.int32), out)
        with pytest.raises(TypeError, match=r"'b': has structs of x, must be float32"):
            multiply(good, np.ones(4, [("x", np.float32)]), out)
        multiply(good.astype(">f4"), good[::-1], out)
        assert out.tolist() == [4, 6, 6, 4]
        multiply(good.view(Mine), good.view(Mine), out)
        assert out.tolist() == [1, 4, 9, 16]
        multiply(good[:0], good, out, extent=1)
    assert np.array_equal(good, frozen)


def test_shapes():
    @kp.kernel
    def transposed(i: Index2, a: Array[f32, 2], flat: Array[f32], out: Array[f32, 2]):
        out[i.y, i.x] = a[i.x, i.y] + flat[i.x]

    for count, rows in itertools.product((1, 2, 3), repeat=2):
        for _ in range(2):
            a = np.arange(count * rows, dtype=np.float32).reshape(rows, count)
            out = np.zeros((count, rows), np.float32)
            transposed(a, a, out)
            assert np.array_equal(out, (a + a.reshape(-1)[:rows, None]).T)
    out = np.zeros((2, 2), np.float32)
    transposed([[1, 2], [3, 4]], [10, 20], out)
    assert out.tolist() == [[11, 23], [12, 24]]
    for _ in range(2):
        with pytest.raises(ValueError, match=r"'a': has shape \(4,\), Array\[f32, 2\] needs 2 axes"):
            transposed(np.zeros(4, np.float32), [10, 20], out)


def test_pairs_that_do_not_fit():
    @kp.kernel
    def sums(i: Index, points: Array[vec2], out: Array[f32]):
        out[i] = points[i].x + points[i].y

    for _ in range(2):
        points, out = np.arange(6, dtype=np.float32).reshape(3, 2), floats(0, 0, 0)
        sums(points, out)
        assert out.tolist() == [1, 5, 9]
        with pytest.raises(ValueError, match=r"'points': has 3 numbers, Array\[vec2\] needs a multiple of 2"):
            sums(out, out)


def test_structs(rng, slow_calls):
    class Body(kp.Struct):
        at: vec2
        mass: f32

    @kp.kernel
    def drift(i: Index, by: vec2, bodies: Array[Body]):
        bodies[i].at = bodies[i].at + by

    bodies = np.zeros(4, Body.dtype)
    bodies["mass"] = rng.random(4)
    mass = bodies["mass"].copy()
    for k in range(1, 4):
        drift((1.0, 2.0), bodies)
        assert bodies["at"].tolist() == [[k, 2 * k]] * 4
    assert slow_calls == ["drift"]
    for _ in range(3):
        other = np.zeros(4, [("at", np.float32, 2), ("mass", np.int32)])
        with pytest.raises(TypeError, match="mass"):
            drift((1.0, 2.0), other)
        del other
        gc.collect()
    drift((1.0, 2.0), bodies[::2])
    assert bodies["at"].tolist() == [[4, 8], [3, 6]] * 2 and np.array_equal(bodies["mass"], mass)


class Pair(kp.Struct):
    a: f32
    b: i32


def pair_dtype():
    """Another object each time."""
    return np.dtype([("a", "<f4"), ("b", "<i4")])


@kp.kernel
def set_fields(i: Index, x: Array[Pair], y: Array[Pair]):
    x[i].a = x[i].a + 1.0
    y[i].b = y[i].b + 2


@pytest.mark.parametrize("warm", [False, True])
def test_dtypes_of_structs_are_compared_by_value(warm):
    assert pair_dtype() is not pair_dtype()
    for _ in range(5 if warm else 1):
        data = np.zeros(5, pair_dtype())
        alike = data.view(pair_dtype())
        assert alike.dtype is not data.dtype and alike.dtype == data.dtype
        set_fields(data, alike)  # one array in two forms: one buffer
        assert (data["a"] == 1).all() and (data["b"] == 2).all()


def test_equal_dtypes_of_structs_are_one_plan_and_one_memory(memory, slow_calls):
    x, y = (np.zeros(1000, pair_dtype()) for _ in range(2))
    set_fields(x, y)
    before, slow = held(memory()), len(slow_calls)
    for n in range(20):
        x, y = (np.array([(n, n)] * 1000, pair_dtype()) for _ in range(2))
        set_fields(x, y)
        assert (x["a"] == n + 1).all() and (y["b"] == n + 2).all() and (x["b"] == n).all() and (y["a"] == n).all()
    assert held(memory()) == before and len(slow_calls) == slow


def test_images_are_used_again(memory, rng):
    picture, out = rng.random((5, 7), dtype=np.float32), np.zeros((5, 7), np.float32)
    brighter(picture, out)
    before = held(memory())
    for k in range(100):
        picture[2, 3] = k
        brighter(picture, out)
        assert np.array_equal(out, picture + 1)
    assert held(memory()) == before
    brighter(picture.T, out.T)
    assert np.array_equal(out, picture + 1)
    with pytest.raises(ValueError, match="has shape"):
        brighter(picture[0], out)
    small = np.zeros((1, 1), np.float32)
    brighter(small, small)
    assert small == 1


def test_images_of_several_kinds(rng):
    @kp.kernel
    def read(i: Index2, a: Texture2D[f32], out: Image2D[f32]):
        out[i.x, i.y] = a[i.x, i.y]

    @kp.kernel
    def line(i: Index, a: Image1D[f32]):
        a[i] = a[i] + 1.0

    for _ in range(3):
        for dtype, scale in ((np.float32, 1), (np.uint8, 255)):
            values, out = rng.integers(0, 100, (3, 4)).astype(dtype), np.zeros((3, 4), np.float32)
            read(values, out)
            assert np.allclose(out, values / np.float32(scale))
        row = rng.random(9, dtype=np.float32)
        wanted = row + np.float32(1)
        line(row)
        assert np.array_equal(row, wanted)


def test_tensors_and_arrays_together(mgr, slow_calls):
    a = mgr.tensor([1, 2, 3])
    mgr.sequence().eval(kp.OpSyncDevice([a]))
    for k in range(4):
        out = floats(0, 0, 0)
        multiply(a, floats(k, k, k), out)
        assert out.tolist() == [k, 2 * k, 3 * k]
    assert slow_calls == ["multiply"]
    before = mgr.memory()["used"]
    a.destroy()
    for _ in range(2):
        with pytest.raises(kp.StateError, match="destroyed"):
            multiply(a, floats(1, 1, 1), out)
    assert mgr.memory()["used"] < before


def test_a_destroyed_manager_and_one_that_goes():
    mgr = kp.Manager()
    a, out = mgr.tensor([1, 2]), floats(0, 0)
    mgr.sequence().eval(kp.OpSyncDevice([a]))
    for _ in range(2):
        multiply(a, out, out)
    mgr.destroy()
    with pytest.raises(kp.StateError):
        multiply(a, out, out)
    del mgr, a
    gc.collect()
    for _ in range(2):
        multiply(floats(2), floats(3), out, extent=1)
        assert out[0] == 6
    default_manager().destroy()
    for _ in range(2):
        multiply(floats(2), floats(4), out, extent=1)
        assert out[0] == 8


def test_an_error_in_the_middle_leaves_arrays_and_memory_as_they_were(memory):
    @kp.kernel(checked=True)
    def shift(i: Index, by: i32, a: Array[f32], out: Array[f32]):
        out[i + by] = a[i]

    a, out = floats(1, 2, 3), floats(0, 0, 0)
    shift(0, a, out)
    before = held(memory())[0]
    for _ in range(20):
        out[:] = 7
        with pytest.raises(IndexError):
            shift(1, a, out)
        assert out.tolist() == [7, 7, 7]
        shift(0, a, out)
        assert out.tolist() == [1, 2, 3]
    assert held(memory())[0] == before


def test_what_a_kernel_prints_with_arrays(capsys):
    @kp.kernel
    def telling(i: Index, data: Array[f32]):
        print("at", i)
        data[i] = data[i] + 1.0

    data = floats(1)
    for _ in range(3):
        telling(data)
    assert capsys.readouterr().out == "at 0\n" * 3 and data[0] == 4


def test_threads_call_one_kernel(memory):
    failures = []
    multiply(floats(1), floats(1), floats(1))

    def work(seed):
        rng = np.random.default_rng(seed)
        try:
            for k in range(40):
                count = (10, 1000, 20_000)[k % 3] + seed % 2
                a, b, out = (rng.random(count, dtype=np.float32) for _ in range(3))
                multiply(a, b, out)
                assert np.array_equal(out, a * b)
                add(float(seed), out)
                assert np.array_equal(out, a * b + np.float32(seed))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    default_manager().trim()
    assert memory()["used"] < 1 << 16


def test_a_manager_is_destroyed_while_threads_call():
    for _ in range(3):
        mgr = kp.Manager()
        start, others = threading.Barrier(4), []

        def work(mgr=mgr, start=start, others=others):
            factor, out = mgr.tensor([2.0] * 5000), np.ones(5000, np.float32)
            mgr.sequence().eval(kp.OpSyncDevice([factor]))
            try:
                start.wait()
                for _ in range(10_000):
                    multiply(factor, out, out)
                    out[:] = 1
            except kp.StateError:
                return
            except BaseException as error:
                others.append(error)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        start.wait()
        mgr.destroy()
        for thread in threads:
            thread.join()
        assert not others


@pytest.mark.parametrize("other", [np.longlong, np.int64])
def test_one_array_by_two_names_of_its_type_and_then_two(other):
    """NumPy has two types of 64 bits, of which the buffer protocol says different letters."""
    kernel = kp.kernel_from_source(
        "def k(i: Index, x: Array[i64], y: Array[i64]):\n    x[i] = x[i] + 1\n    y[i] = y[i] * 2\n"
    )
    if not default_manager().device.int64:
        with pytest.raises(kp.UnsupportedError):
            kernel(np.zeros(4, np.int64), np.zeros(4, np.int64))
        return
    for _ in range(2):
        a, b, c = np.arange(4), np.arange(4), np.full(4, 100)
        kernel(a, a.view(other))
        kernel(b, c)
        assert a.tolist() == [2, 4, 6, 8] and b.tolist() == [1, 2, 3, 4] and c.tolist() == [200] * 4


FORK = """
import os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 on: of forks beside threads
import kp
import numpy as np
from kp.kernel import default_manager
kernel = kp.kernel_from_source("def k(i: Index, x: Array[f32]):\\n    x[i] = x[i] + 1.0\\n")
x = np.zeros(10, np.float32)
kernel(x)
kernel(x)
child = os.fork()
if child == 0:
    try:
        kernel(x)
    except kp.StateError as error:
        os._exit(7 if "fork" in str(error) else 1)
    os._exit(2)
kernel(x)
kernel(x)
assert (x == 4).all() and default_manager().memory()["used"] < 1000
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
print("done")
"""


def test_a_forked_child_gets_an_error_and_the_parent_goes_on(python):
    assert python(FORK) == "done\n"


def test_the_interpreter_ends_after_calls(python):
    called = FORK.partition("child")[0]
    assert python(called + "print('done')") == "done\n"
    assert python(called + "import builtins\nbuiltins.kernel, builtins.x = kernel, x\nprint('done')") == "done\n"
