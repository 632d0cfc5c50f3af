"""What a call takes for buffers and images, and as its extent, and what it refuses: a device and kp.emulate do the same. What a
tensor and an image take of arrays of another shape."""

import array
import ctypes
import enum

import kp
import numpy as np
import pytest
from kp.lang import Array, Image2D, Index, Index2, Texture2D, Uniform, f32, i32, mat2x3, mat3, vec2, vec3, vec4
from test_arguments import S, both

F = np.float32


@kp.kernel
def reads_f32(i: Index, a: Array[f32], out: Array[f32]):
    out[i] = a[1]


@kp.kernel
def reads_vec3(i: Index, a: Array[vec3], out: Array[f32]):
    out[i] = a[1].x


@kp.kernel
def reads_mat2x3(i: Index, a: Array[mat2x3], out: Array[f32]):
    out[i] = a[0][2, 0]


@kp.kernel
def reads_rows(i: Index, a: Array[Array(3, vec2)], out: Array[f32]):
    out[i] = a[0][2].y


@kp.kernel
def reads_struct(i: Index, a: Array[S], out: Array[f32]):
    out[i] = a[1].v.y


@kp.kernel
def reads_view(i: Index, a: Array[f32, 2], out: Array[f32]):
    out[i] = a[1, 1]


@kp.kernel
def reads_view_of_vec2(i: Index, a: Array[vec2, 2], out: Array[f32]):
    out[i] = a[1, 0].y


@kp.kernel
def reads_untyped(i: Index, a, out: Array[f32]):
    out[i] = f32(a[1])


@kp.kernel
def reads_image(i: Index, a: Image2D[f32], out: Array[f32]):
    out[i] = a[1, 1]


@kp.kernel
def reads_photo(i: Index, a: Image2D[vec4, "rgba8"], out: Array[f32]):
    out[i] = a[1, 1].y


@kp.kernel
def reads_texture(i: Index, a: Texture2D[vec4], out: Array[f32]):
    out[i] = a[1, 1].x


@kp.kernel
def writes_f32(i: Index, out: Array[f32]):
    out[i] = 7.0


@kp.kernel
def writes_vec3(i: Index, out: Array[vec3]):
    out[i] = vec3(1, 2, 3)


@kp.kernel
def writes_struct(i: Index, out: Array[S]):
    out[i].x += 1.0


@kp.kernel
def writes_view(at: Index2, out: Array[f32, 2]):
    out[at.y, at.x] = f32(at.x + 10 * at.y)


@kp.kernel
def writes_image(at: Index2, out: Image2D[f32]):
    out[at] = f32(at.x + 10 * at.y)


def count(*shape, dtype=F):
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


def frozen(made):
    made.flags.writeable = False
    return made


class Own(np.ndarray):
    pass


STRUCTS = np.array([(1, (2, 3)), (4, (5, 6))], S.dtype)
X = ("x", "f4")
# Each makes an argument anew: a kernel may write to it.
ARRAYS = [
    *(lambda dtype=dtype: count(6, dtype=dtype) for dtype in ("f4", "f8", "f2", ">f4", "i4", "i8", "u1", "?", "O", "M8[s]", "m8[s]", "c8", "S3", "U3", "V4", "g")),
    *(lambda shape=shape: count(*shape) for shape in ((2, 3), (3, 2), (3, 4), (1, 6), (6, 1), (3, 3), (2, 2, 3), (1, 3, 2), (1, 2, 3), (2, 2, 2), (2, 6), (6, 3))),
    *(lambda shape=shape: count(*shape, dtype="u1") for shape in ((2, 2), (2, 2, 3), (2, 2, 4), (2, 2, 2), (4, 2, 2))),
    lambda: count(12)[::2], lambda: count(6)[::-1], lambda: count(3, 4)[:, ::-1], lambda: count(2, 3).T, lambda: np.asfortranarray(count(2, 3)),
    lambda: np.broadcast_to(F(3), (6,)), lambda: np.broadcast_to(F(3), (2, 3)), lambda: count(2, 3).view(np.matrix), lambda: count(6).view(Own),
    lambda: np.ma.array(count(6), mask=[1, 0, 0, 0, 0, 0]), lambda: np.ma.array(count(6)), lambda: np.ma.array(count(2, 2), mask=[[1, 0], [0, 0]]), lambda: frozen(count(6)), lambda: frozen(count(2, 3)),
    lambda: memoryview(count(6)), lambda: memoryview(count(12))[::2], lambda: memoryview(count(2, 3)), lambda: memoryview(frozen(count(6))),
    *(lambda code=code: array.array(code, range(6)) for code in "fdib"), lambda: (ctypes.c_float * 6)(1, 2, 3, 4, 5, 6), lambda: ((ctypes.c_float * 3) * 2)(), lambda: (ctypes.c_int * 6)(),
    lambda: b"abcdef", lambda: bytearray(b"abcdefgh"), lambda: "abcdef", lambda: None, lambda: float("nan"), lambda: 3, lambda: True, lambda: object(), lambda: {1: 2}, lambda: {1, 2, 3},
    lambda: [1, 2, 3, 4, 5, 6], lambda: [1.5] * 6, lambda: [[1, 2, 3], [4, 5, 6]], lambda: [[1, 2], [3, 4], [5, 6]], lambda: [1, [2]], lambda: ["a"], lambda: [None], lambda: [True] * 6,
    lambda: [1e300] * 6, lambda: [10**400] * 6, lambda: [float("nan")] * 6, lambda: [2**31] * 6, lambda: [1j] * 6, lambda: [[1, 2], [3]], lambda: [count(3), count(3)], lambda: [F(1)] * 6,
    lambda: tuple(range(6)), lambda: ((1, 2, 3), (4, 5, 6)), lambda: range(6), lambda: (k for k in range(6)), lambda: F(3), lambda: f32, lambda: kp,
    lambda: STRUCTS.copy(), lambda: STRUCTS[::-1].copy()[::-1], lambda: STRUCTS.view(np.recarray).copy(), lambda: np.tile(STRUCTS, (2, 1)), lambda: frozen(STRUCTS.copy()), lambda: STRUCTS[0],
    *(lambda dtype=dtype: np.zeros(2, dtype) for dtype in (
        [("v", "f4", 2), X], [("x", "i4"), ("v", "f4", 2)], [("x", ">f4"), ("v", ">f4", 2)], [X, ("v", "f8", 2)], [X, ("v", "f4", (1, 2))], [("a", "f4"), ("v", "f4", 2)],
        [X, ("v", "f4", 2), ("z", "f4")], [X, ("v", [("a", "f4"), ("b", "f4")])], [X], [("x", "u1"), ("v", "f4", 2)])),
    lambda: np.datetime64(5, "s"), lambda: np.timedelta64(5, "s"), lambda: [np.zeros((3, 1), []) for _ in range(3)], lambda: [count(6).astype("V4")] * 2,
    lambda: [S(1, (2, 3))] * 2, lambda: [(1, (2, 3))] * 2, lambda: S(1, (2, 3)), lambda: {"x": 1, "v": (2, 3)},
]  # fmt: skip
READERS = (reads_f32, reads_vec3, reads_mat2x3, reads_rows, reads_struct, reads_view, reads_view_of_vec2, reads_untyped, reads_image, reads_photo, reads_texture)  # fmt: skip
WRITERS = (writes_f32, writes_vec3, writes_struct, writes_view, writes_image)


def run(call, kernel, make):
    """What a call of a reader or writer leaves, or the type of its exception."""
    argument, out = make(), np.zeros(2, F)
    try:
        call(*((argument, out) if kernel in READERS else (argument,)))
    except IndexError:
        return "beyond"  # which a device lets pass
    except Exception as error:
        assert not isinstance(error, (SystemError, MemoryError))
        assert str(error), repr(error)
        return type(error)
    left = out if kernel in READERS else argument
    return (
        np.asarray(left).tolist() if not isinstance(left, np.recarray) else np.asarray(left.tolist(), object).tolist()
    )


@pytest.mark.parametrize("kernel", (*READERS, *WRITERS), ids=lambda kernel: kernel.__name__)
def test_arrays_of_all_kinds(kernel):
    taken = 0
    for k, make in enumerate(ARRAYS):
        device, emulated = run(kernel, kernel, make), run(kernel.emulate, kernel, make)
        if device is kp.UnsupportedError or emulated == "beyond":
            continue  # types that SwiftShader lacks
        if kernel in READERS and not isinstance(device, type):
            emulated = np.round(emulated, 6).tolist()  # a device divides by 255 as it likes
            device = np.round(device, 6).tolist()
        np.testing.assert_equal(emulated, device, f"{k}: {make()!r}")
        taken += not isinstance(device, type)
    assert taken


# What is refused, and how.
BAD = [
    (reads_vec3, np.zeros((3, 4), F), ValueError, r"has shape \(3, 4\), Array\[vec3\] needs \(n, 3\)"),
    (reads_vec3, np.zeros(7, F), ValueError, r"has 7 numbers, Array\[vec3\] needs a multiple of 3"),
    (reads_vec3, [[1, 2], [3, 4], [5, 6]], ValueError, r"has shape \(3, 2\), Array\[vec3\] needs \(n, 3\)"),
    (reads_mat2x3, np.zeros((4, 2, 3), F), ValueError, r"has shape \(4, 2, 3\), Array\[mat2x3\] needs \(n, 3, 2\)"),
    (reads_rows, np.zeros((4, 2, 3), F), ValueError, r"needs \(n, 3, 2\)"),
    (reads_view, np.zeros(6, F), ValueError, r"has shape \(6,\), Array\[f32, 2\] needs 2 axes"),
    (reads_view_of_vec2, np.zeros((2, 2, 3), F), ValueError, r"has shape \(2, 2, 3\), Array\[vec2, 2\] needs \(..., 2\)"),
    (reads_struct, np.zeros(3, F), TypeError, "has dtype float32, must be an array of S$"),
    (reads_struct, [1, 2], TypeError, "must be a tensor or an array of S, not list$"),
    (reads_f32, STRUCTS, TypeError, "has structs of x, v, must be float32$"),
    (reads_f32, np.ma.masked_less(count(3), 1), TypeError, "has masked elements, which no device knows"),
    (reads_f32, {1, 2}, TypeError, "must be an array or a sequence of numbers, not set"),
    (reads_photo, count(2, 2, 3, dtype="u1"), ValueError, r"has shape \(2, 2, 3\), .* takes \(height, width, 4\); images have 1, 2 or 4 channels, so give the 3 a fourth"),
    (reads_texture, count(0, 2), ValueError, r"has shape \(0, 2\), but an image has at least one pixel"),
]  # fmt: skip


def test_arrays_that_are_refused(mgr):
    for kernel, argument, error, words in BAD:
        with pytest.raises(error, match=words) as caught:
            kernel(argument, np.zeros(2, F))
        assert str(caught.value).startswith(f"{kernel.__name__}() argument 'a': ")
        both(kernel, argument, np.zeros(2, F))
    with pytest.raises(TypeError, match="is written by the kernel; pass an array instead of nested lists"):
        writes_image([count(3), count(3)])
    for tensor, kernel, words in (
        (mgr.tensor(STRUCTS), reads_f32, "has structs of x, v, must be float32"),
        (mgr.zeros((3, 4)), reads_vec3, r"has shape \(3, 4\), Array\[vec3\] needs \(n, 3\)"),
        (mgr.zeros(12), reads_struct, "has dtype float32, must be an array of S"),
    ):
        assert words.replace("\\", "") in both(kernel, tensor, np.zeros(2, F))[1]
    view = kp.kernel_from_source("def k(i: Index, a: Array[vec2, 2]):\n    a[0, 0] = vec2(1)\n")
    with pytest.raises(ValueError, match="'tensor' has 3 numbers on its last axis, not 2$"):
        mgr.algorithm([mgr.zeros((2, 2, 3))], view.program)


def test_a_photo_of_three_channels():
    photo, out = count(2, 2, 3, dtype="u1"), np.zeros(2, F)
    try:
        reads_texture(photo, out)
    except kp.UnsupportedError as error:
        assert str(error).startswith("reads_texture() argument 'a': ")
        assert "give the 3 a fourth: numpy.insert(x, 3, 255, axis=-1)" in str(error)
    photo = np.insert(photo, 3, 255, axis=-1)
    reads_photo(photo, out)
    assert out.tolist() == [F(10 / 255)] * 2


def test_extents():
    wrong = [
        -1,
        1.5,
        "2",
        b"2",
        (-1, 2),
        (),
        (2, 2, 2, 2),
        2**31,
        2**40,
        (2, 2**31),
        [1.0],
        {1: 2},
        {2},
        F(2),
        np.array([[2]]),
    ]
    for extent in wrong:
        error, words = both(writes_f32, np.zeros(4, F), extent=extent)
        assert error in (TypeError, ValueError) and words.startswith("extent: must be "), extent
    for extent in (
        0,
        1,
        2,
        (2, 0),
        np.int64(2),
        np.array(2),
        np.array([2]),
        [2],
        (2, 1),
        (1, 2),
        (2, 1, 1),
        range(2, 4),
    ):
        device, emulated = np.zeros(8, F), np.zeros(8, F)
        writes_f32(device, extent=extent)
        writes_f32.emulate(emulated, extent=extent)
        assert emulated.tolist() == device.tolist()
    for extent in ((2**31 - 1, 2**31 - 1), (2**31 - 1,) * 3):
        assert both(writes_f32, np.zeros(4, F), extent=extent, words=False) is kp.LimitError
    for kernel in (writes_view, writes_image):
        for extent in (None, (3, 2), (2, 1), 2, (1, 1, 1)):
            device, emulated = np.zeros((2, 3), F), np.zeros((2, 3), F)
            kernel(device, extent=extent)
            kernel.emulate(emulated, extent=extent)
            assert emulated.tolist() == device.tolist()


def test_memories_are_named_by_their_parameters(mgr):
    here, there, dead = mgr.zeros(4), kp.Manager().zeros(4), mgr.zeros(4)
    dead.destroy()
    for arguments, error, words in (
        ((dead, here), kp.StateError, "reads_f32() argument 'a': is destroyed"),
        ((here, dead), kp.StateError, "reads_f32() argument 'out': is destroyed"),
        ((here, there), ValueError, "reads_f32() argument 'out': belongs to another manager"),
        ((kp.Tensor([1]), here), kp.StateError, "reads_f32() argument 'a': has no device memory; call manager.eval_tensor_create_def([tensor]) first"),
    ):  # fmt: skip
        with pytest.raises(error) as caught:
            reads_f32(*arguments)
        assert str(caught.value) == words
    with pytest.raises(kp.StateError, match=r"^reads_f32\(\) argument 'a': is destroyed$"):
        reads_f32.emulate(dead, here)


def test_what_is_destroyed_says_so(mgr):
    made = [mgr.zeros(3)]
    try:
        made.append(mgr.exportable(3))
    except kp.UnsupportedError:
        pass
    for tensor in made:
        tensor.destroy()
        for call in (tensor.vulkan, tensor.export, tensor.download):
            with pytest.raises(kp.StateError, match="^the tensor is destroyed$"):
                call()
    with pytest.raises(kp.StateError, match="^the tensor has no device memory; call manager"):
        kp.Tensor([1]).vulkan()


def test_shapes_of_what_tensors_and_images_take(mgr):
    tensor, flat = mgr.zeros((2, 3)), mgr.zeros(6)
    for right in (count(2, 3), count(6), count(1, 6), count(1, 2, 3), count(3, 2).T, [[0, 1, 2], [3, 4, 5]], range(6)):
        tensor.upload(right)
        assert tensor.download().tolist() == np.reshape(list(right), (2, 3)).tolist()
        tensor.set_data(right)
        flat.upload(right)
    flat.upload(count(3, 2))
    for call, what in ((tensor.upload, "array"), (tensor.set_data, "data"), (tensor.download, "out")):
        with pytest.raises(ValueError, match=rf"^{what}: has shape \(3, 2\), the tensor has \(2, 3\)$"):
            call(count(3, 2))
    tensor.download(np.empty(6, F))
    for shape, size in (
        ((2, 3), (3, 2, 1)),
        ((2, 3, 1), (3, 2, 1)),
        ((2, 3, 4), (3, 2, 4)),
        ((24,), (3, 2, 4)),
        ((1, 3, 4), (3, 1, 4)),
        ((3, 4), (3, 1, 4)),
    ):
        assert mgr.image_t(count(*shape), *size).data().tolist() == count(*shape).reshape(-1).tolist()
    for shape, size in (((2, 3), (2, 3, 1)), ((4, 2, 3), (3, 2, 4)), ((2, 12), (3, 2, 4)), ((3, 2, 4), (3, 2, 4))):
        with pytest.raises(ValueError, match=r"^data: has shape .*, the image has \("):
            mgr.image_t(count(*shape), *size)
    with pytest.raises(ValueError, match=r"^data: has shape \(3, 2\), the image has \(2, 3, 1\)$"):
        mgr.image(count(6), 3, 2, 1).set_data(count(3, 2))


def test_names_of_extensions():
    for name in ("VK_KHR_swapchain", b"VK_KHR_swapchain"):
        with pytest.raises(TypeError, match="^extensions: must be a list of str, not"):
            kp.Manager.from_vulkan(instance=1, physical_device=1, device=1, queues=[(0, 1)], extensions=name)


# --- kp.emulate does what devices do


@kp.kernel
def counted_from_the_end(i: Index, m: mat3, v: vec3, u: Uniform[mat3], a: Uniform[Array(3, f32)], rows: Array[Array(3, vec2)], p: Array[S], j: i32, out: Array[f32]):  # fmt: skip
    values = [1.0, 2.0, 3.0]
    w = v
    w[j] = 9.0
    q = m
    q[j] = v
    q[j, j] += 0.5
    p[0].v[j // 2] += 1.0
    out[0], out[1], out[2], out[3], out[4] = m[j, 0], m[0][j], v[j], u[j, j], a[j]
    out[5], out[6], out[7], out[8], out[9] = values[j], w.z, q[2].z, rows[0][j].y, p[0].v.y
    out[10] = (5.0, 6.0, 7.0)[j]


def test_indices_that_count_from_the_end():
    m = np.arange(9.0).reshape(3, 3)
    rows = np.arange(6, dtype=F).reshape(1, 3, 2)
    wanted = {
        -1: (6, 2, 3, 8, 7, 3, 9, 3.5, 5, 1, 7),
        -2: (3, 1, 2, 4, 6, 2, 3, 8, 3, 1, 6),
        1: (3, 1, 2, 4, 6, 2, 3, 8, 3, 0, 6),
    }
    for j, values in wanted.items():
        for call in (counted_from_the_end, counted_from_the_end.emulate):
            out = np.zeros(11, F)
            call(m, (1, 2, 3), m, (5, 6, 7), rows, np.zeros(1, S.dtype), j, out, extent=1)
            assert out.tolist() == list(values), (j, call)


def test_indices_of_64_bits_count_from_the_end_too(mgr):
    kernel = kp.kernel_from_source("def k(i: Index, v: vec3, j: Array[i64], out: Array[f32]):\n    a = [1.0, 2.0, 3.0]\n    out[i] = v[j[i]] + 10.0 * a[j[i]]\n")  # fmt: skip
    j = np.array([-1, -2, -3, 0, 1, 2])
    try:
        kernel((1, 2, 3), j, out := np.zeros(6, F))
    except kp.UnsupportedError as error:
        assert "Int64" in str(error)
        return
    assert out.tolist() == [33, 22, 11, 11, 22, 33]
    kernel((1, 2, 3), np.array([-(2**40), 2**40, -4]), out := np.zeros(3, F))
    assert out.tolist() == [33, 33, 33]  # as with those of 32 bits


ZERO_D, ZERO_D_I8 = np.array(3.0), np.array(5, np.int8)


class Level(enum.Enum):
    HALF = np.array(0.5, F)


@kp.kernel
def captures(i: Index, out: Array[f32]):
    out[i] = ZERO_D * 2.0 + f32(ZERO_D_I8) + Level.HALF.value


def test_arrays_without_axes_from_outside():
    for call in (captures, captures.emulate):
        out = np.zeros(1, F)
        call(out)
        assert out.tolist() == [11.5]
