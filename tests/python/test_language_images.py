"""Images and textures in kernels: what a device makes of them is what kp.emulate does."""

import re
import textwrap

import kp
import numpy as np
import pytest
from kp.lang import (
    Array,
    Image1D,
    Image2D,
    Image3D,
    Index,
    Index2,
    Index3,
    LocalIndex,
    Texture1D,
    Texture2D,
    Texture3D,
    barrier,
    f32,
    i32,
    ivec2,
    ivec4,
    uvec4,
    vec2,
    vec3,
    vec4,
)


def run(kernel, *args, **options):
    """A call on the device, and the same in CPython: the arrays of both must be equal."""
    wanted = [argument.copy() if isinstance(argument, np.ndarray) else argument for argument in args]
    kernel(*args, **options)
    kp.emulate(kernel, *wanted, **options)
    for got, want in zip(args, wanted, strict=True):
        if isinstance(got, np.ndarray):
            np.testing.assert_array_equal(got, want)


@kp.kernel
def blurred(at: Index2, picture: Image2D[f32], out: Image2D[f32]):
    total = 0.0
    for dy in range(-1, 2):
        for dx in range(-1, 2):
            total += picture[at + ivec2(dx, dy)]
    out[at] = total / 8.0


def test_arrays_are_images(rng):
    picture = rng.integers(0, 100, (5, 7)).astype(np.float32)
    out = np.zeros_like(picture)
    run(blurred, picture, out)
    wide = np.pad(picture, 1)
    np.testing.assert_array_equal(out, sum(wide[i : i + 5, j : j + 7] for i in range(3) for j in range(3)) / 8)


def test_images_in_sequences(mgr, rng):
    picture = rng.integers(0, 100, (4, 9)).astype(np.float32)
    first, second = mgr.image_t(picture, 9, 4, 1), mgr.image(None, 9, 4, 1)
    wanted, again = np.zeros_like(picture), np.zeros_like(picture)
    blurred.emulate(picture, wanted)
    blurred.emulate(wanted, again)
    there, back = blurred.algorithm(mgr, [first, second]), blurred.algorithm(mgr, [second, first])
    seq = mgr.sequence().record(kp.OpSyncDevice([first, second]))
    seq.record(kp.OpAlgoDispatch(there)).record(kp.OpAlgoDispatch(back)).record(kp.OpSyncLocal([first, second])).eval()
    np.testing.assert_array_equal(np.asarray(second)[..., 0], wanted)
    np.testing.assert_array_equal(np.asarray(first)[..., 0], again)


def test_images_are_used_where_they_are(mgr):
    first, second = mgr.image(range(6), 3, 2, 1), mgr.image(None, 3, 2, 1)
    mgr.sequence().record(kp.OpSyncDevice([first])).eval()
    blurred(first, second)
    assert not second.data().any()
    mgr.sequence().record(kp.OpSyncLocal([second])).eval()
    assert second.data()[0] == 8 / 8


def test_pyshaders_functions():
    kernel = kp.kernel_from_source(
        textwrap.dedent("""\
        def compute(index=("input", "GlobalInvocationId", ivec3), a=("texture", 0, "2d rgba8ui"), b=("texture", 1, "2d rgba16i")):
            color = read(a, index.xy)
            color = ivec4(color.x + index.x, color.y - 100, color.z * 2, color.a)
            stdlib.write(b, index.xy, color.bgra)
            if index.x == 1:
                imageStore(b, index.xy, imageLoad(a, index.xy) + b.read(index.xy))
                b.write(ivec2(index.y, 2), a.read(index.yx))
        """)
    )
    a = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    b = np.zeros((3, 3, 4), dtype=np.int16)
    run(kernel, a, b, extent=(3, 2))
    assert b[0, 2].tolist() == [20, -91, 10, 11]


@kp.kernel
def copied(at: Index2, a, b):
    b[at] = a[at]


@pytest.mark.parametrize(
    ("dtype", "channels", "normalized", "type_"),
    [
        ("f4", 1, False, "Image2D[f32]"),
        ("f2", 4, False, 'Image2D[vec4, "rgba16f"]'),
        ("u1", 4, True, 'Image2D[vec4, "rgba8"]'),
        ("i1", 4, True, 'Image2D[vec4, "rgba8snorm"]'),
        ("u1", 4, False, 'Image2D[uvec4, "rgba8ui"]'),
        ("i4", 1, False, "Image2D[i32]"),
        ("i2", 4, False, 'Image2D[ivec4, "rgba16i"]'),
    ],
)
def test_an_image_gives_its_type(mgr, dtype, channels, normalized, type_):
    data = np.arange(6 * channels).astype(dtype)
    first, second, third = (mgr.image_t(data * k, 3, 2, channels, normalized=normalized) for k in (1, 2, 0))
    mgr.sequence().record(kp.OpSyncDevice([first, second])).eval()
    for source, k in ((first, 1), (second, 2), (first, 1)):
        copied(source, third)
        mgr.sequence().record(kp.OpSyncLocal([third])).eval()
        np.testing.assert_array_equal(third.data(), data * k)
    assert kp.Kernel.spirv(copied, a=type_, b=type_) == kp.Kernel.spirv(copied, a=first, b=third)


# ----------------------------------------------------------------------------------------------------------------------
# Formats
# ----------------------------------------------------------------------------------------------------------------------

FORMATS = [f"{'rgba'[:n]}{kind}" for n in (1, 2, 4) for kind in ("32f", "16f", "8", "8snorm")] + [
    f"{'rgba'[:n]}{bits}{kind}" for n in (1, 2, 4) for bits in (8, 16, 32) for kind in ("i", "ui")
]
DTYPES = {"32f": "f4", "16f": "f2", "8": "u1", "8snorm": "i1"}


def texel_of(format):
    """(the type of a pixel, channels, the rest of the name)"""
    channels = len(format) - len(format.lstrip("rgba"))
    kind = format[channels:]
    scalars = {"f": ("f32", "vec"), "8": ("f32", "vec"), "m": ("f32", "vec")}
    scalar, vec = ("u32", "uvec") if kind.endswith("ui") else scalars.get(kind[-1], ("i32", "ivec"))
    return scalar if channels == 1 else f"{vec}{channels}", channels, kind


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_is_read_and_written(format, rng):
    texel, channels, kind = texel_of(format)
    dtype = np.dtype(DTYPES.get(kind) or f"{'u' if kind.endswith('ui') else 'i'}{int(kind.rstrip('ui')) // 8}")
    kernel = kp.kernel_from_source(
        f"def k(at: Index2, a: Image2D[{texel}, '{format}'], b: Image2D[{texel}, '{format}'], x: Array[{texel}]):\n"
        f"    b[at] = a[at]\n"
        f"    x[at.x + 3 * at.y] = a[at]\n"
    )
    if dtype.kind == "f":
        a = rng.uniform(-100, 100, (2, 3, channels)).astype(dtype)
    else:
        a = rng.integers(np.iinfo(dtype).min + 1, np.iinfo(dtype).max, (2, 3, channels)).astype(dtype)
    b, x = (
        np.zeros_like(a),
        np.zeros((6, channels), dtype=np.dtype(f"{dtype.kind if '8' != kind[:1] or kind[-1] == 'i' else 'f'}4")),
    )
    wanted_b, wanted_x = b.copy(), x.copy()
    try:
        kernel(a, b, x)
    except kp.UnsupportedError as error:
        assert (
            "has no 2-D images of" in str(error)
            or "shaderStorageImageExtendedFormats" in str(error)
            or "storage image" in str(error)
        )
        return
    kernel.emulate(a, wanted_b, wanted_x)
    np.testing.assert_array_equal(b, a)
    np.testing.assert_array_equal(wanted_b, a)
    np.testing.assert_allclose(x, wanted_x, rtol=1e-6)


@pytest.mark.parametrize(("format", "dtype"), [("rgba8", np.uint8), ("rgba8snorm", np.int8), ("rgba16f", np.float16)])
def test_what_is_stored_is_rounded(format, dtype):
    kernel = kp.kernel_from_source(
        f"def k(i: Index, x: Array[f32], out: Image1D[vec4, '{format}']):\n"
        "    out[i] = vec4(x[i], -x[i], x[i] / 3.0, 0.3)\n"
    )
    x = np.array([0, 0.1, 0.25, 0.9, 1, 1.5, -0.2, -1, -7], dtype=np.float32)
    got, wanted = np.zeros((9, 4), dtype), np.zeros((9, 4), dtype)
    kernel(x, got, extent=9)
    kernel.emulate(x, wanted, extent=9)
    if format == "rgba16f":
        np.testing.assert_allclose(got.astype(float), wanted.astype(float), rtol=2**-10)
    else:
        assert np.abs(got.astype(int) - wanted).max() <= 1


# ----------------------------------------------------------------------------------------------------------------------
# Axes, places, sizes
# ----------------------------------------------------------------------------------------------------------------------


@kp.kernel
def line(i: Index, a: Image1D[i32], b: Image1D[i32]):
    b[i] = a[a.size - 1 - i] * 10 + a.width


@kp.kernel
def square(at: Index2, a: Image2D[ivec4], b: Image2D[ivec4]):
    width, height = a.size
    b[at] = a[width - 1 - at.x, height - 1 - at.y] + ivec4(at, a.height, 0)


@kp.kernel
def cube(at: Index3, a: Image3D[uvec4, "rgba8ui"], b: Image3D[vec4]):
    here = a[at.x, at.y, at.z] + a[at.yxz]
    b[at] = vec4(here) + vec4(vec3(a.size), f32(a.depth))


def test_every_number_of_axes(rng):
    run(line, rng.integers(0, 100, 6).astype(np.int32), np.zeros(6, np.int32))
    run(square, rng.integers(0, 100, (3, 5, 4)).astype(np.int32), np.zeros((3, 5, 4), np.int32))
    run(cube, rng.integers(0, 100, (2, 3, 5, 4)).astype(np.uint8), np.zeros((2, 3, 5, 4), np.float32))


@kp.kernel
def transposed(at: Index2, a: Image2D[f32], b: Image2D[f32]):
    b[at.yx] = a[at]


def test_x_comes_first():
    a = np.arange(15, dtype=np.float32).reshape(3, 5)
    b = np.zeros((5, 3), dtype=np.float32)
    run(transposed, a, b, extent=(5, 3))
    np.testing.assert_array_equal(b, a.T)


@kp.kernel
def to_view(at: Index2, a: Image2D[f32], out: Array[f32, 2]):
    out[at.y, at.x] = a[at.x, at.y]


def test_a_view_and_an_image_of_one_array():
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    out = np.zeros_like(a)
    run(to_view, a, out)
    np.testing.assert_array_equal(out, a)


@kp.kernel
def around(i: Index, where: Array[i32], a: Image2D[vec2], b: Image2D[f32], out: Array[vec2]):
    at = ivec2(where[2 * i], where[2 * i + 1])
    out[i] = a[at]
    b[at] = 5.0
    b[at] += 1.0


def test_outside_reads_are_zero_and_writes_do_nothing():
    where = np.array(
        [[0, 0], [2, 1], [3, 0], [0, 2], [-1, 0], [0, -1], [2**31 - 1, 0], [-(2**31), 1], [9, 9]], np.int32
    )
    a, b, out = np.ones((2, 3, 2), np.float32), np.zeros((2, 3), np.float32), np.full((9, 2), 7, np.float32)
    run(around, where.reshape(-1), a, b, out, extent=9)
    assert out[:, 0].tolist() == [1, 1, 0, 0, 0, 0, 0, 0, 0]
    assert b.tolist() == [[6, 0, 0], [0, 0, 6]]


@kp.kernel(local_size=8)
def turned_in_groups(i: Index, t: LocalIndex, a: Image1D[f32], b: Image1D[f32]):
    a[i] = f32(i) + 1.0
    barrier()
    b[i] = a[i - t + 7 - t]


def test_what_a_group_wrote_all_of_it_read_after_a_barrier():
    a, b = np.zeros(24, np.float32), np.zeros(24, np.float32)
    run(turned_in_groups, a, b, extent=24)
    np.testing.assert_array_equal(b, np.arange(1, 25, dtype=np.float32).reshape(3, 8)[:, ::-1].reshape(-1))


# ----------------------------------------------------------------------------------------------------------------------
# Functions that get images
# ----------------------------------------------------------------------------------------------------------------------


def gray(image, at):
    return image[at].r + image[at].g


def put(image, at, value, times=1):
    for _ in range(times):
        image[at] += value


def typed(image: Image2D[f32], at: ivec2) -> f32:
    return image[at]


@kp.kernel
def through_functions(at: Index2, a: Image2D[vec4], b: Image2D[f32], out: Image2D[f32]):
    put(out, at, gray(a, at) + typed(b, at), times=2)


def test_functions_take_images(rng):
    a = rng.integers(0, 9, (3, 4, 4)).astype(np.float32)
    b = rng.integers(0, 9, (3, 4)).astype(np.float32)
    out = np.ones_like(b)
    run(through_functions, a, b, out)
    np.testing.assert_array_equal(out, 1 + 2 * (a[..., 0] + a[..., 1] + b))


# ----------------------------------------------------------------------------------------------------------------------
# Textures
# ----------------------------------------------------------------------------------------------------------------------


@kp.kernel
def sampled(at: Index2, picture: Texture2D[vec2], where: Array[vec2], out: Image2D[vec2]):
    i = at.x + at.y * out.width
    out[at] = picture.sample(where[i])


@pytest.mark.parametrize("mode", ["clamp_to_edge", "repeat", "mirrored_repeat", "clamp_to_border"])
@pytest.mark.parametrize("filter", ["nearest", "linear"])
def test_sampling(mgr, rng, filter, mode):
    data = rng.integers(0, 256, (3, 4, 2)).astype(np.uint8)
    picture = mgr.image_t(data, 4, 3, 2, normalized=True, filter=filter, address_mode=mode)
    assert (picture.filter, picture.address_mode, picture.normalized) == (filter, mode, True)
    mgr.sequence().record(kp.OpSyncDevice([picture])).eval()
    where = rng.uniform(-1.5, 2.5, (24, 2)).astype(np.float32)
    got, wanted = np.zeros((4, 6, 2), np.float32), np.zeros((4, 6, 2), np.float32)
    sampled(picture, where, got)
    sampled.emulate(picture, where, wanted)
    np.testing.assert_allclose(got, wanted, atol=1e-6 if filter == "nearest" else 2**-7)


@kp.kernel
def all_four(i: Index, picture: Texture2D[vec4], out: Array[vec4]):
    out[i] = picture.sample(vec2(-2.0, 0.5)) if i == 0 else picture.sample(vec2(0.5))
    if i == 2:
        out[i] = picture[-1 + i - 2, 0]


@pytest.mark.parametrize("channels", [1, 2, 4])
def test_channels_that_a_texture_lacks(mgr, channels):
    picture = mgr.image_t(
        np.full((3, 4, channels), 51, np.uint8), 4, 3, channels, normalized=True, address_mode="clamp_to_border"
    )
    mgr.sequence().record(kp.OpSyncDevice([picture])).eval()
    got, wanted = np.zeros((3, 4), np.float32), np.zeros((3, 4), np.float32)
    all_four(picture, got, extent=3)
    all_four.emulate(picture, wanted, extent=3)
    np.testing.assert_allclose(got, wanted, atol=1e-6)
    lacking = [0.0, 0.0, 0.0, 1.0][channels:]
    np.testing.assert_allclose(got, [[0.0] * channels + lacking, [0.2] * channels + lacking, [0.0] * 4], atol=1e-6)


@kp.kernel
def in_line_and_space(i: Index, a: Texture1D[f32], b: Texture3D[vec3], x: Array[f32], out: Array[vec4]):
    out[i] = vec4(b.sample(vec3(x[i], 0.5, 1.0 - x[i])), a.sample(x[i])) + vec4(a[i], b[i, 0, 1])


def test_sampling_on_one_and_three_axes(rng):
    a, b = rng.random(5).astype(np.float32), rng.random((2, 3, 4, 4)).astype(np.float32)
    x = np.linspace(0.06, 0.93, 7, dtype=np.float32)  # nowhere near the middle between two pixels
    got, wanted = np.zeros((7, 4), np.float32), np.zeros((7, 4), np.float32)
    in_line_and_space(a, b, x, got)
    in_line_and_space.emulate(a, b, x, wanted)
    np.testing.assert_allclose(got, wanted, atol=1e-6)


@kp.kernel
def fetched(at: Index2, a: Texture2D[ivec4], b: Texture2D[f32], out: Image2D[ivec4]):
    x, y = at
    out[x, y] = a[x, y] + a[at - 1] + ivec4(i32(b[at] * 255.0), b.width, b.size)


@pytest.mark.parametrize(("dtype", "channels"), [(np.int32, 4), (np.int8, 2), (np.int16, 1)])
def test_textures_of_integers_are_read(rng, dtype, channels):
    a = rng.integers(-100, 100, (3, 4, channels)).astype(dtype)
    run(fetched, a, rng.integers(0, 256, (3, 4)).astype(np.uint8), np.zeros((3, 4, 4), np.int32))


def test_pyshaders_samplers(mgr, rng):
    kernel = kp.kernel_from_source(
        textwrap.dedent("""\
        def compute_shader(
            index: ("input", "GlobalInvocationId", ivec3),
            tex: ("texture", 0, "2d f32"),
            also: ("texture", 1, "1d r32i"),
            sampler: ("sampler", 2, ""),
            out: ("buffer", 3, Array(vec4)),
        ):
            place = vec2((f32(index.x) + 0.3) / 8.0, 0.4)
            out[index.x] = tex.sample(sampler, place) + vec4(stdlib.sample(also, sampler, place.x)) + tex.read(index.xy)
        """)
    )
    tex = mgr.image_t(rng.random((2, 4)).astype(np.float32), 4, 2, 1)
    also = mgr.image_t(np.arange(5, dtype=np.int32), 5, 0, 1)
    how = mgr.image_t(np.zeros(1, np.float32), 1, 0, 1, address_mode="repeat")
    mgr.sequence().record(kp.OpSyncDevice([tex, also])).eval()
    got, wanted = np.zeros((9, 4), np.float32), np.zeros((9, 4), np.float32)
    kernel(tex, also, how, got, extent=9)
    kernel.emulate(tex, also, how, wanted, extent=9)
    np.testing.assert_allclose(got, wanted, atol=1e-6)
    with pytest.raises(TypeError, match=r"argument 'sampler': must be a kp.Image, whose filter and address mode count"):
        kernel(tex, also, np.zeros(3), got, extent=9)


# ----------------------------------------------------------------------------------------------------------------------
# What is refused
# ----------------------------------------------------------------------------------------------------------------------


@kp.kernel(checked=True)
def checked(at: Index2, a: Image2D[f32], b: Image2D[f32]):
    b[at.x, at.y + 1] = a[at.x + 1, at.y]


def outside(place, image, size, invocation):
    line = checked.function.__code__.co_firstlineno + 2
    return rf"{__file__}:{line}:\d+: pixel {re.escape(place)} of image '{image}' is out of range for size " + re.escape(
        f"{size}, in invocation {invocation} of kernel 'checked'"
    )


def test_checked_kernels_find_what_is_outside():
    a, b = np.ones((2, 3), np.float32), np.zeros((2, 3), np.float32)
    with pytest.raises(IndexError, match=outside("(3, 0)", "a", "(3, 2)", "(2, 0, 0)")):
        checked(a, b)
    assert b.tolist() == [[0, 0, 0], [0, 0, 0]], "what failed leaves the array as it was"
    with pytest.raises(IndexError, match=outside("(0, 2)", "b", "(3, 2)", "(0, 1, 0)")):
        checked(a, b, extent=(2, 2))
    with pytest.raises(IndexError, match=r"pixel \(3, 0\) of image 'a' is out of range for size \(3, 2\)"):
        checked.emulate(a, b)
    checked(a, b, extent=(2, 1))
    assert b.tolist() == [[0, 0, 0], [1, 1, 0]]


FAR = [(-1, 0, 0), (0, 3, 1), (0, 0, 9), (2**31 - 1, -(2**31), 1)]
SHAPES = {1: (4,), 2: (3, 4), 3: (2, 3, 4)}


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_a_pixel_outside_is_told_with_all_its_coordinates(axes, write, waits):
    place = ", ".join(f"p[{k}]" for k in range(axes))
    body = f"    a[{place}] = 5\n" if write else f"    out[i] += a[{place}]\n"
    wait = "    barrier()\n" if waits else ""
    text = f"def k(i: Index, p: Array[i32], a: Image{axes}D[i32], out: Array[i32]):\n{body}{wait}    out[i] += 1\n"
    k = kp.kernel_from_source(text, file="far.py", local_size=2 if waits else None, checked=True)
    for far in FAR:
        size = tuple(reversed(SHAPES[axes]))
        if all(0 <= at < most for at, most in zip(far, size, strict=False)):
            continue
        a, out, data = np.full(SHAPES[axes], 7, np.int32), np.zeros(2, np.int32), np.array(far, np.int32)
        said = [str(far[:axes] if axes > 1 else far[0]), str(size if axes > 1 else size[0])]
        with pytest.raises(IndexError) as info:
            k(data, a, out, extent=2)
        column = 5 if write else 15
        assert str(info.value) == (
            f"far.py:2:{column}: pixel {said[0]} of image 'a' is out of range for size {said[1]}, in invocation "
            "(0, 0, 0) of kernel 'k'"
        )
        assert (a == 7).all()


def test_formats_and_axes_are_compared(mgr):
    floats, bytes_, ints = (
        mgr.image(None, 3, 2, 1),
        mgr.image_t(np.zeros(24, np.uint8), 3, 2, 4, normalized=True),
        mgr.image_t(np.zeros(6, np.int32), 3, 2, 1),
    )
    with pytest.raises(
        TypeError, match=r"\('picture'\) has the format r32f, image 'image' rgba8 \(VK_FORMAT_R8G8B8A8_UNORM\)"
    ):
        blurred(bytes_, floats)
    with pytest.raises(TypeError, match=r"\('out'\) has the format r32f, image 'image' r32i"):
        blurred(floats, ints)
    with pytest.raises(ValueError, match=r"is 2-D, image 'image' is 1-D"):
        blurred(floats, mgr.image(None, 3, 0, 1), extent=(3, 2))
    with pytest.raises(TypeError, match=r"\('a'\) reads i32, image 'image' has f32"):
        fetched(floats, floats, mgr.image_t(np.zeros(24, np.int32), 3, 2, 4))
    with pytest.raises(TypeError, match=r"argument 'out': must be a kp.Image, not Tensor"):
        blurred(floats, mgr.zeros(6))
    with pytest.raises(TypeError, match=r"argument 'out': must be a kp.Image, not Tensor"):
        blurred.algorithm(mgr, [floats, mgr.zeros(6)])


def test_arrays_that_are_no_images():
    good = np.zeros((2, 3), np.float32)
    for bad, error, words in (
        (np.zeros((2, 3)), TypeError, "has dtype float64, an image of r32f must be float32"),
        (np.zeros(6, np.float32), ValueError, r"has shape \(6,\), Image2D\[f32\] takes \(height, width\)"),
        (np.zeros((2, 3, 4), np.float32), ValueError, r"has shape \(2, 3, 4\), Image2D\[f32\] takes \(height, width\)"),
        (np.zeros((0, 3), np.float32), ValueError, r"has shape \(0, 3\), but an image has at least one pixel"),
        ([1, 2, 3], ValueError, r"has shape \(3,\)"),
        (5, ValueError, None),
    ):
        with pytest.raises((error, TypeError) if words is None else error, match=words):
            blurred(bad, good)
    with pytest.raises(ValueError, match=r"Texture2D\[vec2\] takes \(height, width, channels\)"):
        sampled(np.zeros((2, 3, 5), np.float32), np.zeros((2, 2), np.float32), np.zeros((2, 3, 2), np.float32))
    with pytest.raises(TypeError, match=r"has dtype float64, Texture2D\[vec2\] takes float32, float16, uint8, int8"):
        sampled(np.zeros((2, 3, 2)), np.zeros((2, 2), np.float32), np.zeros((2, 3, 2), np.float32))
    with pytest.raises(
        TypeError, match=r"argument 'out': is the same array as another argument, of which one is an image"
    ):
        to_view(good, good)
    nested = [[0.0, 0.0], [0.0, 0.0]]
    with pytest.raises(
        TypeError, match=r"argument 'out': is written by the kernel; pass an array instead of nested lists"
    ):
        blurred(good, nested)


def test_arrays_of_any_layout(rng):
    wide = rng.integers(0, 9, (6, 8)).astype(np.float32)
    out = np.zeros((8, 6), np.float32).T
    run(blurred, wide.astype(">f4")[::2, ::2], out[::2, ::2])
    picture = [[8.0, 0.0], [0.0, 16.0]]
    result = np.zeros((2, 2), np.float32)
    blurred(picture, result)
    assert (result == 3).all()


@kp.kernel
def rows(i: Index, a: Image2D[f32]):
    for x in range(a.width):
        a[x, i] = f32(i)


def test_the_extent_is_asked_for_where_it_is_not_plain():
    a = np.zeros((3, 2), np.float32)
    for call in (rows, rows.emulate):
        with pytest.raises(TypeError, match=r"'a' has 2 axes"):
            call(a)
    run(rows, a, extent=3)
    assert a.tolist() == [[0, 0], [1, 1], [2, 2]]


def test_the_parameters_of_images():
    a, where = sampled.params[1:3]
    assert (a.kind, a.type, a.format, a.dtype, a.ndim, a.components) == (
        "texture",
        "Texture2D[vec2]",
        None,
        "f32",
        2,
        2,
    )
    out = sampled.params[3]
    assert (out.kind, out.type, out.format, out.dtype, out.size) == ("image", "Image2D[vec2]", "rg32f", "f32", 8)
    assert (out.reads, out.writes, a.reads, a.writes, where.kind) == (False, True, True, False, "buffer")
    bytes_ = cube.params[1]
    assert (bytes_.type, bytes_.format, bytes_.dtype, bytes_.ndim) == ('Image3D[uvec4, "rgba8ui"]', "rgba8ui", "u8", 3)


@pytest.fixture
def rng():
    return np.random.default_rng(7)
