"""Arrays to the device side and back in one call: upload and download."""

import contextlib
import threading

import kp
import numpy as np
import pytest

MEMORY_TYPES = list(kp.MemoryTypes)


@pytest.mark.parametrize("memory_type", MEMORY_TYPES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "uint8", "int64", "uint16", "bool"])
def test_an_array_comes_back_as_it_went(mgr, memory_type, dtype):
    array = (np.arange(60) % 2).astype(dtype).reshape(3, 4, 5)
    tensor = mgr.empty((3, 4, 5), dtype=dtype, memory_type=memory_type)
    assert tensor.upload(array) is None
    back = tensor.download()
    assert back.dtype == array.dtype
    assert back.shape == (3, 4, 5)
    np.testing.assert_array_equal(back, array)


def test_a_large_array_moves_in_pieces(mgr):
    array = np.arange(5_000_003, dtype=np.int32)
    tensor = mgr.empty(array.size, dtype=np.int32, memory_type=kp.MemoryTypes.storage)
    tensor.upload(array)
    out = np.zeros_like(array)
    assert tensor.download(out=out) is out
    np.testing.assert_array_equal(out, array)


def test_arrays_of_any_layout_are_uploaded_by_value(mgr):
    tensor = mgr.empty(6, dtype=np.float32)
    array = np.arange(12, dtype=np.float32)
    for source in (array[::2], array[::2][::-1], array[:6].astype(">f4"), array[:6].astype(np.float64), list(range(6))):
        tensor.upload(source)
        np.testing.assert_array_equal(tensor.download(), np.asarray(source, dtype=np.float32))


def test_kernels_see_what_was_uploaded(mgr, spirv):
    a, b, out = (mgr.empty(8, dtype=np.float32) for _ in range(3))
    a.upload(np.arange(8))
    b.upload(np.full(8, 2.5))
    mgr.sequence().record(kp.OpAlgoDispatch(mgr.algorithm([a, b, out], spirv["multiply"]))).eval()
    np.testing.assert_array_equal(out.download(), np.arange(8, dtype=np.float32) * 2.5)


def test_what_does_not_fit_is_refused(mgr):
    tensor = mgr.tensor([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"^array: has 2 elements, the tensor has 3$"):
        tensor.upload([1.0, 2.0])
    with pytest.raises(TypeError, match=r"^array: must be "):
        tensor.upload("abc")
    with pytest.raises(ValueError, match=r"^out: has 4 elements, the tensor has 3$"):
        tensor.download(np.zeros(4, np.float32))
    with pytest.raises(TypeError, match=r"^out: holds elements of format 'i', the tensor holds float32$"):
        tensor.download(np.zeros(3, np.int32))
    with pytest.raises(TypeError, match=r"^out: must be a writable array, its elements side by side"):
        tensor.download(np.zeros(6, np.float32)[::2])
    frozen = np.zeros(3, np.float32)
    frozen.flags.writeable = False
    with pytest.raises(TypeError, match=r"^out: must be a writable array"):
        tensor.download(frozen)
    with pytest.raises(kp.StateError, match=r"call manager\.eval_tensor_create_def"):
        kp.Tensor([1.0]).upload([2.0])
    tensor.destroy()
    with pytest.raises(kp.StateError, match="destroyed"):
        tensor.upload([1.0, 2.0, 3.0])
    with pytest.raises(kp.StateError, match="destroyed"):
        tensor.download()


def test_a_view_moves_alone(mgr):
    tensor = mgr.zeros(10, dtype=np.uint8)
    tensor.upload(np.zeros(10, np.uint8))
    tensor[3:6].upload(np.array([7, 8, 9], np.uint8))
    np.testing.assert_array_equal(tensor.download(), [0, 0, 0, 7, 8, 9, 0, 0, 0, 0])


def test_a_tensor_may_be_destroyed_while_its_array_moves(mgr):
    array = np.arange(4_000_000, dtype=np.float32)
    for _ in range(5):
        tensor = mgr.empty(array.size, dtype=np.float32)

        def move(tensor=tensor):
            with contextlib.suppress(kp.StateError):  # it may be destroyed before the thread comes to it
                tensor.upload(array)

        thread = threading.Thread(target=move)
        thread.start()
        try:
            tensor.destroy()
        finally:
            thread.join()


def test_empty_tensors_move_nothing(mgr):
    tensor = mgr.empty(0, dtype=np.float32)
    tensor.upload(np.zeros(0, np.float32))
    assert tensor.download().shape == (0,)


class Point(kp.Struct):
    x: "f32"
    v: "vec2"


def test_arrays_of_structs(mgr):
    wanted = np.zeros((3, 2), Point.dtype)
    wanted["x"] = np.arange(6).reshape(3, 2)
    wanted["v"][..., 1] = 7
    tensor = mgr.tensor(np.zeros((3, 2), Point.dtype)).reshape(3, 2)
    tensor.upload(wanted)
    back = tensor.download()
    assert back.dtype == Point.dtype
    assert back.shape == (3, 2)
    np.testing.assert_array_equal(back, wanted)
    tensor.upload(wanted[::-1])
    out = np.zeros((3, 2), Point.dtype)
    assert tensor.download(out) is out
    np.testing.assert_array_equal(out, wanted[::-1])
    np.testing.assert_array_equal(tensor[1].download(), wanted[1])


def test_arrays_of_other_structs_are_refused(mgr):
    tensor = mgr.tensor(np.zeros(4, Point.dtype))
    for other in (np.zeros(4, np.uint8), np.zeros(4, [("x", "i4"), ("v", "f4", 2)]), np.zeros(48, np.uint8)):
        with pytest.raises(TypeError, match=r"^array: has dtype .*, must be "):
            tensor.upload(other)
        with pytest.raises(TypeError, match=r"^out: has dtype .*, must be "):
            tensor.download(other)
    with pytest.raises(TypeError, match=r"^array: has dtype <class 'list'>, must be "):
        tensor.upload([1.0] * 4)
    with pytest.raises(ValueError, match=r"^array: has 3 elements, the tensor has 4$"):
        tensor.upload(np.zeros(3, Point.dtype))
    with pytest.raises(ValueError, match=r"^out: has 5 elements, the tensor has 4$"):
        tensor.download(np.zeros(5, Point.dtype))


def test_empty_parts_of_structs(mgr):
    tensor = mgr.tensor(np.ones(8, Point.dtype))
    for _ in range(3):
        part = tensor[5:5]
        assert part.download().shape == (0,)
        part.destroy()
        del part
    empty = mgr.tensor(np.zeros(0, Point.dtype))
    assert empty.download().dtype == Point.dtype
    np.testing.assert_array_equal(tensor.data(), np.ones(8, Point.dtype))
