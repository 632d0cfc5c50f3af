"""Matrices as Python objects: mat2 to mat4 and their kin, with rows, elements, arithmetic by element and products."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from .scalars import f16, f32, f64
from .vectors import Composite, Vector, total, typed, vector


class Matrix(Composite):
    """A matrix: rows, which are vectors. Reading a row gives one that knows its place, so that `m[i].x = 1.0` stores."""

    __slots__ = ("_home", "_rows")
    scalar: ClassVar[Any] = None
    rows: ClassVar[int] = 0
    columns: ClassVar[int] = 0
    size: ClassVar[int] = 0
    _rows: list[Any]
    _home: Any

    def __init__(self, *values: Any) -> None:
        if len(values) == 1:
            values = (values[0].tolist() if isinstance(values[0], np.ndarray) else values[0],)
            if not isinstance(values[0], (Matrix, list, tuple)):
                raise TypeError(f"{type(self).__name__} takes its elements or its rows")
            if isinstance(values[0], Matrix):
                values = tuple(values[0].converted(self.scalar)._rows)
            else:
                values = tuple(values[0])
        elif len(values) == self.size:
            values = tuple(values[at : at + self.columns] for at in range(0, self.size, self.columns))
        if len(values) != self.rows:
            raise TypeError(f"{type(self).__name__} has {self.rows} rows, not {len(values)}")
        # Of a table of numbers without types (arrays.Table), the numbers themselves: they adapt.
        values = tuple(tuple(tuple.__iter__(row)) if isinstance(row, tuple) else row for row in values)
        kind = vector(self.scalar, self.columns)
        self._rows = [typed(kind(*row) if isinstance(row, (list, tuple)) else row, kind, "a row") for row in values]
        if any(len(row) != self.columns for row in values):
            raise TypeError(f"a row of {type(self).__name__} has {self.columns} numbers")
        self._home = None

    @classmethod
    def from_numpy(cls, flat: Any) -> Any:
        return cls(*[cls.scalar(x) for x in flat.tolist()])

    def numbers(self) -> list[Any]:
        return list(itertools.chain.from_iterable(self._rows))

    def at_home(self, store: Callable[[Any], None]) -> Any:
        self._home = store
        return self

    def copy(self) -> Any:
        return type(self)(*self._rows)

    def converted(self, scalar: Any) -> Any:
        return self.made(scalar, [[scalar(x) for x in row] for row in self._rows])

    @staticmethod
    def made(scalar: Any, rows: Any) -> Any:
        """The matrix of these rows of numbers."""
        rows = list(rows)
        return matrix(scalar, len(rows), len(rows[0]))(*[vector(scalar, len(row))(*row) for row in rows])

    def _position(self, index: Any) -> int:
        if not isinstance(index, int) or isinstance(index, bool) or not -self.rows <= int(index) < self.rows:
            raise IndexError(f"row {index} of {type(self).__name__}")
        return int(index) % self.rows

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, tuple):
            return self[index[0]][index[1]]
        at = self._position(index)
        return self._rows[at].copy().at_home(functools.partial(self._store, at))

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, tuple):
            row = self[index[0]]
            row[index[1]] = value
        else:
            self._store(self._position(index), typed(value, vector(self.scalar, self.columns), "a row"))

    def _store(self, at: int, row: Any) -> None:
        self._rows[at] = row.copy()
        if self._home is not None:
            self._home(self)

    def __len__(self) -> int:
        return self.rows

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(self.rows))

    def __neg__(self) -> Any:
        return type(self)(*[-row for row in self._rows])

    def __pos__(self) -> Any:
        return self

    @property
    def T(self) -> Any:
        return self.made(self.scalar, zip(*self._rows))

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Vector) and other.scalar is self.scalar and other.size == self.columns:
            return vector(self.scalar, self.rows)(*[_dot(row, other, self.scalar) for row in self._rows])
        if isinstance(other, Matrix) and other.scalar is self.scalar and other.rows == self.columns:
            turned = other.T._rows
            return self.made(self.scalar, [[_dot(row, c, self.scalar) for c in turned] for row in self._rows])
        raise TypeError(f"@: {type(self).__name__} and {type(other).__name__}")

    def __rmatmul__(self, other: Any) -> Any:
        if isinstance(other, Vector) and other.scalar is self.scalar and other.size == self.rows:
            return self.T @ other
        raise TypeError(f"@: {type(other).__name__} and {type(self).__name__}")

    def __eq__(self, other: object) -> bool:
        raise TypeError("matrices are compared row by row")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.numbers()))})"

    __hash__ = None  # type: ignore[assignment]


def _dot(a: Any, b: Any, scalar: Any) -> Any:
    return scalar(total(float(x) * float(y) for x, y in zip(a, b)))


def _operator(name: str) -> None:
    function = getattr(operator, name)

    def rows_of(a: Any, like: Any) -> Any:
        if isinstance(a, Matrix):
            if type(a) is not type(like):
                raise TypeError(f"{name}: {type(a).__name__} and {type(like).__name__}")
            return a._rows
        if isinstance(a, Vector):
            raise TypeError(f"{name}: a matrix and a vector")
        return [typed(a, like.scalar, "a number beside a matrix")] * like.rows

    def forward(self: Any, other: Any) -> Any:
        return type(self)(*map(function, self._rows, rows_of(other, self)))

    def backward(self: Any, other: Any) -> Any:
        return type(self)(*map(function, rows_of(other, self), self._rows))

    setattr(Matrix, f"__{name}__", forward)
    setattr(Matrix, f"__r{name}__", backward)


for _name in ("add", "sub", "mul", "truediv"):
    _operator(_name)

_PREFIXES = {f32: "mat", f64: "dmat", f16: "hmat"}
_MATRICES: dict[tuple[Any, int, int], Any] = {}


def matrix(scalar: Any, rows: int, columns: int) -> Any:
    """The type of matrices of that many rows and columns. Its name has the columns first, as GLSL's and pyshader's."""
    kind = _MATRICES.get((scalar, rows, columns))
    if kind is None:
        size = f"{rows}" if rows == columns else f"{columns}x{rows}"
        members = {"scalar": scalar, "rows": rows, "columns": columns, "size": rows * columns, "__slots__": ()}
        kind = type(_PREFIXES[scalar] + size, (Matrix,), {**members, "__module__": __name__})
        _MATRICES[scalar, rows, columns] = kind
    return kind


def matrix_types() -> dict[str, Any]:
    """The types of matrices by name."""
    found = {}
    for scalar, prefix in _PREFIXES.items():
        for columns, rows in itertools.product((2, 3, 4), repeat=2):
            kind = matrix(scalar, rows, columns)
            for base in (prefix, f"{scalar.__name__}mat"):
                found[f"{base}{columns}x{rows}"] = kind
                if rows == columns:
                    found[f"{base}{rows}"] = kind
    return found


def _square(m: Any) -> Any:
    if not isinstance(m, Matrix) or m.rows != m.columns:
        raise TypeError(f"a square matrix is needed, not {type(m).__name__}")
    return np.array(m.numbers(), dtype=np.float64).reshape(m.rows, m.columns)


def _inverse(m: Any) -> Any:
    with np.errstate(all="ignore"):
        return m.made(m.scalar, [[m.scalar(x) for x in row] for row in np.linalg.inv(_square(m)).tolist()])


MATRIX_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "transpose": lambda m: m.T,
    "determinant": lambda m: m.scalar(float(np.linalg.det(_square(m)))),
    "matrix_inverse": _inverse,
    "inverse": _inverse,
    "eye": lambda n: matrix(f32, n, n)(*[float(k % (n + 1) == 0) for k in range(n * n)]),
}
