"""Data in: what is taken and what it becomes, what is refused and with which words."""

import array
import decimal
import fractions

import kp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

DTYPES = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"]


@pytest.fixture(scope="module")
def manager():
    manager = kp.Manager()
    yield manager
    manager.destroy()


@st.composite
def arrays(draw):
    """Any dtype of ours, in either byte order, sliced, transposed, misaligned."""
    dtype = np.dtype(draw(st.sampled_from("<>")) + draw(st.sampled_from(DTYPES)))
    made = draw(hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5)))
    if draw(st.booleans()):
        made = made.T
    if made.ndim and draw(st.booleans()):
        made = made[:: draw(st.sampled_from([-2, -1, 2]))]
    if draw(st.booleans()):
        raw = np.zeros(made.nbytes + 1, np.uint8)
        odd = raw[1:].view(made.dtype).reshape(made.shape)
        odd[...] = made
        made = odd
    return made


@given(arrays())
def test_an_array_keeps_dtype_and_values(manager, made):
    out = manager.tensor_t(made).data()
    assert out.dtype == made.dtype.newbyteorder("=")
    assert out.tobytes() == np.ascontiguousarray(made).astype(out.dtype).tobytes()


@given(arrays())
def test_a_float_tensor_converts_by_value(made):
    with np.errstate(all="ignore"):
        expected = np.ascontiguousarray(made).astype(np.float32).reshape(-1)
        too_large = np.isinf(expected) & np.isfinite(made.astype(np.float64)).reshape(-1)
    if too_large.any():
        with pytest.raises(OverflowError, match=rf"data\[{np.argmax(too_large)}\]: does not fit in float32"):
            kp.Tensor(made)
        return
    got = np.asarray(kp.Tensor(made))
    assert np.array_equal(got, expected, equal_nan=True)


@pytest.mark.parametrize(
    "data",
    [
        [1, 2, 3],
        (1.0, 2.0, 3.0),
        range(1, 4),
        {1: 0, 2: 0, 3: 0}.keys(),
        (value for value in (1, 2, 3)),
        [True, 2, 3.0],
        [np.float64(1), np.int8(2), np.uint64(3)],
        [fractions.Fraction(1), decimal.Decimal(2), 3],
        [np.array(1.0), np.array(2), np.array(3)],
        array.array("f", [1, 2, 3]),
        array.array("d", [1, 2, 3]),
        array.array("q", [1, 2, 3]),
        bytes([1, 2, 3]),
        bytearray([1, 2, 3]),
        memoryview(b"\x01\x00\x02\x00\x03")[::2],
        np.array([[1], [2], [3]]),
        np.ma.masked_array([1, 2, 3]),
        kp.Tensor([1, 2, 3]),
    ],
    ids=lambda data: type(data).__name__,
)
def test_what_is_taken(data):
    assert kp.Tensor(data).data() == [1, 2, 3]


def test_objects_of_other_libraries_are_asked_for_their_array():
    class Foreign:
        def __array__(self, dtype=None, copy=None):
            return np.array([1, 2, 3], np.float32)

    assert kp.Tensor(Foreign()).data() == [1, 2, 3]


def test_their_errors_pass():
    class Broken:
        def __array__(self, dtype=None, copy=None):
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        kp.Tensor(Broken())

    def broken():
        yield 1
        raise ZeroDivisionError("mine too")

    with pytest.raises(ZeroDivisionError, match="mine too"):
        kp.Tensor(broken())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (5, "data: must be an array or a sequence of numbers, not int"),
        (None, "data: must be an array or a sequence of numbers, not NoneType"),
        ("123", "data: must be an array or a sequence of numbers, not str"),
        ({"a": 1}, "data: must be an array or a sequence of numbers, not dict"),
        pytest.param(object(), "data: must be an array or a sequence of numbers, not object", id="object"),
        (["1"], "data[0]: must be a number, not str"),
        ([1, None], "data[1]: must be a number, not NoneType"),
        ([1, 2j], "data[1]: must be a number, not complex"),
        ([1, b"x"], "data[1]: must be a number, not bytes"),
        ([1, {}], "data[1]: must be a number, not dict"),
        (
            np.array([1, "a"], object),
            "data: an array of Python objects (format 'O'); expected an array of numbers",
        ),
        (
            np.zeros(2, [("a", "f4"), ("b", "i4")]),
            "data: a structured array (format 'T{f:a:i:b:}'); expected an array of numbers",
        ),
        (np.zeros(2, "c8"), "data: an array of complex numbers (format 'Zf'); expected an array of numbers"),
        (np.zeros(2, "U3"), "data: an array of characters (format '3w'); expected an array of numbers"),
    ],
    ids=repr,
)
def test_what_is_refused(data, message):
    with pytest.raises(TypeError) as caught:
        kp.Tensor(data)
    assert str(caught.value) == message


def test_dates_are_refused_with_numpys_reason():
    with pytest.raises(TypeError, match=r"^data: an array that cannot be read as numbers \(.*dtype 'M'.*\)$"):
        kp.Tensor(np.zeros(2, "M8[s]"))


def test_long_doubles_are_refused():
    if np.dtype(np.longdouble).itemsize == 8:
        return
    with pytest.raises(TypeError, match="elements of a type that no device has"):
        kp.Tensor(np.zeros(2, np.longdouble))


def test_ragged_sequences():
    with pytest.raises(ValueError, match=r"^data: nested sequences of different lengths, 1 and 2$"):
        kp.Tensor([[1], [2, 3]])
    with pytest.raises(ValueError, match=r"^data: numbers at different depths"):
        kp.Tensor([1, [2]])
    endless = []
    endless.append(endless)
    with pytest.raises(ValueError, match=r"^data: nested more than 31 deep$"):
        kp.Tensor(endless)


def test_a_list_that_changes_while_it_is_read():
    values = [1, 2, 3]

    class Odd:
        def __float__(self):
            values.clear()
            return 2.0

    values[1] = Odd()
    assert kp.Tensor(values).data() == [1, 2]


def test_numbers_too_large_are_refused():
    for data in ([0, 1e300], [0, 10**400], np.array([0, -1e300]), np.array([0, 1e39], ">f8")[None]):
        with pytest.raises(OverflowError, match=r"^data\[1\]: does not fit in float32$"):
            kp.Tensor(data)
    beyond = kp.Tensor(np.array([np.inf, -np.inf, np.nan, 3.4028235e38])).data()
    np.testing.assert_array_equal(beyond, np.array([np.inf, -np.inf, np.nan, 3.4028235e38], np.float32))


def test_tensor_t_takes_arrays_only(manager):
    with pytest.raises(TypeError) as caught:
        manager.tensor_t([1, 2, 3])
    assert str(caught.value) == "data: must be an array with a dtype, not list"
    assert manager.tensor_t(array.array("h", [1, -2])).data().dtype == np.int16


def test_a_tensor_offers_its_buffer(manager):
    local = kp.Tensor([1, 2, 3])
    view = memoryview(local)
    assert (view.format, view.shape, view.readonly, view.itemsize) == ("f", (3,), False, 4)
    view[0] = 9
    assert local[0] == 9
    assert np.asarray(local).dtype == np.float32
    made = manager.tensor_t(np.arange(3))
    np.asarray(made)[:] = 7
    assert made.data().tolist() == [7, 7, 7]


def test_local_data_that_is_shown_cannot_move(manager):
    tensor = kp.Tensor([1, 2])
    view = memoryview(tensor)
    with pytest.raises(BufferError, match=r"^tensors\[0\]: its local data cannot move to the device while"):
        manager.eval_tensor_create_def([tensor])
    view.release()
    manager.eval_tensor_create_def([tensor])
    assert memoryview(tensor).tolist() == [1, 2]
