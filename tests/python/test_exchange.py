"""Tensors and other libraries: DLPack in and out, the buffer protocol, HTML for notebooks."""

import gc

import kp
import numpy as np
import pytest


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"])
def test_dlpack_is_a_view_of_the_host_side(mgr, dtype):
    tensor = mgr.tensor_t(np.array([0, 1, 3], dtype))
    array = np.from_dlpack(tensor)
    assert array.dtype == np.dtype(dtype)
    array[1] = 0
    assert tensor.data().tolist() == np.array([0, 0, 3], dtype).tolist()


def test_dlpack_names_the_cpu(mgr):
    assert mgr.tensor([1]).__dlpack_device__() == (1, 0)


def test_a_dlpack_view_outlives_the_tensor_and_the_manager():
    manager = kp.Manager()
    array = np.from_dlpack(manager.tensor([1, 2, 3]))
    manager.destroy()
    del manager
    gc.collect()
    assert array.tolist() == [1, 2, 3]


def test_dlpack_of_a_storage_tensor_says_why_not(mgr):
    with pytest.raises(kp.StateError, match="storage"):
        np.from_dlpack(mgr.tensor([1], kp.MemoryTypes.storage))


class OnlyDlpack:
    """An array of a library that has neither the buffer protocol nor __array__."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return (1, 0)


class OnAGpu:
    """What such a library has on a GPU."""

    def __dlpack__(self, **options):
        raise BufferError("the array is on cuda:0")

    def __dlpack_device__(self):
        return (2, 0)


@pytest.mark.parametrize("dtype", ["f2", "f8", "i1", "u2", "i8"])
def test_arrays_come_in_through_dlpack(mgr, dtype):
    values = np.array([[1, 2, 3], [4, 5, 6]], dtype)[:, ::2]
    tensor = mgr.tensor_t(OnlyDlpack(values))
    assert tensor.data().dtype == np.dtype(dtype)
    assert tensor.data().tolist() == [1, 3, 4, 6]
    assert mgr.tensor(OnlyDlpack(values)).data().tolist() == [1, 3, 4, 6]


def test_dlpack_of_another_device_is_refused_with_its_reason(mgr):
    with pytest.raises(TypeError, match="data: an array that cannot be read as numbers .*the array is on cuda:0"):
        mgr.tensor_t(OnAGpu())


def test_dlpack_of_no_number_is_refused(mgr):
    with pytest.raises(TypeError, match="complex"):
        mgr.tensor_t(OnlyDlpack(np.array([1 + 2j])))


@pytest.mark.parametrize("dtype", ["f4", "f2", "i8", "?", [("a", "f4"), ("b", "i4", (2,))]])
def test_array_is_a_view_of_the_host_side(mgr, dtype):
    """The method; numpy.asarray takes the buffer, which is the same."""
    tensor = mgr.zeros((2, 3), np.dtype(dtype))
    array = tensor.__array__()
    assert (array.shape, array.dtype) == ((2, 3), np.dtype(dtype)) and np.shares_memory(array, np.asarray(tensor))
    assert not np.shares_memory(tensor.__array__(copy=True), array)
    image = mgr.image(np.arange(8), 2, 2, 2)
    assert image.__array__(np.int16).tolist() == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]
    assert kp.Tensor([1, 2]).__array__(dtype="int32").tolist() == [1, 2]


def test_array_of_what_has_no_host_side_says_why(mgr):
    storage = mgr.empty(3, memory_type=kp.MemoryTypes.storage)
    for take in (np.asarray, np.array, kp.Tensor.__array__):
        with pytest.raises(kp.StateError, match="the tensor's memory type is storage"):
            take(storage)
    storage.destroy()
    with pytest.raises(kp.StateError, match="destroyed"):
        np.asarray(storage)


def test_html_shows_the_values_and_is_escaped(mgr):
    html = mgr.tensor([1, 2.5])._repr_html_()
    assert "1." in html and "2.5" in html and "float32" in html
    storage = mgr.tensor([1, 2], kp.MemoryTypes.storage)._repr_html_()
    assert "&lt;2 elements on the device&gt;" in storage


def test_html_of_a_large_tensor_is_short(mgr):
    assert len(mgr.tensor(np.zeros(100_000, np.float32))._repr_html_()) < 1000
