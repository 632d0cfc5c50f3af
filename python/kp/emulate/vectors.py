"""Vectors as Python objects: vec2 to vec4 and their kin, with swizzles and arithmetic by component."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

from .scalars import ARITHMETIC, BITWISE, COMPARISONS, SCALARS, SHIFTS, f16, f32, f64, holds, i32, mismatch, u32


def _positions(name: str, size: int) -> list[int] | None:
    """The component numbers that a swizzle names, or None."""
    for letters in ("xyzw", "rgba"):
        if all(c in letters[:size] for c in name):
            return [letters.index(c) for c in name]
    return None


class Value:
    """What the language has as values and Python as objects: a variable gets a copy."""

    __slots__ = ()

    def copy(self) -> Any:
        raise NotImplementedError


class Composite(Value):
    """A value that stores where it was read from: a vector or a matrix."""

    __slots__ = ()

    def numbers(self) -> list[Any]:
        """All of them, in order."""
        raise NotImplementedError

    def at_home(self, store: Callable[[Any], None]) -> Any:
        raise NotImplementedError

    def __bool__(self) -> bool:
        raise TypeError(f"a {type(self).__name__} is neither true nor false")


class Vector(Composite):
    """A vector. One that was read out of a buffer remembers its place, so that `a[i].x = 1.0` stores."""

    __slots__ = ("_home", "_parts")
    scalar: ClassVar[Any] = None
    size: ClassVar[int] = 0
    _parts: list[Any]
    _home: Any

    def __init__(self, *values: Any) -> None:
        parts: list[Any] = []
        for value in values:
            parts.extend(value._parts if isinstance(value, Vector) else [value])
        convert = len(values) == 1 and isinstance(values[0], Vector)  # vec2(ivec2) is a cast
        if len(parts) == 1:
            parts *= self.size
        if len(parts) != self.size:
            raise TypeError(f"{type(self).__name__}() takes 1 or {self.size} components, not {len(parts)}")
        object.__setattr__(self, "_parts", [_component(p, self.scalar, convert) for p in parts])
        object.__setattr__(self, "_home", None)

    @classmethod
    def from_numpy(cls, row: Any) -> Any:
        return cls(*[cls.scalar(x) for x in row.tolist()])

    def at_home(self, store: Callable[[Any], None]) -> Any:
        """This vector, which calls `store` with itself when a component is stored to."""
        object.__setattr__(self, "_home", store)
        return self

    def copy(self) -> Any:
        return type(self)(*self._parts)

    def numbers(self) -> list[Any]:
        return list(self._parts)

    def __getattr__(self, name: str) -> Any:
        at = _positions(name, self.size)
        if at is None or len(at) > 4:
            raise AttributeError(f"{type(self).__name__} has no {name!r}")
        if len(at) == 1:
            return self._parts[at[0]]
        return vector(self.scalar, len(at))(*[self._parts[k] for k in at])

    def __setattr__(self, name: str, value: Any) -> None:
        at = _positions(name, self.size)
        if at is None or len(set(at)) < len(at):
            raise AttributeError(f"{type(self).__name__} cannot store to {name!r}")
        if len(at) > 1 and getattr(value, "size", 0) != len(at):
            raise TypeError(f"{name!r} takes {len(at)} components")
        parts = list(value._parts) if len(at) > 1 else [value]  # a copy, for v.yx = v
        for k, part in zip(at, parts):
            self._parts[k] = _component(part, self.scalar)
        self._store()

    def _position(self, k: Any) -> int:
        if not -self.size <= int(k) < self.size:
            raise IndexError(f"component {k} of {type(self).__name__}")
        return int(k)

    def __getitem__(self, k: Any) -> Any:
        return self._parts[self._position(k)]

    def __setitem__(self, k: Any, value: Any) -> None:
        self._parts[self._position(k)] = _component(value, self.scalar)
        self._store()

    def _store(self) -> None:
        if self._home is not None:
            self._home(self)

    def map(self, function: Callable[[Any], Any]) -> Any:
        parts = [function(p) for p in self._parts]
        return vector(type(parts[0]), self.size)(*parts)

    def __neg__(self) -> Any:
        return self.map(operator.neg)

    def __pos__(self) -> Any:
        return self.map(operator.pos)

    def __invert__(self) -> Any:
        return self.map(operator.invert)

    def __matmul__(self, other: Any) -> Any:
        from .functions import dot

        return dot(self, other) if isinstance(other, Vector) else NotImplemented

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._parts))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._parts))})"

    __hash__ = None  # type: ignore[assignment]


def _component(value: Any, scalar: Any, convert: bool = False) -> Any:
    if type(value) is scalar:
        return value
    if scalar is not bool and type(value) in (int, float):
        return scalar.literal(value)
    if convert or holds(scalar, type(value)):
        return scalar(value)
    raise TypeError(f"a component of type {type(value).__name__} where {scalar.__name__} is needed")


_PREFIXES = {kind: kind.__name__ for kind in SCALARS} | {f16: "h", f32: "", f64: "d", i32: "i", u32: "u", bool: "b"}
_VECTORS: dict[tuple[Any, int], Any] = {}


def vector(scalar: Any, size: int) -> Any:
    """The type of vectors of `size` components of type `scalar`."""
    kind = _VECTORS.get((scalar, size))
    if kind is None:
        name = f"{_PREFIXES[scalar]}vec{size}"
        members = {"__slots__": (), "__module__": __name__, "scalar": scalar, "size": size}
        kind = _VECTORS[scalar, size] = type(name, (Vector,), members)
    return kind


def vector_types() -> dict[str, Any]:
    """The types of vectors by name, GLSL's names for some of them too."""
    made = {kind.__name__: kind for kind in (vector(scalar, size) for scalar in _PREFIXES for size in (2, 3, 4))}
    others = {f"{s.__name__}vec{n}": vector(s, n) for s in (f16, f32, f64, i32, u32) for n in (2, 3, 4)}
    return {**others, **made}


def lift(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` on scalars, made to work on vectors component by component; scalars beside vectors are spread."""

    def lifted(*args: Any) -> Any:
        sizes = {a.size for a in args if isinstance(a, Vector)}
        if not sizes:
            return function(*args)
        if len(sizes) > 1:
            raise TypeError(f"vectors of {sorted(sizes)} components do not go together")
        (size,) = sizes
        columns: list[Any] = [a._parts if isinstance(a, Vector) else itertools.repeat(a, size) for a in args]
        parts = [function(*row) for row in zip(*columns)]
        return vector(type(parts[0]), size)(*parts)

    return lifted


def same(a: Any, b: Any) -> Any:
    """`a`, when both are vectors of one type, of floats."""
    if type(a) is not type(b) or not isinstance(a, Vector) or not issubclass(a.scalar, float):
        raise mismatch("vectors of floats are needed", a, b)
    return a


def total(numbers: Iterable[float]) -> float:
    """The exact sum, rounded once; with infinities and zeros as one addition after the other has them."""
    numbers = list(numbers)
    try:
        result = math.fsum(numbers)
    except (ValueError, OverflowError):
        result = 0.0
    return result or functools.reduce(operator.add, numbers)


def _operators() -> None:
    for name in (*ARITHMETIC, *BITWISE, *SHIFTS, *COMPARISONS):
        function = lift(getattr(operator, f"__{name}__"))
        setattr(Vector, f"__{name}__", function)
        if name not in COMPARISONS:
            setattr(Vector, f"__r{name}__", _mirrored(function))
    setattr(Vector, "__hash__", None)  # noqa: B010


def _mirrored(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    return lambda a, b: function(b, a)


_operators()


def typed(value: Any, kind: Any, name: str) -> Any:
    """`value` as a `kind`: the same type, or a literal that adapts; a fresh copy when it is a vector."""
    if type(value) is kind:
        return value.copy() if isinstance(value, Value) else value
    if type(value) in (int, float) and kind in SCALARS:
        return kind.literal(value)
    if holds(kind, type(value)):
        return kind(value)
    if isinstance(value, Vector) and len(value) == getattr(kind, "size", 0) and holds(kind.scalar, value.scalar):
        return kind(value)
    raise TypeError(f"{name} is {kind.__name__}, not {type(value).__name__}")
