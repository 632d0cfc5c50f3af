"""The functions of the language (builtins.def) in Python. Functions of floats are computed in double precision and rounded
once, so they are as near as the type allows; a device may be further off, within Vulkan's limits."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .bits import BIT_FUNCTIONS
from .maths import MATH_FUNCTIONS, common
from .matrices import MATRIX_FUNCTIONS, Matrix
from .scalars import FLOATS, SCALARS, f32, i32
from .vectors import Vector, lift, same, total, vector


def _is_plain(x: Any) -> bool:
    """A literal, or what Python makes of literals: it takes the type that it is used with."""
    return type(x) is int or type(x) is float


def _real(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of floats: computed by NumPy in double precision, rounded once."""

    def rounded(*args: Any) -> Any:
        values = common(args) if any(type(a) in SCALARS for a in args) else [f32(a) for a in args]
        kind = type(values[0])
        if kind not in FLOATS:
            raise TypeError(f"a float is needed, not {kind.__name__}")
        with np.errstate(all="ignore"):
            return kind(float(function(*[np.float64(a) for a in values])))

    return lift(rounded)


def _choose(choose: Callable[..., Any]) -> Callable[..., Any]:
    """min or max: of several arguments, or of the components of one vector."""
    lifted = lift(lambda *args: choose(args) if all(map(_is_plain, args)) else choose(common(args)))
    return lambda *args: choose(args[0]) if len(args) == 1 and isinstance(args[0], Vector) else lifted(*args)


def _clamp(x: Any, low: Any, high: Any) -> Any:
    x, low, high = common((x, low, high))
    return min(max(x, low), high)


def _sign(x: Any) -> Any:
    (x,) = common((x,))
    return type(x)((x > 0) - (x < 0)) if x == x else x


def dot(a: Any, b: Any) -> Any:
    return same(a, b).scalar(total(float(x) * float(y) for x, y in zip(a, b)))


def _total(v: Any) -> Any:
    return v.scalar(total(v) if issubclass(v.scalar, float) else sum(map(int, v)))


def _log(x: Any, base: Any = None) -> Any:
    return _ln(x) if base is None else _ln(x) / _ln(base)


def length(v: Any) -> Any:
    return same(v, v).scalar(math.sqrt(total(float(x) * float(x) for x in v)))


def cross(a: Any, b: Any) -> Any:
    (ax, ay, az), (bx, by, bz) = (list(map(float, v)) for v in (same(a, b), b))
    return type(a)(*map(a.scalar, (ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx)))


def normalize(v: Any) -> Any:
    size = math.sqrt(total(float(x) * float(x) for x in same(v, v)))
    with np.errstate(all="ignore"):
        return v.map(lambda x: v.scalar(float(np.float64(x) / np.float64(size))))


def reflect(v: Any, n: Any) -> Any:
    d = total(float(x) * float(y) for x, y in zip(same(v, n), n))
    return type(v)(*[v.scalar(float(x) - 2.0 * d * float(y)) for x, y in zip(v, n)])


def face_forward(n: Any, v: Any, reference: Any) -> Any:
    return n.copy() if dot(reference, v) < 0.0 else -n


def _smooth_step(low: Any, high: Any, x: Any) -> Any:
    t = np.clip((x - low) / (high - low), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


# Of infinity it is 0.
_rest = lift(lambda x, whole: type(whole)(math.copysign(0.0, x)) if x == whole else x - whole)


def _modf(x: Any) -> Any:
    whole = FUNCTIONS["trunc"](x)
    return _rest(x, whole), whole


def _is(test: Callable[[float], bool]) -> Callable[..., Any]:
    return lift(lambda x: test(common((x,))[0]))


def _range(*args: Any) -> Iterator[Any]:
    """range over i32 or the type of its arguments. A step of 0 makes an empty loop."""
    for a in args:
        if not isinstance(a, int) or isinstance(a, bool):
            raise TypeError(f"range() of {type(a).__name__}")
    kind = next((type(a) for a in args if type(a) in SCALARS), i32)
    return map(kind, range(*map(int, args)) if len(args) < 3 or args[2] != 0 else ())


def _length_of(x: Any) -> Any:
    return (
        len(x) if isinstance(x, (tuple, Vector, Matrix)) else i32(len(x))
    )  # of a tuple, a vector or a matrix: a constant


_ln = _real(np.log)

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": lift(lambda x: abs(x) if _is_plain(x) else abs(common((x,))[0])),
    "sign": lift(_sign),
    "fabs": _real(np.fabs),
    "min": _choose(min),
    "max": _choose(max),
    "divmod": lambda a, b: (a // b, a % b),
    "modf": _modf,
    "sum": _total,
    "any": lambda v: any(v),
    "all": lambda v: all(v),
    "len": _length_of,
    "clamp": lift(_clamp),
    "nmin": _real(np.fmin),
    "nmax": _real(np.fmax),
    "nclamp": _real(lambda x, low, high: np.fmin(np.fmax(x, low), high)),
    "round": _real(np.rint),
    "round_even": _real(np.rint),
    "trunc": _real(np.trunc),
    "floor": _real(np.floor),
    "ceil": _real(np.ceil),
    "fract": _real(lambda x: x - np.floor(x)),
    "radians": _real(np.radians),
    "degrees": _real(np.degrees),
    "sin": _real(np.sin),
    "cos": _real(np.cos),
    "tan": _real(np.tan),
    "asin": _real(np.arcsin),
    "acos": _real(np.arccos),
    "atan": _real(np.arctan),
    "atan2": _real(np.arctan2),
    "sinh": _real(np.sinh),
    "cosh": _real(np.cosh),
    "tanh": _real(np.tanh),
    "asinh": _real(np.arcsinh),
    "acosh": _real(np.arccosh),
    "atanh": _real(np.arctanh),
    "pow": lift(lambda a, b: a**b if _is_plain(a) and _is_plain(b) else operator.pow(*common((a, b)))),
    "exp": _real(np.exp),
    "exp2": _real(np.exp2),
    "log": _log,
    "log10": _real(np.log10),
    "log2": _real(np.log2),
    "sqrt": _real(np.sqrt),
    "isqrt": _real(lambda x: 1.0 / np.sqrt(x)),
    "fma": _real(lambda a, b, c: a * b + c),
    "mix": _real(lambda a, b, t: a * (1.0 - t) + b * t),
    "step": _real(lambda edge, x: 0.0 if x < edge else 1.0),
    "smooth_step": _real(_smooth_step),
    "smoothstep": _real(_smooth_step),
    "isnan": _is(math.isnan),
    "isinf": _is(math.isinf),
    "isfinite": _is(math.isfinite),
    "length": length,
    "distance": lambda a, b: length(same(a, b) - b),
    "dot": dot,
    "cross": cross,
    "normalize": normalize,
    "reflect": reflect,
    "face_forward": face_forward,
    **BIT_FUNCTIONS,
    **MATH_FUNCTIONS,
    **MATRIX_FUNCTIONS,
}


def _print(*values: Any, **options: Any) -> None:
    """A float literal is an f32, as everywhere that nothing else is asked for."""
    print(*(f32(value) if type(value) is float else value for value in values), **options)


# Python's own names that the language has besides its functions.
PYTHON: dict[str, Callable[..., Any]] = {"range": _range, "print": _print}

__all__ = ["FUNCTIONS", "PYTHON", "common", "dot", "vector"]
