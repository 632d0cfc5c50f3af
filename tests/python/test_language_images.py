"""Images and textures in kernels: what a device makes of them is what kp.emulate does."""

import textwrap

import kp
import numpy as np
import pytest
from kp.lang import Image2D, Index2, f32, ivec2


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
                b.write(ivec2(0, 1), a.read(index.yx))
        """)
    )
    a = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    b = np.zeros_like(a, dtype=np.int16)
    run(kernel, a, b, extent=(3, 2))
    assert b[0, 2].tolist() == [20, -91, 10, 11]


@pytest.fixture
def rng():
    return np.random.default_rng(7)
