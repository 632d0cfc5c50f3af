"""The functions of the bits of numbers: bit_count, bit_length, bit_reverse, mul_hi, bitcast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .scalars import SCALARS, Integer, f32, i32
from .vectors import Vector, lift, vector

_BY_NAME = {kind.__name__: kind for kind in SCALARS}


def _integer(x: Any) -> Any:
    """A plain int is an i32."""
    if isinstance(x, bool) or not isinstance(x, int):
        raise TypeError(f"integers are needed, not {type(x).__name__}")
    return x if isinstance(x, Integer) else i32.literal(x)


def _reversed(x: Any) -> Any:
    kind = type(_integer(x))
    digits = f"{int(x) & (1 << kind.bits) - 1:0{kind.bits}b}"
    return kind(int(digits[::-1], 2))


def _upper_half(a: Any, b: Any) -> Any:
    kind = next((type(x) for x in (a, b) if isinstance(x, Integer)), i32)
    if kind.bits > 32 or any(isinstance(x, Integer) and type(x) is not kind for x in (a, b)):
        raise TypeError("mul_hi takes two integers of one type of at most 32 bits")
    a, b = (x if type(x) is kind else kind.literal(int(_integer(x))) for x in (a, b))
    return kind(int(a) * int(b) >> kind.bits)


def _same_bits(kind: Any) -> Callable[[Any], Any]:
    def cast(x: Any) -> Any:
        if type(x) not in SCALARS:
            sign = "i" if x < 0 else "u"
            x = _BY_NAME[f"{sign}{kind.bits}"].literal(x) if type(x) is int else f32(x)
        if type(x).bits != kind.bits:
            raise TypeError(f"bitcast keeps the size, but {type(x).__name__} has {type(x).bits} bits")
        with np.errstate(all="ignore"):
            return kind.from_numpy(np.array([x], dtype=type(x).numpy).view(kind.numpy)[0])

    return cast


def bitcast(to: Any, x: Any) -> Any:
    kind, size = (to.scalar, to.size) if issubclass(to, Vector) else (to, getattr(x, "size", 1))
    if kind not in SCALARS or size != getattr(x, "size", 1):
        raise TypeError(f"bitcast to {to.__name__} of {type(x).__name__}")
    cast = _same_bits(kind)
    return vector(kind, size)(*map(cast, x)) if isinstance(x, Vector) else cast(x)


BIT_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "bit_count": lift(lambda x: i32(_integer(x).bit_count())),
    "bit_length": lift(lambda x: i32(_integer(x).bit_length())),
    "bit_reverse": lift(_reversed),
    "mul_hi": lift(_upper_half),
    "bitcast": bitcast,
}
