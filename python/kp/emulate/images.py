"""Images in CPython: NumPy arrays, or the host sides of kp.Images, as a kernel sees them."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .scalars import f32, i32, u32
from .vectors import Vector, typed, vector

_KINDS: dict[str, Any] = {"f": f32, "i": i32, "u": u32}


class Format:
    """How the pixels of an image are stored: "rgba8", "r16f"."""

    def __init__(self, name: str) -> None:
        found = re.fullmatch(r"(r|rg|rgba)(8|16|32)_?(f|i|ui|snorm|unorm|)", name)
        if found is None:
            raise ValueError(f"there is no format {name!r}")
        channels, bits, kind = found.groups()
        letter = {"f": "f", "i": "i", "ui": "u", "snorm": "i"}.get(kind, "u")
        self.name, self.channels = name, len(channels)
        self.dtype = np.dtype(f"{letter}{int(bits) // 8}")
        self.normalized = kind in ("snorm", "unorm", "")


class ImageSpec:
    """A type: Image2D[f32], Image2D[vec4, "rgba8"], Texture2D[f32], or pyshader's "2d rgba8". `scalar` is what a channel reads
    as, `texel` what a pixel does."""

    def __init__(
        self,
        axes: int,
        texel: Any,
        format: str | None,
        stored: bool,
        scalar: Any = None,
        sampling: tuple[str, ...] = (),
    ) -> None:
        self.axes, self.texel, self.stored, self.sampling = axes, texel, stored, sampling
        self.scalar = scalar or getattr(texel, "scalar", texel)
        if stored and format is None:
            names = {f32: "f", i32: "i", u32: "ui"}
            format = f"{'rgba'[: getattr(texel, 'size', 1)]}32{names[self.scalar]}"
        self.format = Format(format) if format is not None else None

    @classmethod
    def of_pyshader(cls, text: str) -> ImageSpec:
        axes, _, what = text.partition(" ")
        if what in ("f16", "f32", "i16", "i32", "u8", "u16", "u32"):
            scalar = _KINDS[what[0]]
            return cls(int(axes[0]), vector(f32 if scalar is f32 else i32, 4), None, False, scalar)
        format = Format(what)
        scalar = f32 if format.normalized else _KINDS[format.dtype.kind]
        return cls(int(axes[0]), vector(f32 if scalar is f32 else i32, 4), what, True, scalar)


class _Maker:
    """Image2D, before its brackets."""

    def __init__(self, axes: int, stored: bool) -> None:
        self.axes, self.stored = axes, stored

    def __getitem__(self, texel: Any) -> ImageSpec:
        texel, *words = texel if isinstance(texel, tuple) else (texel,)
        if not self.stored:
            return ImageSpec(self.axes, texel, None, False, sampling=tuple(words))
        return ImageSpec(self.axes, texel, words[0] if words else None, True)


MAKERS = {f"{name}{axes}D": _Maker(axes, name == "Image") for name in ("Image", "Texture") for axes in (1, 2, 3)}


class Sampler:
    """How textures are sampled: as the words of a type say, or else as the image does."""

    def __init__(self, name: str, given: Any, words: tuple[str, ...] = ()) -> None:
        self.unnormalized = "unnormalized" in words
        self.filter = next((w for w in words if w in ("nearest", "linear")), getattr(given, "filter", "nearest"))
        own = getattr(given, "address_mode", "clamp_to_edge")
        if self.unnormalized and own != "clamp_to_border":
            own = "clamp_to_edge"
        self.address_mode = next((w for w in words if w in _MODES), own)


# Where a coordinate outside of an image of n pixels reads; None: nowhere, zeros.
_MODES: dict[str, Callable[[int, int], int | None]] = {
    "clamp_to_edge": lambda k, n: min(max(k, 0), n - 1),
    "repeat": lambda k, n: k % n,
    "mirrored_repeat": lambda k, n: min(k % (2 * n), 2 * n - 1 - k % (2 * n)),
    "clamp_to_border": lambda k, n: k if 0 <= k < n else None,
}


class Image:
    """An image or texture. Outside of it a read gives 0 and a write does nothing, unless the kernel is checked."""

    def __init__(self, name: str, spec: ImageSpec, given: Any, checked: bool = False) -> None:
        self.name, self.spec, self.checked = name, spec, checked
        self.own = Sampler(name, given, spec.sampling)
        self.data = given if isinstance(given, np.ndarray) else np.asarray(given)
        self._check_type(getattr(given, "normalized", None))
        if self.data.ndim == spec.axes:
            self.data = self.data[..., None]
        channels = self.data.shape[-1]
        if self.data.ndim != spec.axes + 1 or channels > 4 or (spec.format and channels != spec.format.channels):
            raise TypeError(f"argument '{name}': has shape {self.data.shape}, which is no image of {spec.axes} axes")
        self.sizes = tuple(reversed(self.data.shape[:-1]))

    def _check_type(self, normalized: bool | None) -> None:
        dtype, format = self.data.dtype, self.spec.format
        if format is not None and (dtype != format.dtype or normalized not in (None, format.normalized)):
            raise TypeError(f"argument '{self.name}': has dtype {dtype}, an image of {format.name} has {format.dtype}")
        kinds = {"f": "fiu", "i": "i", "u": "u"}[np.dtype(self.spec.scalar.numpy).kind]
        if dtype.kind not in kinds or (self.spec.scalar is f32 and dtype.kind in "iu" and dtype.itemsize > 1):
            raise TypeError(
                f"argument '{self.name}': has dtype {dtype}, which does not read as {self.spec.scalar.__name__}"
            )

    @property
    def size(self) -> Any:
        return i32(self.sizes[0]) if self.spec.axes == 1 else vector(i32, self.spec.axes)(*map(i32, self.sizes))

    @property
    def width(self) -> Any:
        return i32(self.sizes[0])

    @property
    def height(self) -> Any:
        return i32(self.sizes[1])

    @property
    def depth(self) -> Any:
        return i32(self.sizes[2])

    def _place(self, at: Any) -> tuple[int, ...] | None:
        """The index of a pixel in the array; None: it is outside."""
        places = [int(k) for k in at] if isinstance(at, (tuple, Vector)) else [int(at)]
        inside = all(0 <= place < size for place, size in zip(places, self.sizes, strict=True))
        if self.checked and not inside:
            place, size = (tuple(n) if len(n) > 1 else n[0] for n in (places, self.sizes))
            raise IndexError(f"pixel {place} of image '{self.name}' is out of range for size {size}")
        return tuple(reversed(places)) if inside else None

    def _four(self, place: tuple[int, ...]) -> list[float]:
        """The four components of a pixel."""
        raw = self.data[place]
        values = raw.astype(np.float64) if self.spec.scalar is f32 else raw
        if self.spec.scalar is f32 and self.data.dtype.kind in "iu":
            values = np.maximum(values / np.iinfo(self.data.dtype).max, -1.0)
        return self._complete(values.tolist())

    def _complete(self, channels: list[float]) -> list[float]:
        """Four components: of the channels that an image lacks, the fourth is 1 and the others 0."""
        return channels + [0, 0, 0, 1][len(channels) :]

    def _texel(self, four: list[float]) -> Any:
        texel = self.spec.texel
        kind = getattr(texel, "scalar", texel)
        if self.spec.scalar is u32 and kind is i32:
            four = [int(x) - 2**32 if x >= 2**31 else x for x in four]
        parts = [kind(x) for x in four[: getattr(texel, "size", 1)]]
        return texel(*parts) if issubclass(texel, Vector) else parts[0]

    def __getitem__(self, at: Any) -> Any:
        place = self._place(at)
        return self._texel([0, 0, 0, 0] if place is None else self._four(place))

    def __setitem__(self, at: Any, value: Any) -> None:
        place = self._place(at)
        value = typed(value, self.spec.texel, self.name)
        if place is not None:
            parts = list(value) if isinstance(value, Vector) else [value]
            self.data[place] = [self._stored(part) for part in parts[: self.data.shape[-1]]]

    def _stored(self, value: Any) -> Any:
        dtype = self.data.dtype
        if dtype.kind == "f":
            with np.errstate(over="ignore"):
                return dtype.type(float(value))
        limits = np.iinfo(dtype)
        if self.spec.scalar is f32:
            low = -1.0 if dtype.kind == "i" else 0.0
            return dtype.type(round(min(max(float(value), low), 1.0) * limits.max))
        number = int(value) % 2**32 if dtype.itemsize == 4 and dtype.kind == "u" else int(value)
        if not limits.min <= number <= limits.max:
            raise OverflowError(f"{self.name}[...] = {number}: a pixel holds {limits.min} to {limits.max}")
        return dtype.type(number)

    def read(self, at: Any) -> Any:
        return self[at]

    def write(self, at: Any, value: Any) -> None:
        self[at] = value

    def sample(self, *sampler_and_place: Any) -> Any:
        *samplers, at = sampler_and_place
        sampler: Sampler = samplers[0] if samplers else self.own
        places = [float(k) for k in at] if isinstance(at, Vector) else [float(at)]
        total = [0.0] * 4
        for weight, pixel in self._pixels(sampler, places):
            if None in pixel:
                four = self._complete([0] * self.data.shape[-1])
            else:
                four = self._four(tuple(reversed(pixel)))  # type: ignore[arg-type]
            total = [t + weight * x for t, x in zip(total, four, strict=True)]
        return self._texel(total if self.spec.scalar is f32 else [int(x) for x in total])

    def _pixels(self, sampler: Sampler, places: list[float]) -> Iterator[tuple[float, tuple[int | None, ...]]]:
        """The pixels that a sample is made of, with their weights."""
        mode = _MODES[sampler.address_mode]
        axes = []
        for place, size in zip(places, self.sizes, strict=True):
            at = place if sampler.unnormalized else place * size
            if sampler.filter == "nearest":
                axes.append([(1.0, mode(math.floor(at), size))])
                continue
            first = math.floor(at - 0.5)
            part = at - 0.5 - first
            axes.append([(1.0 - part, mode(first, size)), (part, mode(first + 1, size))])
        for corner in itertools.product(*axes):
            yield math.prod(weight for weight, _ in corner), tuple(pixel for _, pixel in corner)


def _write(image: Image, at: Any, value: Any) -> None:
    image[at] = value


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "read": lambda image, at: image[at],
    "write": _write,
    "sample": lambda image, *at: image.sample(*at),
    "imageLoad": lambda image, at: image[at],
    "imageStore": _write,
}

__all__ = ["FUNCTIONS", "MAKERS", "Image", "ImageSpec", "Sampler"]
