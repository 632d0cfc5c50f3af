"""Views with two and three axes: indices and shapes are NumPy's, and the launch goes over what is written."""

import kp
import numpy as np
import pytest
from kp.lang import Array, Index, Index2, Index3, Uniform, f32, i32, vec3


def row_sum(a, r):
    s = 0.0
    for c in range(a.shape[1]):
        s += a[r, c]
    return s


@kp.kernel
def blur(i: Index2, a: Array[f32, 2], out: Array[f32, 2]):
    rows, cols = a.shape
    s = 0.0
    for dy in range(-1, 2):
        for dx in range(-1, 2):
            y, x = i.y + dy, i.x + dx
            if 0 <= y < rows and 0 <= x < cols:
                s += a[y, x]
    out[i.y, i.x] = s


def numbers(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def blurred(a):
    padded = np.pad(a, 1)
    rows, cols = a.shape
    return sum(padded[y : y + rows, x : x + cols] for y in range(3) for x in range(3))


@pytest.mark.parametrize("shape", [(5, 7), (1, 9), (9, 1), (70, 33)])
def test_a_stencil_goes_over_what_it_writes(shape):
    a = numbers(*shape) % 17
    out = np.zeros_like(a)
    blur(a, out)
    np.testing.assert_array_equal(out, blurred(a))


def test_lengths_and_negative_indices():
    @kp.kernel
    def k(i: Index, n: i32, a: Array[f32, 2], b: Array[f32], out: Array[f32]):
        out[0] = f32(len(a)) + 10.0 * f32(a.shape[-1]) + 100.0 * f32(b.shape[0]) + f32(n)
        out[1] = a[-1, -2]
        out[2] = a[n, -1]
        out[3] = row_sum(a, 1)
        a[0, 1] += 0.5

    a, out = numbers(3, 4), np.zeros(4, dtype=np.float32)
    wanted = a.copy()
    wanted[0, 1] += 0.5
    k(1, a, np.zeros(5, dtype=np.float32), out, extent=1)
    assert out.tolist() == [544, 10, 7, 22]
    np.testing.assert_array_equal(a, wanted)


def test_three_axes_and_elements_of_three():
    @kp.kernel
    def k(i: Index3, factor: f32, v: Array[vec3, 3], out: Array[i32, 3]):
        out[i.z, i.y, i.x] = i32(factor * v[i.z, i.y, i.x].y)

    v = numbers(2, 3, 4, 3)
    out = np.zeros((2, 3, 4), dtype=np.int32)
    k(2.0, v, out)
    np.testing.assert_array_equal(out, (2 * v[..., 1]).astype(np.int32))


def test_an_index_goes_over_rows():
    @kp.kernel
    def k(i: Index, a: Array[f32, 2]):
        s = row_sum(a, i)
        for c in range(a.shape[1]):
            a[i, c] /= s

    a = numbers(4, 6) + 1
    wanted = a / a.sum(axis=1, keepdims=True)
    k(a)
    np.testing.assert_allclose(a, wanted, rtol=1e-6)


def test_another_number_of_axes_is_an_error():
    flat = np.zeros(12, dtype=np.float32)
    with pytest.raises(ValueError, match=r"argument 'a': has shape \(12,\), Array\[f32, 2\] needs 2 axes"):
        blur(flat, np.zeros((3, 4), dtype=np.float32))
    manager = kp.Manager()
    tensors = [manager.tensor(flat), manager.tensor(flat)]
    with pytest.raises(ValueError, match="parameter 'a' is Array\\[f32, 2\\], tensor 'tensor' has 1 axes, not 2"):
        manager.algorithm(tensors, blur.program)


def test_an_algorithm_takes_shapes_and_extent_from_its_tensors():
    manager = kp.Manager()
    a = numbers(6, 5)
    first = [manager.tensor(a).reshape(6, 5), manager.tensor(np.zeros_like(a)).reshape(6, 5)]
    algorithm = manager.algorithm(first, blur.program)
    sequence = manager.sequence().record(kp.OpSyncDevice(first)).record(kp.OpAlgoDispatch(algorithm))
    sequence.record(kp.OpSyncLocal(first)).eval()
    np.testing.assert_array_equal(first[1].data().reshape(6, 5), blurred(a))


def test_faults_are_found_when_the_kernel_is_made():
    def fault(body, annotation="Array[f32, 2]"):
        with pytest.raises(kp.CompileError) as caught:
            kp.kernel_from_source(f"def k(i: Index, a: {annotation}):\n    {body}\n")
        return str(caught.value).splitlines()[0].split(": ", 1)[1]

    assert fault("a[i] = 0.0") == "'a' has 2 axes, but this is 1 index; write a[i, j]"
    assert fault("a[i, i, i] = 0.0") == "'a' has 2 axes, but these are 3 indices; write a[i, j]"
    assert fault("x = a.shape[2]") == "axis 2 is out of range: 'a' has 2"
    assert fault("x = a.shape[i]") == "the axis of a shape is an integer constant"
    assert fault("r, c, d = a.shape") == "3 names, but 'a' has 2 axes"
    assert fault("for x in a: a[0, 0] = x") == "'a' has 2 axes; go over range(len(a))"
    assert fault("a[i, j] = 0.0", "Array[f32]").startswith("'a' is Array[f32] and has one axis")
    assert fault("pass", "Array[f32, 4]") == "the number of axes is between 1 and 3, not 4"


def neighbours(x, at, column):
    rows, columns = x.shape
    return x[at, max(column - 1, 0)] + x[at, min(column + 1, columns - 1)]


@kp.kernel
def without_types(at: Index2, x, out, scale):
    out[at.y, at.x] = scale * neighbours(x, at.y, at.x)


@kp.kernel
def planes(i: Index, x, out):
    out[i] = x[1, i, 0] + x.shape[2]


@kp.kernel
def flat(i: Index, x):
    x[i] = x[i] + len(x)


@pytest.mark.parametrize("how", ["device", "cpython"])
def test_parameters_without_types_have_the_axes_that_the_kernel_indexes(how):
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    out = np.zeros_like(x)
    (without_types if how == "device" else without_types.emulate)(x, out, 2.0)
    wanted = 2 * (x[:, [0, 0, 1, 2]] + x[:, [1, 2, 3, 3]])
    assert np.array_equal(out, wanted)
    x3 = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    out = np.zeros(3, dtype=np.int32)
    (planes if how == "device" else planes.emulate)(x3, out)
    assert out.tolist() == (x3[1, :, 0] + 4).tolist()
    y = np.zeros((2, 3), dtype=np.float32)
    with pytest.raises(kp.CompileError):  # f32 + i32
        (flat if how == "device" else flat.emulate)(y)
    z = np.zeros((2, 3), dtype=np.int32)
    (flat if how == "device" else flat.emulate)(z)
    assert z.tolist() == [[6, 6, 6], [6, 6, 6]]


def test_tensors_give_their_axes_too():
    mgr = kp.Manager()
    x, out = mgr.tensor(np.arange(6, dtype=np.float32)).reshape(2, 3), mgr.zeros(6).reshape(2, 3)
    mgr.sequence().record(kp.OpSyncDevice([x])).eval()
    without_types(x, out, 1.0)
    mgr.sequence().record(kp.OpSyncLocal([out])).eval()
    assert out.data().reshape(2, 3).tolist() == [[1, 2, 3], [7, 8, 9]]
    with pytest.raises(ValueError, match=r"argument 'x': has shape \(6,\), Array\[f32, 2\] needs 2 axes"):
        without_types(np.zeros(6, np.float32), np.zeros((2, 3), np.float32), 1.0)
    mgr.destroy()


class Gain(kp.Struct):
    by: f32
    of: Array(2, f32)


@kp.kernel
def gained(i: Index2, g: Uniform[Gain], s: Uniform[f32], a: Array[f32, 2], out: Array[f32, 2]):
    out[i.y, i.x] = g.by * a[i.y, i.x] + g.of[1] + s


def test_uniforms_beside_views():
    a = np.arange(4, dtype=np.float32).reshape(2, 2)
    for gain in (Gain(by=2, of=(0, 1)), {"by": 2, "of": (0, 1)}, (2, (0, 1)), np.array((2, (0, 1)), Gain.dtype)):
        out, copy = np.zeros_like(a), np.zeros_like(a)
        gained(gain, 4.0, a.tolist(), out)
        gained.emulate(gain, 4.0, a.tolist(), copy)
        assert out.tolist() == copy.tolist() == (2 * a + 5).tolist()
