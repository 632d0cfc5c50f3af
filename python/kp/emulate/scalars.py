"""The numbers of the language as Python objects: f32 and its kin round, i32 and its kin wrap, after each operation.

They are subclasses of float and int, so print(), math.isnan() and a debugger take them as numbers. They refuse what the
language refuses: f32 + i32 has no meaning without a cast, and a plain Python number adapts to what it meets when that type
holds it. A bool is Python's own.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from ctypes import c_float
from typing import Any, ClassVar

import numpy as np


def mismatch(symbol: str, a: Any, b: Any) -> TypeError:
    return TypeError(f"{symbol}: {type(a).__name__} and {type(b).__name__}; there is no implicit conversion")


class Number:
    """What the types of numbers share."""

    __slots__ = ()
    bits: ClassVar[int] = 32

    @classmethod
    def literal(cls, value: Any) -> Any:
        """The literal `value` as this type, if that holds it."""
        raise NotImplementedError

    @classmethod
    def from_numpy(cls, value: Any) -> Any:
        return cls(value.item())  # type: ignore[call-arg]


# ----------------------------------------------------------------------------------------------------------------------
# Floats
# ----------------------------------------------------------------------------------------------------------------------


class Float(Number, float):
    """Computed in double precision, then rounded: exact for + - * / and sqrt of f32 and f16."""

    __slots__ = ()
    numpy: ClassVar[Any] = np.float64

    def __new__(cls, value: Any = 0.0) -> Any:
        if not isinstance(value, (int, float, np.bool_)):
            raise TypeError(f"{cls.__name__}() of {type(value).__name__}")
        plain = int(value) if isinstance(value, int) else float(value)  # so that what follows is Python's arithmetic
        return float.__new__(cls, cls.rounded(plain))

    @classmethod
    def rounded(cls, value: int | float) -> float:
        """The nearest number of this type; infinite when that is too large."""
        exact: Any = np.float64(value)
        if isinstance(value, int) and abs(value) > 2**53:  # rounded once, not by way of a double
            exact = np.int64(value) if value < 2**63 else np.uint64(value)
        with np.errstate(over="ignore"):
            return float(exact.astype(cls.numpy))

    @classmethod
    def literal(cls, value: Any) -> Any:
        made = cls(value)
        if type(value) is int and int(made) != value:
            raise OverflowError(f"{cls.__name__} does not hold {value}")
        return made

    def __neg__(self) -> Any:
        return type(self)(-float(self))

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return type(self)(abs(float(self)))

    def __repr__(self) -> str:
        return repr(float(str(self.numpy(self))))  # the shortest digits, in Python's notation

    __str__ = __repr__
    __hash__ = float.__hash__


class f16(Float):
    """A 16-bit float."""

    __slots__ = ()
    bits, numpy = 16, np.float16


class f32(Float):
    """A 32-bit float."""

    __slots__ = ()
    bits, numpy = 32, np.float32

    @classmethod
    def rounded(cls, value: int | float) -> float:
        if isinstance(value, int) and abs(value) > 2**53:
            return super().rounded(value)
        return c_float(value).value


class f64(Float):
    """A 64-bit float: Python's own."""

    __slots__ = ()
    bits, numpy = 64, np.float64

    @classmethod
    def rounded(cls, value: int | float) -> float:
        return float(value)


# ----------------------------------------------------------------------------------------------------------------------
# Integers
# ----------------------------------------------------------------------------------------------------------------------


class Integer(Number, int):
    """Wraps modulo 2 ** bits; `low` and `high` are the ends of the type's range."""

    __slots__ = ()
    low: ClassVar[int] = 0
    high: ClassVar[int] = 0
    numpy: ClassVar[Any] = np.int64

    def __new__(cls, value: Any = 0) -> Any:
        if isinstance(value, float):
            value = cls._truncated(float(value))
        elif not isinstance(value, (int, np.bool_)):
            raise TypeError(f"{cls.__name__}() of {type(value).__name__}")
        return int.__new__(cls, ((int(value) - cls.low) & (1 << cls.bits) - 1) + cls.low)

    @classmethod
    def _truncated(cls, value: float) -> int:
        """Without its fraction; beyond the range the nearest end of it. NaN and infinities are Python's errors."""
        if not math.isfinite(value):
            return int(value)
        return cls.low if value <= cls.low else cls.high if value >= cls.high else math.trunc(value)

    @classmethod
    def literal(cls, value: Any) -> Any:
        if type(value) is not int:
            raise TypeError(f"{cls.__name__} and the literal {value!r}; there is no implicit conversion")
        if not cls.low <= value <= cls.high:
            raise OverflowError(f"{cls.__name__} does not hold {value}")
        return cls(value)

    def __neg__(self) -> Any:
        return type(self)(-int(self))

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return type(self)(abs(int(self)))

    def __invert__(self) -> Any:
        return type(self)(~int(self))

    def bit_count(self) -> Any:
        return i32(int(self).bit_count())

    def bit_length(self) -> Any:
        return i32(int(self).bit_length())

    __hash__ = int.__hash__


def _integer(name: str, bits: int, signed: bool) -> Any:
    low = -(1 << bits - 1) if signed else 0
    members = {
        "__slots__": (),
        "__doc__": f"{'A signed' if signed else 'An unsigned'} integer that wraps modulo 2**{bits}.",
        "__module__": __name__,
        "bits": bits,
        "low": low,
        "high": low + (1 << bits) - 1,
        "numpy": getattr(np, f"{'int' if signed else 'uint'}{bits}"),
    }
    return type(name, (Integer,), members)


i8, i16, i32, i64 = (_integer(f"i{bits}", bits, True) for bits in (8, 16, 32, 64))
u8, u16, u32, u64 = (_integer(f"u{bits}", bits, False) for bits in (8, 16, 32, 64))

FLOATS: tuple[Any, ...] = (f16, f32, f64)
INTEGERS: tuple[Any, ...] = (i8, i16, i32, i64, u8, u16, u32, u64)
SCALARS: tuple[Any, ...] = FLOATS + INTEGERS


# ----------------------------------------------------------------------------------------------------------------------
# Operators
# ----------------------------------------------------------------------------------------------------------------------


_DIGITS = {"f16": 11, "f32": 24, "f64": 53}


def _widens(wide: Any, narrow: Any) -> bool:
    if wide is narrow:
        return True
    if wide in FLOATS:
        digits = _DIGITS[wide.__name__]
        return bool(narrow.bits < wide.bits if narrow in FLOATS else narrow.bits <= digits)
    return narrow in INTEGERS and bool(wide.low <= narrow.low and narrow.high <= wide.high)


_WIDER = {(wide, narrow) for wide in SCALARS for narrow in SCALARS if _widens(wide, narrow)}


def holds(wide: Any, narrow: Any) -> bool:
    """Whether every number of the type `narrow` is one of the type `wide`, so that it becomes one by itself."""
    return (wide, narrow) in _WIDER


def operand(a: Any, b: Any, symbol: str) -> Any:
    """`b` as the other operand of `a`: of the same type, a literal that adapts, or of a type that becomes a's by itself.
    NotImplemented hands over to `b`."""
    kind = type(a)
    if type(b) is kind:
        return b
    if type(b) is int or type(b) is float:
        return kind.literal(b)
    if holds(kind, type(b)):
        return kind(b)
    if holds(type(b), kind):
        return NotImplemented
    if isinstance(b, (int, float, np.generic)) or b is None or isinstance(b, str):
        raise mismatch(symbol, a, b)
    return NotImplemented


def _float_divide(a: float, b: float) -> float:
    if b != 0.0:
        return a / b
    if a == 0.0 or a != a:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _float_floor_divide(a: float, b: float) -> float:
    if b != 0.0:
        return a // b
    quotient = _float_divide(a, b)
    return float(math.floor(quotient)) if math.isfinite(quotient) else quotient


def _float_modulo(a: float, b: float) -> float:
    return a % b if b != 0.0 else math.nan


def _float_power(a: float, b: float) -> float:
    if a < 0 and math.isfinite(b) and b != math.floor(b):
        return math.nan  # of -inf too, which C's pow has an answer for
    with np.errstate(all="ignore"):
        return float(np.power(np.float64(a + 0.0 if b == 0.5 else a), np.float64(b)))  # not by sqrt(-0.0)


def _integer_power(kind: Any, a: int, b: int) -> int:
    if b < 0:  # the integer part of the result
        return 1 if a == 1 or (a == -1 and b % 2 == 0) else -1 if a == -1 else 0
    return int(pow(a, b, 1 << kind.bits))


def _define(
    cls: Any, name: str, forward: Callable[[Any, Any], Any], backward: Callable[[Any, Any], Any] | None
) -> None:
    setattr(cls, f"__{name}__", forward)
    if backward is not None:
        setattr(cls, f"__r{name}__", backward)


def _binary(cls: Any, name: str, symbol: str, plain: Any, function: Callable[[Any, Any, Any], Any]) -> None:
    """Gives `cls` the operator called `name`, both ways round; `function` takes the type and two plain values."""

    def forward(a: Any, b: Any) -> Any:
        if type(b) is not type(a):
            b = operand(a, b, symbol)
        return b if b is NotImplemented else function(type(a), plain(a), plain(b))

    def backward(a: Any, b: Any) -> Any:
        b = operand(a, b, symbol)
        return b if b is NotImplemented else function(type(a), plain(b), plain(a))

    _define(cls, name, forward, backward if name not in COMPARISONS else None)  # Python mirrors these by itself


def _shift(name: str, symbol: str, function: Callable[[int, int], int]) -> None:
    """A shift: the amount may be of any integer type; one that is too large moves everything out."""

    def shifted(value: Any, by: Any) -> Any:
        if not isinstance(by, int) or isinstance(by, bool):
            raise mismatch(symbol, value, by)
        if by < 0:
            raise ValueError("negative shift count")
        amount = min(int(by), value.bits)
        return type(value)(function(int(value), amount))

    def forward(a: Any, b: Any) -> Any:
        return shifted(a, b) if isinstance(b, (int, float)) else NotImplemented

    def backward(a: Any, b: Any) -> Any:
        return shifted(type(a).literal(b), a)

    _define(Integer, name, forward, backward)


COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**"}
BITWISE = {"and": "&", "or": "|", "xor": "^"}
SHIFTS = {"lshift": "<<", "rshift": ">>"}

_FLOAT = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": _float_divide,
    "floordiv": _float_floor_divide,
    "mod": _float_modulo,
    "pow": _float_power,
}


def _fitted(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    """Rounded to the type, or wrapped."""
    return lambda kind, a, b: kind(function(a, b))


def _compared(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    return lambda kind, a, b: bool(function(a, b))


def _quotient(kind: Any, a: int, b: int) -> Any:
    """a / b of integers: a float."""
    wide = f64 if kind.bits == 64 else f32
    return wide(a) / wide(b)


for _name, _symbol in ARITHMETIC.items():
    _binary(Float, _name, _symbol, float, _fitted(_FLOAT[_name]))
for _name, _symbol in {**ARITHMETIC, **BITWISE}.items():
    if _name not in ("truediv", "pow"):
        _full = f"__{_name}__"
        _binary(Integer, _name, _symbol, int, _fitted(getattr(operator, _full)))
_binary(Integer, "truediv", "/", int, _quotient)
_binary(Integer, "pow", "**", int, lambda kind, a, b: kind(_integer_power(kind, a, b)))
for _name, _symbol in COMPARISONS.items():
    _binary(Float, _name, _symbol, float, _compared(getattr(operator, _name)))
    _binary(Integer, _name, _symbol, int, _compared(getattr(operator, _name)))
for _name, _symbol in SHIFTS.items():
    _shift(_name, _symbol, getattr(operator, _name))
setattr(Float, "__hash__", float.__hash__)  # noqa: B010  (defining == took it away)
setattr(Integer, "__hash__", int.__hash__)  # noqa: B010
