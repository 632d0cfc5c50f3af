"""Views of tensors, tensors of a size alone, fills, trim: the contents compared with NumPy's."""

import os
import sys
import weakref

import kp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kp.lang import Array, Index, f32

STAGED = os.environ.get("KP_UNIFIED") == "0"


@kp.kernel
def double(i: Index, x: Array[f32]):
    x[i] = x[i] * 2.0


@pytest.fixture
def numbers(mgr):
    return mgr.tensor_t(np.arange(256, dtype=np.float32))


def test_a_slice_is_a_tensor_on_the_same_memory(numbers):
    view = numbers[10:20]
    assert isinstance(view, kp.Tensor)
    assert (len(view), view.size(), view.shape) == (10, 10, (10,))
    view.data()[0] = -1
    assert numbers[10] == -1
    assert np.shares_memory(view.data(), numbers.data())
    assert numbers[-3:].data().tolist() == [253, 254, 255]
    assert view[2:4][1] == 13


def test_a_kernel_works_on_a_view_without_a_copy(mgr, numbers):
    mgr.sequence().eval(kp.OpSyncDevice([numbers]))
    view = numbers[64:128]
    double(view)
    mgr.sequence().eval(kp.OpSyncLocal([numbers]))
    expected = np.arange(256, dtype=np.float32)
    expected[64:128] *= 2
    np.testing.assert_array_equal(numbers.data(), expected)


def test_a_sync_of_a_view_moves_its_part_alone(mgr, numbers):
    mgr.sequence().eval(kp.OpSyncDevice([numbers]))
    numbers.data()[:] = -1
    mgr.sequence().eval(kp.OpSyncLocal([numbers[10:12]]))
    staged = STAGED or not mgr.device.unified
    assert numbers.data()[9:13].tolist() == ([-1, 10, 11, -1] if staged else [-1, -1, -1, -1])


@given(st.tuples(*[st.integers(1, 6)] * 3), st.slices(6))
def test_slices_of_every_shape_are_numpys(shape, part):
    if part.step is not None and part.step != 1:
        part = slice(part.start, part.stop)
    array = np.arange(np.prod(shape), dtype=np.int32)
    mgr = manager()
    tensor = mgr.tensor_t(array).reshape(shape)
    np.testing.assert_array_equal(tensor.data(), array.reshape(shape))
    np.testing.assert_array_equal(tensor[part].data(), array.reshape(shape)[part])
    np.testing.assert_array_equal(np.asarray(tensor[part]), array.reshape(shape)[part])
    np.testing.assert_array_equal(tensor[shape[0] - 1][0].data(), array.reshape(shape)[-1, 0])
    assert [row.shape for row in tensor] == [shape[1:]] * shape[0]


_managers = []


def manager():
    """One for all examples of a property."""
    if not _managers:
        _managers.append(kp.Manager())
    return _managers[0]


def test_reshape_counts_what_is_left(numbers):
    assert numbers.reshape(4, -1).shape == (4, 64)
    assert numbers.reshape((2, 2, 64)).shape == (2, 2, 64)
    assert numbers.reshape(-1).shape == (256,)
    assert numbers.reshape(4, 64)[1][3] == 67
    for shape in ((3, 5), (-1, 7), (-1, -1), (-2, 128), (0,), (2**63 - 1, 2), ()):
        with pytest.raises(ValueError, match=r"cannot have the shape|an axis of"):
            numbers.reshape(shape)
    with pytest.raises(TypeError):
        numbers.reshape("8")


def test_what_is_no_view_is_refused(mgr, numbers):
    with pytest.raises(ValueError, match=r"^a view has a step of 1, not 2: slice data\(\), the NumPy array$"):
        numbers[::2]
    with pytest.raises(TypeError, match=r"^rows of a tensor are assigned through data\(\)"):
        numbers.reshape(4, 64)[0] = 1
    numbers.destroy()
    with pytest.raises(kp.StateError, match=r"^the tensor is destroyed$"):
        numbers[1:2]
    with pytest.raises(kp.StateError, match=r"no device memory"):
        kp.Tensor([1, 2]).reshape(2, 1)


def test_slices_of_classic_tensors_stay_lists():
    assert kp.Tensor([1, 2, 3])[:2] == [1.0, 2.0]


def test_a_view_keeps_the_contents(mgr, numbers):
    view = numbers[100:200]
    numbers.destroy()
    del numbers
    assert view.is_init()
    assert view[1] == 101
    array = view.data()
    del view
    assert array[2] == 102
    mgr.destroy()
    assert array[3] == 103


def test_memory_goes_with_the_last_reference(mgr):
    start = mgr.memory()["used"]
    tensor = mgr.zeros(1 << 20)
    view = tensor[5:]
    del tensor
    assert mgr.memory()["used"] - start >= 4 << 20
    del view
    assert mgr.memory()["used"] == start


def test_an_unaligned_view_is_refused_with_both_numbers(mgr, numbers):
    program = kp.compile("def f(i: Index, x: Array[f32]):\n    x[i] = 1.0\n")
    with pytest.raises(
        kp.LimitError, match=r"minStorageBufferOffsetAlignment of .* is \d+ bytes, .* begins at byte 4$"
    ):
        mgr.algorithm([numbers[1:9]], program)


@pytest.mark.parametrize(
    "dtype", ["float32", np.float64, np.dtype("int16"), kp.DataTypes.uchar, "u64", bool, np.float16]
)
def test_tensors_of_a_size_alone(mgr, dtype):
    full = mgr.full((3, 4), 1, dtype)
    assert full.shape == (3, 4)
    expected = full.data().dtype
    np.testing.assert_array_equal(full.data(), np.full((3, 4), 1, expected))
    np.testing.assert_array_equal(mgr.zeros(7, dtype).data(), np.zeros(7, expected))
    assert mgr.empty([2, 3], dtype).shape == (2, 3)
    assert mgr.empty((0, 3), dtype).data().shape == (0, 3)


def test_full_checks_what_it_is_given(mgr):
    assert mgr.full((), 2.5).shape == (1,)
    with pytest.raises(OverflowError):
        mgr.full(3, 256, np.uint8)
    with pytest.raises(TypeError):
        mgr.full(3, 1, "complex64")
    with pytest.raises(ValueError, match=r"is none of kp.DataTypes"):
        mgr.zeros(3, 99)
    with pytest.raises(ValueError, match=r"an axis of -1 elements"):
        mgr.zeros((2, -1))
    with pytest.raises(ValueError, match=r"9 axes, at most 8 are possible"):
        mgr.zeros((1,) * 9)
    with pytest.raises(ValueError, match=r"no host side to fill"):
        mgr.full(3, 1, memory_type=kp.MemoryTypes.storage)
    with pytest.raises(kp.LimitError):
        mgr.empty((1 << 40, 1 << 40))


def test_fills_are_on_the_device(mgr):
    whole, wide = mgr.zeros(100), mgr.zeros(100, np.float64)
    seq = mgr.sequence().record(kp.OpFill([whole, wide], 1)).record(kp.OpFill([whole[10:20]], 7))
    seq.record(kp.OpSyncLocal([whole, wide])).eval()
    expected = np.ones(100)
    np.testing.assert_array_equal(wide.data(), expected)
    expected[10:20] = 7
    np.testing.assert_array_equal(whole.data(), expected)
    storage = mgr.empty(100, memory_type=kp.MemoryTypes.storage)
    mgr.sequence().record(kp.OpFill([storage], 3)).record(kp.OpCopy([storage, whole])).record(
        kp.OpSyncLocal([whole])
    ).eval()
    assert set(whole.data()) == {3}


def test_a_fill_of_another_type_is_refused(mgr):
    seq = mgr.sequence()
    with pytest.raises(OverflowError, match="^value: 300 does not fit in u8$"):
        seq.record(kp.OpFill([mgr.zeros(3), mgr.zeros(3, np.uint8)], 300))
    with pytest.raises(TypeError, match="^value: must be f32, not <class 'str'>$"):
        seq.record(kp.OpFill([mgr.zeros(3)], "1"))
    seq.record(kp.OpFill([mgr.zeros(3)] * 20, 1)).eval()


def test_trim_gives_back_what_is_idle(mgr):
    for _ in range(3):
        mgr.sequence().eval(kp.OpSyncDevice([mgr.tensor([1, 2, 3])]))
    mgr.trim()
    memory = mgr.memory()
    assert memory["reserved"] == 0
    assert memory["allocations"] == 0
    assert memory["budget"] > 0
    assert 0 <= memory["device_usage"] <= memory["budget"]
    mgr.destroy()
    with pytest.raises(kp.StateError):
        mgr.trim()


def aligned(count, lead=0):
    """An array of float32 that begins `lead` bytes after a page does."""
    page = np.zeros(count * 4 + 8192 + lead, dtype=np.uint8)
    start = -page.ctypes.data % 4096 + lead
    return page[start : start + count * 4].view(np.float32)


def test_an_arrays_own_memory_may_be_the_host_side(mgr):
    array = aligned(4096)
    array[:] = np.arange(4096)
    tensor = mgr.tensor_t(array, copy=False)
    if mgr.device.type == "cpu":  # both CPU drivers can
        assert tensor.shares_array
    assert tensor.shares_array == np.shares_memory(tensor.data(), array)
    mgr.sequence().eval(kp.OpSyncDevice([tensor]))
    double(tensor)
    mgr.sequence().eval(kp.OpSyncLocal([tensor]))
    np.testing.assert_array_equal(tensor.data(), np.arange(4096) * 2)
    start = sys.getrefcount(array)
    holds = np.shares_memory(tensor.data(), array)
    del tensor
    assert sys.getrefcount(array) == start - holds


def test_what_cannot_be_shared_is_copied(mgr):
    odd = aligned(64, lead=4)
    read_only = aligned(64)
    read_only.flags.writeable = False
    for array in (odd, read_only, aligned(64)[::2], aligned(64).astype(">f4")):
        tensor = mgr.tensor_t(array, copy=False)
        assert not np.shares_memory(tensor.data(), array)
        assert not tensor.shares_array
        np.testing.assert_array_equal(tensor.data(), array)
    tensor = mgr.tensor_t(aligned(64), kp.MemoryTypes.storage, copy=False)
    assert tensor.size() == 64
    assert not tensor.shares_array


def test_a_shared_array_lives_as_long_as_work_on_it(mgr):
    array = aligned(1 << 16)
    watch = weakref.ref(array)
    tensor = mgr.tensor_t(array, copy=False)
    shares = np.shares_memory(tensor.data(), array)
    seq = mgr.sequence().record(kp.OpSyncDevice([tensor])).record(kp.OpSyncLocal([tensor]))
    seq.eval_async()
    del array
    assert (watch() is not None) == shares
    seq.eval_await()
    del tensor, seq
    assert watch() is None
