"""kp.Image: formats, Kompute's interface, shaders that store and sample, copies. A format that a driver lacks is refused by name."""

import kp
import numpy as np
import pytest

MULTIPLY = """
#version 450
layout(set = 0, binding = 0, {0}) uniform {1}image2D lhs;
layout(set = 0, binding = 1, {0}) uniform {1}image2D rhs;
layout(set = 0, binding = 2, {0}) uniform {1}image2D product;
void main() {{
    ivec2 at = ivec2(gl_GlobalInvocationID.x, 0);
    imageStore(product, at, imageLoad(lhs, at) * imageLoad(rhs, at));
}}
"""


def image_t(mgr, *args, **options):
    """None where the device has no such images."""
    try:
        return mgr.image_t(*args, **options)
    except kp.UnsupportedError as error:
        assert "has no 2-D images of VK_FORMAT_" in str(error)
        return None


@pytest.mark.parametrize(
    ("dtype", "layout", "kind"),
    [
        ("float32", "r32f", ""),
        ("int32", "r32i", "i"),
        ("uint32", "r32ui", "u"),
        ("int16", "r16i", "i"),
        ("uint16", "r16ui", "u"),
        ("int8", "r8i", "i"),
        ("uint8", "r8ui", "u"),
        ("float16", "r16f", ""),
    ],
)
def test_komputes_image_types(mgr, dtype, layout, kind):
    lhs, rhs = np.array([2, 3, 2], dtype=dtype), np.array([35, 12, 23], dtype=dtype)
    images = [image_t(mgr, array, 3, 1, 1) for array in (lhs, rhs, np.zeros_like(lhs))]
    if None in images:
        return
    try:
        product = mgr.algorithm(images, kp.compile_shader(MULTIPLY.format(layout, kind)))
    except kp.UnsupportedError as error:
        assert "storage image" in str(error) or "shaderStorageImageExtendedFormats" in str(error)
        return
    seq = mgr.sequence().record(kp.OpSyncDevice(images)).record(kp.OpAlgoDispatch(product))
    seq.record(kp.OpSyncLocal([images[2]])).eval()
    assert np.all(images[2].data() == lhs * rhs)
    assert images[2].data().dtype == dtype


def test_an_image_is_a_memory(mgr):
    image = mgr.image([1, 2, 3, 4, 5, 6, 7, 8], 2, 1, 4)
    assert isinstance(image, kp.Image)
    assert isinstance(image, kp.Memory)
    assert not isinstance(image, kp.Tensor)
    assert (image.size(), len(image), image.shape) == (8, 8, (1, 2, 4))
    assert (image.width, image.height, image.depth, image.num_channels) == (2, 1, 1, 4)
    assert image.data_type() == kp.DataTypes.float
    assert image.memory_type() == kp.MemoryTypes.device
    assert image.is_init()
    assert image.data().shape == (8,)
    assert np.asarray(image).shape == (1, 2, 4)
    np.asarray(image)[0, 1] = 9
    assert image.data().tolist() == [1, 2, 3, 4, 9, 9, 9, 9]
    image.set_data(range(8))
    assert image.data()[7] == 7
    assert repr(image) == "kp.Image(shape=(1, 2, 4), dtype=float32, memory_type=device)"
    array = image.data()
    image.destroy()
    assert not image.is_init()
    assert array[6] == 6
    with pytest.raises(kp.StateError, match=r"^the image is destroyed$"):
        image.data()
    assert "destroyed" in repr(image)


def test_lines_and_volumes(mgr):
    line = mgr.image(range(5), 5, 0, 1)
    assert line.shape == (5, 1)
    volume = mgr.image(range(24), 4, 3, 1, depth=2)
    assert volume.shape == (2, 3, 4, 1)
    assert np.asarray(volume)[1, 2, 3, 0] == 23
    assert mgr.image(None, 3, 3, 1).data().tolist() == [0] * 9


def test_sampling(mgr):
    program = kp.compile_shader(
        """
        #version 450
        layout(binding = 0) uniform sampler2D image;
        layout(binding = 1) buffer Out { float result[]; };
        void main() {
            float x = float(gl_GlobalInvocationID.x) / 4.0;
            result[gl_GlobalInvocationID.x] = texture(image, vec2(x, 0.5)).r * 255.0;
        }
        """
    )
    for options, expected in (
        ({"filter": "linear"}, [0, 0, 50, 100, 100]),
        ({"filter": "linear", "address_mode": "repeat"}, [50, 0, 50, 100, 50]),
        ({"filter": "linear", "address_mode": "clamp_to_border"}, [0, 0, 50, 100, 50]),
    ):
        image = mgr.image_t(np.array([0, 100], dtype=np.uint8), 2, 1, 1, normalized=True, **options)
        out = mgr.zeros(5)
        work = mgr.algorithm([image, out], program, workgroup=(5, 1, 1))
        seq = mgr.sequence().record(kp.OpSyncDevice([image])).record(kp.OpAlgoDispatch(work))
        seq.record(kp.OpSyncLocal([out])).eval()
        np.testing.assert_allclose(out.data(), expected, atol=1)


def test_copies_both_ways(mgr):
    tensor, back = mgr.tensor(range(12)), mgr.zeros(12)
    first, second = mgr.image(None, 4, 3, 1), mgr.image(None, 4, 3, 1)
    seq = mgr.sequence().record(kp.OpSyncDevice([tensor]))
    for pair in ([tensor, first], [first, second], [second, back]):
        seq.record(kp.OpCopy(pair))
    seq.record(kp.OpSyncLocal([first, second, back])).eval()
    for memory in (first, second, back):
        np.testing.assert_array_equal(memory.data(), np.arange(12))
    with pytest.raises(ValueError, match=r"tensor 'tensor' has 12 elements, image 'image' has 9"):
        mgr.sequence().record(kp.OpCopy([tensor, mgr.image(None, 3, 3, 1)]))
    seq = mgr.sequence().record(kp.OpFill([first], 2.5)).record(kp.OpSyncLocal([first])).eval()
    assert set(first.data()) == {2.5}


def test_what_no_image_can_be_is_refused(mgr):
    with pytest.raises(ValueError, match=r"has 3 elements, an image of 2 x 2 x 1 pixels and 1 channels has 4"):
        mgr.image([1, 2, 3], 2, 2, 1)
    with pytest.raises(ValueError, match=r"num_channels: must be 1 to 4, not 0"):
        mgr.image([1], 1, 1, 0)
    with pytest.raises(ValueError, match=r"5 channels, at most 4"):
        mgr.image([1] * 5, 1, 1, 5)
    with pytest.raises(TypeError, match=r"there are no images of f64"):
        mgr.image_t(np.zeros(4), 2, 2, 1)
    with pytest.raises(ValueError, match=r"filter: 'cubic' is none of nearest, linear"):
        mgr.image([1], 1, 1, 1, filter="cubic")
    with pytest.raises(kp.LimitError, match=r"maxImageDimension2D of .* is \d+ for VK_FORMAT_R32_SFLOAT, the width is"):
        mgr.image(None, 1 << 20, 1, 1)
    with pytest.raises(TypeError):
        mgr.image_t(None, 1, 1, 1)
    with pytest.raises(TypeError):
        kp.Image()
    with pytest.raises((TypeError, kp.StateError, ValueError)):
        mgr.image([1], -1, 1, 1)


def test_a_tensor_is_no_image_to_a_shader(mgr):
    program = kp.compile_shader(MULTIPLY.format("r32f", ""))
    tensor = mgr.zeros(3)
    with pytest.raises(TypeError, match=r"is a storage image, 'tensor' is a tensor"):
        mgr.algorithm([tensor] * 3, program)
    image = mgr.image(None, 3, 1, 1)
    with pytest.raises(TypeError, match=r"is a storage buffer, 'image' is an image"):
        mgr.algorithm([image], kp.compile("def f(i: Index, x: Array[f32]):\n    x[i] = 1.0\n"))


def test_a_called_kernel_takes_no_image(mgr):
    kernel = kp.kernel_from_source("def k(i: Index, x: Array[f32]):\n    x[i] = 1.0\n")
    image = mgr.image(np.zeros(6), 3, 2, 1)
    with pytest.raises(TypeError, match=r"^k\(\) argument 'x': must be a tensor or an array, not an image$"):
        kernel(image)
    assert not image.data().any()


@pytest.mark.parametrize("shape", [(9, 2), (5, 7, 1), (5, 7, 4), (3, 4, 6, 1)], ids=str)
def test_parts_of_images(mgr, shape):
    """As slices of NumPy arrays, whose last axes are x and the channels."""
    *axes, channels = shape
    pixels = np.random.default_rng(7).random(shape, dtype=np.float32)
    width, height, depth = (*reversed(axes), 0, 0)[:3]
    image, other = (mgr.image(data, width, height, channels, depth=depth) for data in (pixels, -pixels))
    start, size = [1, 2, 1][: len(axes)], [3, 2, 2][: len(axes)]
    here = tuple(slice(s, s + n) for s, n in reversed(list(zip(start, size, strict=True))))
    corner = tuple(slice(0, n) for n in reversed(size))
    part = mgr.zeros(pixels[here].size)
    seq = mgr.sequence().record(kp.OpSyncDevice([image, other]))
    seq.record(kp.OpCopyRegion(image, part, source_offset=start, size=size))  # out
    seq.record(kp.OpCopyRegion(part, other, target_offset=start, size=size))  # in
    seq.record(kp.OpCopyRegion(image, other, start, size=size))  # across, to the corner
    seq.record(kp.OpSyncLocal([part, other])).eval()
    np.testing.assert_array_equal(part.data(), pixels[here].reshape(-1))
    wanted = -pixels
    wanted[here] = pixels[here]
    wanted[corner] = pixels[here]
    np.testing.assert_array_equal(np.asarray(other), wanted)
    rest = pixels[tuple(slice(s, None) for s in reversed(start))]
    tail = mgr.zeros(rest.size)
    mgr.sequence().record(kp.OpCopyRegion(image, tail, start)).record(kp.OpSyncLocal([tail])).eval()
    np.testing.assert_array_equal(tail.data(), rest.reshape(-1))
    whole = mgr.zeros(pixels.size)
    mgr.sequence().record(kp.OpCopyRegion(image, whole)).record(kp.OpSyncLocal([whole])).eval()
    np.testing.assert_array_equal(whole.data(), pixels.reshape(-1))


def test_parts_move_within_an_image_and_out_of_views(mgr):
    pixels = np.arange(4 * 6 * 4, dtype=np.uint8).reshape(4, 6, 4)
    image, rows = mgr.image_t(pixels, 6, 4, 4), mgr.tensor_t(255 - pixels)
    seq = mgr.sequence().record(kp.OpSyncDevice([image, rows]))
    seq.record(kp.OpCopyRegion(image, image, (0, 0), (3, 0), (3, 4)))  # the left half to the right
    seq.record(kp.OpCopyRegion(rows[48:72], image, target_offset=(0, 1), size=(6, 1)))
    seq.record(kp.OpSyncLocal([image])).eval()
    wanted = pixels.copy()
    wanted[:, 3:] = pixels[:, :3]
    wanted[1] = 255 - pixels[2]
    np.testing.assert_array_equal(np.asarray(image), wanted)


def test_parts_that_do_not_fit(mgr):
    image, small = mgr.image(range(12), 4, 3, 1), mgr.image(range(4), 2, 2, 1)
    twelve, two = mgr.zeros(12), mgr.zeros(2)
    seq = mgr.sequence()
    for args, error, words in (
        ((twelve, two), TypeError, r"are tensors, which have views instead of regions"),
        (
            (image, mgr.tensor_t(np.zeros(12, np.int32))),
            TypeError,
            r"image 'image' holds f32, tensor 'tensor' holds i32",
        ),
        ((image, two, (3, 0)), ValueError, r"tensor 'tensor' has 2 elements, 1 x 3 x 1 pixels of image 'image' have 3"),
        ((image, two, (), (1,), (2, 1)), ValueError, r"tensor 'tensor' has no pixels to begin at \(1, 0, 0\)"),
        ((image, two, (4,)), IndexError, r"0 pixels from 4 on, on axis x, but image 'image' has 4"),
        ((image, two, (3, 1), (), (2, 1)), IndexError, r"2 pixels from 3 on, on axis x, but image 'image' has 4"),
        ((two, image, (), (0, 2), (1, 2)), IndexError, r"2 pixels from 2 on, on axis y, but image 'image' has 3"),
        ((image, two, (0, 0, 1)), IndexError, r"from 1 on, on axis z, but image 'image' has 1"),
        ((image, two, (2**32 - 1,), (), (2**32 - 1,)), IndexError, r"on axis x"),
        ((image, small), IndexError, r"4 pixels from 0 on, on axis x, but image 'image' has 2"),
        ((image, image, (), (1, 1), (2, 2)), ValueError, r"the parts of image 'image' overlap"),
        ((image, image), ValueError, r"the parts of image 'image' overlap"),
        ((image, mgr.image(None, 4, 3, 2)), ValueError, r"has 1 channels, image 'image' has 2"),
        ((image, mgr.image(None, 4, 0, 1), (), (), (4, 1)), ValueError, r"has 2 axes, image 'image' has 1"),
    ):
        with pytest.raises(error, match=words):
            seq.record(kp.OpCopyRegion(*args))
    assert seq.eval() is seq  # nothing was recorded
    for bad in ("12", (1, 2, 3, 4), (1.5,), (-1,)):
        with pytest.raises((TypeError, ValueError), match="size"):
            kp.OpCopyRegion(image, two, size=bad)
    with pytest.raises(TypeError, match=r"memories\[1\]: must be a kp.Tensor"):
        kp.OpCopyRegion(image, [1, 2])
    bytes_ = mgr.tensor_t(np.zeros(16, np.uint8))
    try:
        pixels = mgr.image_t(np.zeros(3, np.uint8), 3, 1, 1)
    except kp.UnsupportedError:
        return
    with pytest.raises(kp.UnsupportedError, match="has to begin at a multiple of 4"):
        seq.record(kp.OpCopyRegion(bytes_[2:5], pixels))
    seq.record(kp.OpCopyRegion(bytes_[4:7], pixels)).eval()
