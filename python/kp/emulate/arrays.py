"""Arrays of fixed length in CPython: what a list of a kernel is. Elements keep one type, and the length never changes."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from .functions import common
from .scalars import SCALARS, i32, i64, u32
from .vectors import Composite, typed


def row_major(indices: tuple[Any, ...], shape: tuple[int, ...]) -> int | None:
    """The place of an element among all, the last axis running fastest; None when an index is outside of its axis."""
    at = 0
    for k, size in zip(indices, shape, strict=True):
        k = k + size if type(k) is int and k < 0 else int(k)
        if not 0 <= k < size:
            return None
        at = at * size + k
    return at


class Array:
    """A type: Array[T] and Array(T) of buffers, Array[T, 2] of a buffer with two axes, Array(n, T) of n elements. Calling the
    latter makes an array of zeros."""

    def __init__(self, *length_and_element: Any) -> None:
        *length, self.element = length_and_element
        self.length: int | None = int(length[0]) if length else None
        self.axes = 1

    def __class_getitem__(cls, element: Any) -> Array:
        made = cls(element[0] if isinstance(element, tuple) else element)
        made.axes = int(element[1]) if isinstance(element, tuple) else 1
        return made

    @property
    def __name__(self) -> str:
        name = self.element.__name__
        return f"Array[{name}]" if self.length is None else f"Array({self.length}, {name})"

    def __call__(self) -> LocalArray:
        return LocalArray(self.element, [self.element() for _ in range(self.length or 0)])

    def made(self, value: Any) -> LocalArray:
        """A list, or another array, as one of this type."""
        if len(value) != self.length:
            raise TypeError(f"{self.__name__} has {self.length} elements, not {len(value)}")
        return LocalArray(self.element, [element_of(x, self.element) for x in value])


def element_of(value: Any, kind: Any) -> Any:
    """`value` as an element of type `kind`."""
    if isinstance(kind, Array):
        return kind.made(value)
    return typed(value, kind, "an element")


class Places:
    """Values in a list. Reading a vector or a matrix gives one that knows its place, so that `a[i].x = 1.0` stores."""

    def __init__(self, element: Any, values: list[Any]) -> None:
        self.element, self.values = element, values

    def _at(self, index: Any) -> int:
        """The place for an index."""
        raise NotImplementedError

    def __getitem__(self, index: Any) -> Any:
        at = self._at(index)
        value = self.values[at]
        return value.copy().at_home(functools.partial(self._store, at)) if isinstance(value, Composite) else value

    def __setitem__(self, index: Any, value: Any) -> None:
        self._store(self._at(index), element_of(value, self.element))

    def _store(self, at: int, value: Any) -> None:
        self.values[at] = value


class LocalArray(Places):
    """An array of a kernel."""

    @property
    def kind(self) -> Array:
        return Array(len(self.values), self.element)

    def _at(self, index: Any) -> int:
        if not isinstance(index, int) or isinstance(index, bool):
            raise TypeError(f"an index of type {type(index).__name__}")
        size = len(self.values)
        if not -size <= int(index) < size:
            raise IndexError(f"[{index}] of an array of {size} elements")
        return int(index) % size

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self.values)))

    def copy(self) -> LocalArray:
        return self.kind.made(self.values)

    def __repr__(self) -> str:
        return repr(self.values)


def leaves(items: Any) -> Iterator[Any]:
    """What lists or tuples within each other hold."""
    for item in items:
        yield from leaves(item) if isinstance(item, (list, tuple)) else (item,)


def table_kind(numbers: list[Any]) -> Any:
    """The type of a table of integers without one: the first of i32, u32 and i64 that holds them all. None: they are others."""
    if not all(type(x) is int for x in numbers):
        return None
    return next((kind for kind in (i32, u32) if all(kind.low <= x <= kind.high for x in numbers)), i64)


class Table(tuple[Any, ...]):
    """A tuple of numbers without types: what an index that is no constant picks has the one that holds them all."""

    kind: Any

    @classmethod
    def of(cls, items: tuple[Any, ...], kind: Any) -> Table:
        table = cls(cls.of(item, kind) if isinstance(item, tuple) else item for item in items)
        table.kind = kind
        return table

    def __getitem__(self, index: Any) -> Any:
        item = super().__getitem__(index)
        return self.kind(item) if type(index) is not int and type(item) in (int, float) else item

    def __iter__(self) -> Iterator[Any]:
        return (self[i32(k)] for k in range(len(self)))


def from_list(items: Any, kind: Any = None) -> LocalArray:
    """The array that a list literal or a comprehension is: its elements have one type, literals adapt."""
    kind = kind or table_kind(list(leaves(items)))
    values = [from_list(x, kind) if isinstance(x, list) else x for x in items]
    if kind is not None:
        values = [x if isinstance(x, LocalArray) else kind(x) for x in values]
    if all(type(x) in SCALARS or type(x) in (int, float) for x in values):
        values = common(values)
    first = values[0]
    if isinstance(first, LocalArray):
        row = first.kind
        if any(isinstance(x, LocalArray) and x.element in SCALARS and x.element is not first.element for x in values):
            rows = [x if isinstance(x, list) else row for x, row in zip(items, values, strict=True)]
            flat = iter(common([x for row in rows for x in row]))  # [[1, 2], [0.5, 1]]
            values = [LocalArray(None, [next(flat) for _ in each]) for each in values]
            row = Array(len(first), type(values[0].values[0]))
        return LocalArray(row, [row.made(x) for x in values])
    return LocalArray(type(first), [element_of(x, type(first)) for x in values])


__all__ = ["Array", "LocalArray", "Table", "element_of", "from_list", "leaves", "table_kind"]
