"""kp.Tensor: local data as a list has it, and the tensors that a manager makes."""

import gc
import sys

import kp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

floats = st.lists(st.floats(width=32, allow_nan=False), max_size=40)


@given(floats)
def test_local_data_is_what_went_in(values):
    assert kp.Tensor(values).data() == values


@given(floats, st.integers(-50, 50))
def test_indexing_is_a_lists(values, index):
    tensor = kp.Tensor(values)
    try:
        expected = values[index]
    except IndexError:
        with pytest.raises(IndexError, match=r"^tensor index out of range$"):
            tensor[index]
        with pytest.raises(IndexError, match=r"^tensor assignment index out of range$"):
            tensor[index] = 1
        return
    assert tensor[index] == expected
    tensor[index] = 7
    values[index] = 7.0
    assert tensor.data() == values


@given(floats, st.slices(40))
def test_slicing_is_a_lists(values, part):
    tensor = kp.Tensor(values)
    assert tensor[part] == values[part]
    tensor[part] = [3] * len(values[part])
    values[part] = [3.0] * len(values[part])
    assert tensor.data() == values


def test_a_slice_may_be_assigned_from_the_tensor_itself():
    tensor = kp.Tensor([1, 2, 3, 4])
    tensor[::-1] = tensor
    assert tensor.data() == [4, 3, 2, 1]


def test_the_rest_of_a_list():
    tensor = kp.Tensor([1, 2, 3])
    assert len(tensor) == tensor.size() == 3
    assert list(tensor) == [1, 2, 3]
    assert list(reversed(tensor)) == [3, 2, 1]
    assert 2 in tensor
    assert 5 not in tensor
    assert sum(tensor) == 6
    tensor[0] += 0.5
    assert tensor[0] == 1.5
    assert isinstance(tensor.data(), list)
    assert all(type(value) is float for value in tensor.data())


def test_data_is_a_new_list_each_time():
    tensor = kp.Tensor([1, 2])
    tensor.data()[0] = 9
    assert tensor.data() == [1, 2]


def test_the_size_never_changes():
    tensor = kp.Tensor([1, 2, 3])
    with pytest.raises(ValueError, match=r"^data: has 2 elements, the tensor has 3: a tensor keeps its size$"):
        tensor.set_data([1, 2])
    with pytest.raises(ValueError, match=r"^a slice of 2 elements cannot take 3: a tensor keeps its size$"):
        tensor[0:2] = [1, 2, 3]
    with pytest.raises(TypeError, match=r"^elements of a tensor cannot be deleted: a tensor keeps its size$"):
        del tensor[0]
    tensor.set_data([4, 5, 6])
    assert tensor.data() == [4, 5, 6]
    tensor.set_data(np.array([7, 8, 9]))
    assert tensor.data() == [7, 8, 9]


def test_indices_that_are_none():
    tensor = kp.Tensor([1, 2, 3])
    for key in ("0", 1.0, None, (0, 1), True):
        with pytest.raises(TypeError, match=r"^tensor indices must be integers or slices, not <class '"):
            tensor[key]
        with pytest.raises(TypeError, match=r"^tensor indices must be integers or slices, not <class '"):
            tensor[key] = 1
    assert tensor[np.int64(2)] == 3
    with pytest.raises(IndexError):
        tensor[10**30]


def test_values_that_are_no_numbers():
    tensor = kp.Tensor([1, 2, 3])
    for value in ("1", None, [1], 1j):
        with pytest.raises(TypeError):
            tensor[0] = value
    assert tensor.data() == [1, 2, 3]


def test_assigning_runs_code_that_uses_the_tensor():
    tensor = kp.Tensor([1, 2, 3])

    class Odd:
        def __float__(self):
            tensor.set_data([0, 0, 0])
            return 5.0

    tensor[1] = Odd()
    assert tensor.data() == [0, 5, 0]


def test_types():
    assert kp.Tensor([1]).tensor_type() is kp.TensorTypes.device is kp.device
    assert kp.Tensor([1], kp.TensorTypes.staging).tensor_type() is kp.staging is kp.MemoryTypes.host
    assert kp.Tensor([1], kp.storage).memory_type() is kp.MemoryTypes.storage
    assert kp.Tensor([1], tensor_type=kp.MemoryTypes.deviceAndHost).memory_type().name == "deviceAndHost"
    assert kp.Tensor([1]).data_type() is kp.DataTypes.float
    assert not kp.Tensor([1]).is_init()
    with pytest.raises(TypeError, match=r"^memory type: must be one of kp\.MemoryTypes, .*, not <class 'str'>$"):
        kp.Tensor([1], "device")
    with pytest.raises(ValueError, match=r"^memory type: 17 is none of kp\.MemoryTypes$"):
        kp.Tensor([1], 17)


def test_without_device_memory():
    tensor = kp.Tensor([1])
    assert tensor.manager is None
    for method in (tensor.map_data_from_host, tensor.map_data_into_host):
        with pytest.raises(kp.StateError, match="no device memory"):
            method()
    tensor.destroy()
    assert tensor.data() == [1]


def test_repr_shows_values(mgr):
    assert repr(kp.Tensor([1, 2.5])) == "kp.Tensor([1.0, 2.5], size=2, dtype=float32, memory_type=device)"
    many = kp.Tensor(range(100), kp.staging)
    assert repr(many) == (
        "kp.Tensor([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, ..., 99.0], size=100, dtype=float32, memory_type=host)"
    )
    assert "True, False" in repr(mgr.tensor_t(np.array([True, False])))
    assert "2 elements on the device" in repr(mgr.tensor([1, 2], kp.storage))
    gone = mgr.tensor([1, 2])
    gone.destroy()
    assert "2 elements, destroyed" in repr(gone)


@pytest.mark.parametrize(
    "dtype",
    ["float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"],
)
def test_every_dtype_comes_back_exactly(mgr, dtype):
    if dtype == "bool":
        array = np.array([True, False, True])
    elif dtype.startswith("float"):
        info = np.finfo(dtype)
        array = np.array([0, -0.0, 1, info.max, info.min, info.tiny, np.inf, -np.inf, np.nan], dtype)
    else:
        info = np.iinfo(dtype)
        array = np.array([0, 1, info.max, info.min], dtype)
    tensor = mgr.tensor_t(array)
    out = tensor.data()
    assert out.dtype == array.dtype
    assert out.dtype.char == array.dtype.char
    assert out.tobytes() == array.tobytes()
    assert np.array_equal([tensor[i] for i in range(len(tensor))], array, equal_nan=dtype.startswith("float"))
    if not dtype.startswith("float"):
        assert memoryview(tensor).tolist() == array.tolist()
    copy = mgr.tensor_t(np.zeros_like(array))
    seq = mgr.sequence()
    seq.record(kp.OpSyncDevice([tensor, copy])).record(kp.OpCopy([tensor, copy])).record(kp.OpSyncLocal([copy])).eval()
    assert copy.data().tobytes() == array.tobytes()


def test_data_views_the_host_side(mgr):
    tensor = mgr.tensor([1, 2, 3])
    view = tensor.data()
    assert view.flags.writeable
    assert not view.flags.owndata
    assert view.ctypes.data == tensor.data().ctypes.data
    view[1] = 20
    assert tensor[1] == 20
    tensor[0] = 10
    assert view.tolist() == [10, 20, 3]


def test_views_outlive_everything(mgr):
    tensor = mgr.tensor(np.arange(100_000))
    view, memory = tensor.data(), memoryview(tensor)
    tensor.destroy()
    assert np.array_equal(view, np.arange(100_000))
    view[:] = 1
    mgr.destroy()
    del tensor
    gc.collect()
    assert view.sum() == 100_000
    assert memory[5] == 1
    view[0] = 2
    assert memory[0] == 2


def test_a_destroyed_tensor(mgr):
    tensor = mgr.tensor([1, 2])
    tensor.destroy()
    tensor.destroy()
    assert not tensor.is_init()
    for use in (tensor.data, lambda: tensor[0], lambda: memoryview(tensor), lambda: tensor.set_data([1, 2])):
        with pytest.raises(kp.StateError, match=r"^the tensor is destroyed$"):
            use()


def test_storage_has_no_host_side(mgr):
    tensor = mgr.tensor([1, 2], kp.MemoryTypes.storage)
    assert tensor.is_init()
    assert tensor.size() == 2
    with pytest.raises(kp.StateError, match="memory type is storage: it has no host side"):
        tensor.data()


def test_empty_tensors(mgr):
    for tensor in (kp.Tensor([]), mgr.tensor([]), mgr.tensor_t(np.zeros((0, 3), np.int32))):
        assert tensor.size() == len(tensor) == len(list(tensor)) == len(tensor.data()) == 0
        assert memoryview(tensor).nbytes == 0
    assert mgr.tensor_t(np.zeros(0, np.int32)).data().dtype == np.int32
    a, b = kp.Tensor([]), kp.Tensor([])
    mgr.eval_tensor_create_def([a, b])
    mgr.eval_tensor_copy_def([a, b])
    mgr.eval_tensor_sync_local_def([a, b])
    assert b.data() == []


def test_arrays_are_flattened(mgr):
    array = np.arange(6).reshape(2, 3)
    assert mgr.tensor(array).data().tolist() == [0, 1, 2, 3, 4, 5]
    assert mgr.tensor_t(array.astype(np.int32).T).data().tolist() == [0, 3, 1, 4, 2, 5]
    assert kp.Tensor([[1, 2], [3, 4]]).data() == [1, 2, 3, 4]


def test_all_tensors_are_one_type(mgr):
    assert isinstance(kp.Tensor([1]), kp.Memory)
    assert type(mgr.tensor([1])) is kp.Tensor
    assert type(mgr.tensor([1]).data()) is np.ndarray
    assert mgr.tensor([1]).manager is mgr
    with pytest.raises(TypeError):
        kp.Memory()


def test_no_reference_is_lost(mgr):
    tensor = mgr.tensor([1.5] * 100)
    value = object()
    before = sys.getrefcount(value), sys.getrefcount(tensor)
    for _ in range(100):
        tensor.data()
        list(tensor)
        with pytest.raises(TypeError):
            tensor[0] = value
    gc.collect()
    assert (sys.getrefcount(value), sys.getrefcount(tensor)) == before


def test_a_subclass_of_the_users(mgr):
    class Mine(kp.Tensor):
        pass

    tensor = Mine([1, 2])
    tensor.note = tensor  # a cycle
    mgr.eval_tensor_create_def([tensor])
    assert tensor.is_init()
    del tensor
    gc.collect()
