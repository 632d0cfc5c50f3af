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
        ({"filter": "linear", "wrap": "repeat"}, [50, 0, 50, 100, 50]),
        ({"filter": "linear", "wrap": "zero"}, [0, 0, 50, 100, 50]),
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
