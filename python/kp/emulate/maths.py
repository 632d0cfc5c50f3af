"""Those functions of Python's math module that the language has without an instruction for them (src/compiler/library.py): Python's
own, rounded to the type. Where Python raises, a kernel goes on, and docs/language.md says with what."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .scalars import FLOATS, SCALARS, f16, f32, holds, i32
from .vectors import lift, same


def common(args: Any) -> list[Any]:
    """The arguments brought to one type, as the operands of an operator are."""
    kinds = {type(a) for a in args if type(a) in SCALARS}
    if not kinds:
        kinds = {f32 if any(type(a) is float for a in args) else i32}
    widest = [kind for kind in kinds if all(holds(kind, other) for other in kinds)]
    if not widest:
        raise TypeError(f"arguments of types {', '.join(sorted(k.__name__ for k in kinds))}")
    (kind,) = widest
    return [a if type(a) is kind else kind(a) if type(a) in SCALARS else kind.literal(a) for a in args]


def floats(args: Any) -> list[Any]:
    """The same of floats."""
    values = common(args) if any(type(a) in SCALARS for a in args) else [f32(a) for a in args]
    if type(values[0]) not in FLOATS:
        raise TypeError(f"a float is needed, not {type(values[0]).__name__}")
    return values


def whole(args: Any) -> list[Any]:
    """The same of integers."""
    values = common(args)
    if type(values[0]) in FLOATS:
        raise TypeError(f"an integer is needed, not {type(values[0]).__name__}")
    return values


def _real(function: Callable[..., float], instead: Callable[..., float] = lambda *_: math.nan) -> Callable[..., Any]:
    """`function`, and what a kernel has where that raises ValueError or OverflowError."""

    def rounded(*args: Any) -> Any:
        values = floats(args)
        try:
            return type(values[0])(function(*map(float, values)))
        except (ValueError, OverflowError):
            return type(values[0])(instead(*map(float, values)))

    return lift(rounded)


def _whole(function: Callable[..., int]) -> Callable[..., Any]:
    def wrapped(*args: Any) -> Any:
        values = whole(args)
        return type(values[0])(function(*map(int, values)))

    return lift(wrapped)


def _next(x: Any, y: Any) -> Any:
    x, y = floats((x, y))
    with np.errstate(all="ignore"):
        return type(x)(float(np.nextafter(x.numpy(x), x.numpy(y)))) if x != y else y


def _ulp(x: Any) -> Any:
    (x,) = floats((x,))
    info = np.finfo(x.numpy)
    least = info.minexp - info.nmant
    return (
        type(x)(math.ldexp(1.0, max(math.frexp(x)[1] - 1 - info.nmant, least) if x else least))
        if math.isfinite(x)
        else abs(x)
    )


def _ldexp(x: Any, n: Any) -> Any:
    (x,) = floats((x,))
    (n,) = whole((n,))
    try:
        return type(x)(math.ldexp(float(x), int(n)))
    except OverflowError:
        return type(x)(math.copysign(math.inf, x))


def _frexp(x: Any) -> tuple[Any, Any]:
    def part(k: int) -> Callable[..., Any]:
        return lift(lambda x: (type(x), i32)[k](math.frexp(x)[k]))

    (x,) = floats((x,)) if isinstance(x, float) else (x,)
    return part(0)(x), part(1)(x)


def _isclose(a: Any, b: Any, *, rel_tol: Any = 1e-9, abs_tol: Any = 0.0) -> Any:
    def test(*args: Any) -> bool:
        a, b, relative, absolute = floats(args)
        kind = f32 if type(a) is f16 else type(a)
        a, b, relative, absolute = (kind(v) for v in (a, b, relative, absolute))
        if a == b or math.isinf(a) or math.isinf(b):
            return bool(a == b)
        apart = abs(a - b)
        return bool(apart <= abs(relative * a) or apart <= abs(relative * b) or apart <= absolute)

    return lift(test)(a, b, rel_tol, abs_tol)


def _gamma(x: float) -> float:
    """Where math.gamma raises: at whole numbers that are not positive, and where it is too large."""
    if x == 0 or -1 < x < 0:
        return math.copysign(math.inf, x)
    return math.inf if x > 0 else math.nan


def _perm(n: int, k: int | None = None) -> int:
    """Modulo 2 ** 64 it is 0 from 66 factors on."""
    k = n if k is None else k
    return math.perm(n, k) if n >= 0 and 0 <= k < 70 else 0


def _dist(a: Any, b: Any) -> Any:
    return same(a, b).scalar(math.hypot(*[float(x - y) for x, y in zip(a, b)]))


_INFINITE: Callable[..., float] = lambda *_: math.inf  # noqa: E731

MATH_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "copysign": _real(math.copysign),
    "fmod": _real(math.fmod),
    "remainder": _real(math.remainder),
    "nextafter": lift(_next),
    "ulp": lift(_ulp),
    "frexp": _frexp,
    "ldexp": lift(_ldexp),
    "isclose": _isclose,
    "hypot": _real(math.hypot),
    "dist": _dist,
    "cbrt": _real(math.cbrt),
    "expm1": _real(math.expm1, _INFINITE),
    "log1p": _real(math.log1p, lambda x: -math.inf if x == -1 else math.nan),
    "erf": _real(math.erf),
    "erfc": _real(math.erfc),
    "gamma": _real(math.gamma, _gamma),
    "lgamma": _real(math.lgamma, _INFINITE),
    "gcd": _whole(math.gcd),
    "lcm": _whole(math.lcm),
    "factorial": _whole(_perm),
    "perm": _whole(_perm),
    "comb": _whole(lambda n, k: math.comb(n, k) if min(n, k) >= 0 and min(k, n - k) < 70 else 0),
    "prod": lambda v: functools.reduce(operator.mul, v),
}

__all__ = ["MATH_FUNCTIONS", "common"]
