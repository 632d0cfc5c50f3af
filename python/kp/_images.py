"""Arrays as images, for kernels that are called with arrays: the last axis but that of the channels is x, as in every
library that keeps pictures in arrays."""

from __future__ import annotations

from . import _kp
from ._dtypes import NUMPY_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._kp import Image, Param

KINDS = ("image", "texture", "sampler")  # of parameters that take images
# What can be read as each type, and whether it is normalized then.
_READ_AS = {
    "f32": {"float32": False, "float16": False, "uint8": True, "int8": True},
    "i32": {"int32": False, "int16": False, "int8": False},
    "u32": {"uint32": False, "uint16": False, "uint8": False},
}
# The letters and bits of the formats of each of Kompute's element types.
_STORED = {
    member.name: ({"f": "f", "i": "i", "u": "ui"}[_kp.DTYPES[member.value][0][0]], _kp.DTYPES[member.value][0][1:])
    for member in _kp.DataTypes
    if member.value >= 0 and _kp.DTYPES[member.value][0][0] in "fiu"
}
_AXES = ("width", "height", "depth")
FOURTH = "images have 1, 2 or 4 channels, so give the 3 a fourth: numpy.insert(x, 3, 255, axis=-1), or 1.0 for floats"


def is_normalized(format: str | None) -> bool:
    """Whether a format keeps floats in integers: "rgba8", "r8snorm"."""
    return format is not None and format.endswith(("8", "snorm"))


def describe(array: Any, param: Param, what: str) -> tuple[Any, tuple[int, ...], int, bool]:
    """An array as an image for `param`: the array, its size from x on, its channels, and whether it is normalized. TypeError,
    ValueError: it cannot be one."""
    import numpy

    if param.kind == "sampler":
        raise TypeError(f"{what}: must be a kp.Image, whose filter and address mode count, not {type(array).__name__}")
    wanted = NUMPY_NAMES[param.dtype]
    if isinstance(array, (list, tuple)):
        numbers = numpy.frombuffer(_kp.numbers(array, param.dtype, what), wanted)
        try:
            array = numbers.reshape(numpy.shape(array))
        except ValueError:
            raise ValueError(f"{what}: the nested sequences must have one shape") from None
    try:
        pixels = numpy.asarray(array)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{what}: an array that cannot be read as pixels ({error})") from None
    pixels = numpy.ascontiguousarray(pixels, dtype=pixels.dtype.newbyteorder("="))
    name = pixels.dtype.name
    if param.kind == "image" and name != wanted:
        raise TypeError(f"{what}: has dtype {name}, an image of {param.format} must be {wanted}")
    if param.kind == "texture" and name not in _READ_AS[param.dtype]:
        known = ", ".join(_READ_AS[param.dtype])
        raise TypeError(f"{what}: has dtype {name}, {param.type} takes {known}")
    flat = pixels.ndim == param.ndim
    channels = 1 if flat or not pixels.shape else pixels.shape[-1]
    allowed = (param.components,) if param.kind == "image" else (1, 2, 3, 4)
    if pixels.ndim not in (param.ndim, param.ndim + 1) or channels not in allowed:
        axes = ", ".join(reversed(_AXES[: param.ndim]))
        shape = f"({axes},)" if param.ndim == 1 else f"({axes})"
        if allowed != (1,):
            shape = f"({axes}, {allowed[0] if len(allowed) == 1 else 'channels'})"
        mend = f"; {FOURTH}" if channels == 3 and pixels.ndim == param.ndim + 1 else ""
        raise ValueError(f"{what}: has shape {pixels.shape}, {param.type} takes {shape}{mend}")
    if 0 in pixels.shape:
        raise ValueError(f"{what}: has shape {pixels.shape}, but an image has at least one pixel")
    size = tuple(reversed(pixels.shape[: param.ndim]))
    normalized = is_normalized(param.format) if param.kind == "image" else _READ_AS[param.dtype][name]
    return pixels, size, channels, normalized


def type_of(image: Image, what: str) -> str:
    """The type of a parameter that takes the image, stored as it is."""
    channels = image.num_channels
    if channels == 3:
        raise TypeError(f"{what}: has 3 channels; a kernel's images have 1, 2 or 4, its textures any")
    dtype = image.data_type().name
    kind, bits = _STORED[dtype]
    format = f"{'rgba'[:channels]}{bits}{('' if kind == 'ui' else 'snorm') if image.normalized else kind}"
    scalar, letter = ("f32", "") if kind == "f" or image.normalized else ("i32", "i") if kind == "i" else ("u32", "u")
    texel = scalar if channels == 1 else f"{letter}vec{channels}"
    return f'Image{len(image.shape) - 1}D[{texel}, "{format}"]'


def check_image(image: Any, what: str) -> None:
    """That it is one: what it must be else, the runtime says."""
    if not isinstance(image, _kp.Image):
        raise TypeError(f"{what}: must be a kp.Image, not {type(image).__name__}")


__all__ = ["FOURTH", "KINDS", "check_image", "describe", "is_normalized", "type_of"]
