"""How textures are sampled: by the words of their types, or else as their images say, against the formulas of the Vulkan
specification ("Texel Coordinate Systems", "Wrapping Operation", "Texel Filtering") in NumPy."""

import itertools

import kp
import numpy as np
import pytest
from kp.lang import Array, Image2D, Index, Index2, Texture2D, f32, vec2, vec4

MODES = ["clamp_to_edge", "repeat", "mirrored_repeat", "clamp_to_border"]
SIZES = {1: (5,), 2: (5, 3), 3: (5, 3, 4)}  # x first


def wrapped(i, size, mode):
    """The texel that index i is, an array; -1: the border."""
    if mode == "repeat":
        return i % size
    if mode == "mirrored_repeat":
        n = i % (2 * size) - size
        return size - 1 - np.where(n >= 0, n, -(1 + n))
    if mode == "clamp_to_edge":
        return np.clip(i, 0, size - 1)
    return np.where((i >= 0) & (i < size), i, -1)


def texels(data, indices):
    """Those at the indices, x first; zeros where one is the border."""
    outside = np.any([i < 0 for i in indices], axis=0)
    return np.where(outside, 0, data[tuple(reversed(indices))])


def expected(data, places, filter, mode, unnormalized):
    """Samples of an array of numbers, at places of shape (count, axes)."""
    sizes = data.shape[::-1]
    at = [places[:, k].astype(np.float64) * (1 if unnormalized else sizes[k]) for k in range(len(sizes))]
    if filter == "nearest":
        return texels(data, [wrapped(np.floor(u).astype(int), n, mode) for u, n in zip(at, sizes, strict=True)])
    total = np.zeros(len(places))
    for corner in itertools.product((0, 1), repeat=len(sizes)):
        weight, indices = np.ones(len(places)), []
        for u, n, step in zip(at, sizes, corner, strict=True):
            first = np.floor(u - 0.5)
            part = u - 0.5 - first
            weight = weight * (part if step else 1 - part)
            indices.append(wrapped(first.astype(int) + step, n, mode))
        total += weight * texels(data, indices)
    return total


def places_for(axes, unnormalized):
    """Multiples of a sixteenth of a texel, which devices weigh exactly, but for edges, where rounding decides."""
    rng = np.random.default_rng(axes)
    grid = rng.integers(-20, 20, (64, axes)) + rng.choice([1, 3, 5, 7, 9, 11, 13, 15], (64, axes)) / 16
    return (grid if unnormalized else grid / np.array(SIZES[axes])).astype(np.float32)


def sampler_kernel(axes, texel, words):
    place = "places[i]" if axes == 1 else f"vec{axes}({', '.join(f'places[{axes} * i + {k}]' for k in range(axes))})"
    texture = f"Texture{axes}D[{', '.join([texel, *(repr(word) for word in words)])}]"
    return kp.kernel_from_source(
        f"def k(i: Index, t: {texture}, places: Array[f32], out: Array[{texel}]):\n    out[i] = t.sample({place})\n"
    )


CASES = [
    (axes, filter, mode, unnormalized)
    for axes in (1, 2, 3)
    for filter in ("nearest", "linear")
    for mode in MODES
    for unnormalized in (False, True)
    if not unnormalized or (axes < 3 and mode.startswith("clamp"))
]


@pytest.mark.parametrize(("axes", "filter", "mode", "unnormalized"), CASES)
def test_words_of_a_type(axes, filter, mode, unnormalized):
    words = [mode, filter, *(["unnormalized"] if unnormalized else [])]
    k = sampler_kernel(axes, "f32", words)
    assert k.params[1].type == f"Texture{axes}D[f32, {', '.join(f'{chr(34)}{word}{chr(34)}' for word in words)}]"
    data = np.random.default_rng(7).integers(0, 256, SIZES[axes][::-1]).astype(np.uint8)
    places, out = places_for(axes, unnormalized), np.zeros(64, np.float32)
    k(data, places.reshape(-1), out)
    wanted = expected(data / 255, places, filter, mode, unnormalized)
    np.testing.assert_allclose(out, wanted, atol=1e-6 if filter == "nearest" else 2**-7)
    k.emulate(data, places.reshape(-1), out)
    np.testing.assert_allclose(out, wanted, atol=1e-6)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("filter", ["nearest", "linear"])
def test_what_a_type_leaves_out_is_the_images(filter, mode):
    mgr = kp.Manager()
    data = np.random.default_rng(8).integers(0, 256, (3, 5)).astype(np.uint8)
    picture = mgr.image_t(data, 5, 3, 1, normalized=True, filter=filter, address_mode=mode)
    assert (picture.filter, picture.address_mode) == (filter, mode)
    mgr.sequence().record(kp.OpSyncDevice([picture])).eval()
    places, out = places_for(2, False), np.zeros(64, np.float32)
    for words, used_filter, used_mode in [
        ([], filter, mode),
        (["linear"], "linear", mode),
        (["repeat"], filter, "repeat"),
        (["nearest", "clamp_to_border"], "nearest", "clamp_to_border"),
    ]:
        sampler_kernel(2, "f32", words)(picture, places.reshape(-1), out)
        wanted = expected(data / 255, places, used_filter, used_mode, False)
        np.testing.assert_allclose(out, wanted, atol=2**-7, err_msg=str(words))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("dtype", "texel"), [(np.int32, "i32"), (np.uint16, "u32"), (np.int8, "i32")])
def test_integers(dtype, texel, mode):
    info = np.iinfo(dtype)
    data = np.random.default_rng(9).integers(info.min, info.max, (3, 5), dtype, endpoint=True)
    places, out = places_for(2, False), np.zeros(64, {"i32": np.int32, "u32": np.uint32}[texel])
    sampler_kernel(2, texel, [mode])(data, places.reshape(-1), out)
    assert out.tolist() == expected(data, places, "nearest", mode, False).tolist()


@kp.kernel
def two_ways(i: Index, a: Texture2D[f32, "linear"], b: Texture2D[f32, "unnormalized", "nearest"], out: Array[f32]):
    x = f32(i) + 0.25
    out[i] = a.sample(vec2(x / f32(a.width), 0.5)) + b.sample(vec2(x, 0.5)) + b[i, 0]


def test_two_textures_of_one_image_and_of_floats():
    mgr = kp.Manager()
    data = np.arange(1, 9, dtype=np.float32) ** 2
    picture = mgr.image_t(data, 8, 1, 1)
    mgr.sequence().record(kp.OpSyncDevice([picture])).eval()
    x = np.arange(8) + 0.25 - 0.5
    before = data[np.clip(np.floor(x).astype(int), 0, 7)]
    wanted = 0.25 * before + 0.75 * data[np.clip(np.floor(x).astype(int) + 1, 0, 7)] + data + data
    out = np.zeros(8, np.float32)
    try:
        two_ways(picture, picture, out, extent=8)
    except kp.UnsupportedError as error:  # filters of 32-bit floats are Vulkan's to leave out
        assert "has a linear filter, with which" in str(error)
    else:
        np.testing.assert_allclose(out, wanted, rtol=2**-7)
    two_ways.emulate(picture, picture, out, extent=8)
    np.testing.assert_allclose(out, wanted, rtol=1e-6)


def test_the_module_tells_it_to_whoever_runs_it():
    text = "def k(i: Index, t: Texture1D[f32, 'linear'], out: Array[f32]):\n    out[i] = t.sample(0.5)\n"
    words = kp.kernel_from_source(text).spirv()
    assert b"kp sampler\n0\n0\n2\n0\n0\n" in words


@kp.kernel
def halved(at: Index2, large: Texture2D[vec4, "linear", "unnormalized"], small: Image2D[vec4, "rgba8"]):
    small[at] = large.sample(2.0 * vec2(at) + 1.0)


def test_a_pyramid_is_an_image_for_each_level():
    levels = [np.random.default_rng(4).integers(0, 256, (8, 16, 4)).astype(np.uint8)]
    while levels[-1].shape[0] > 1:
        rows, columns = levels[-1].shape[:2]
        levels.append(np.zeros((rows // 2, columns // 2, 4), np.uint8))
        halved(levels[-2], levels[-1])
        mean = levels[-2].reshape(rows // 2, 2, columns // 2, 2, 4).mean(axis=(1, 3))
        assert np.abs(levels[-1] - mean).max() <= 2
    assert levels[-1].shape == (1, 2, 4)


@pytest.mark.parametrize(
    ("type_", "message"),
    [
        ('Texture2D[f32, "lineer"]', 'there is no "lineer"'),
        ('Texture2D[f32, "rgba8"]', 'a texture takes images of any format; leave out "rgba8"'),
        ('Texture2D[f32, "linear", "nearest"]', "a texture has one filter"),
        ('Texture2D[f32, "repeat", "clamp_to_edge"]', "a texture has one address mode"),
        ("Texture2D[f32, linear]", "how a texture is sampled is a text"),
        ('Texture2D[ivec4, "linear"]', "integers are not mixed"),
        ('Texture3D[f32, "unnormalized"]', 'an "unnormalized" texture has one or two axes'),
        ('Texture2D[f32, "unnormalized", "repeat"]', 'is "clamp_to_edge" or "clamp_to_border"'),
    ],
)
def test_words_that_are_refused(type_, message):
    with pytest.raises(kp.CompileError) as caught:
        kp.kernel_from_source(f"def k(i: Index, t: {type_}, out: Array[f32]):\n    pass\n")
    assert message in caught.value.msg


def test_words_of_images_that_are_refused():
    mgr = kp.Manager()
    with pytest.raises(
        ValueError, match="^address_mode: 'mirror' is none of clamp_to_edge, repeat, mirrored_repeat, c"
    ):
        mgr.image_t(np.zeros(4, np.float32), 4, 0, 1, address_mode="mirror")
    with pytest.raises(ValueError, match="^filter: 'cubic' is none of nearest, linear$"):
        mgr.image_t(np.zeros(4, np.float32), 4, 0, 1, filter="cubic")
