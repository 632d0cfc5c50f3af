"""Structs in CPython. A struct is a place in a NumPy array: its own, or that of a buffer, into which its fields then store. What a
variable gets is a copy, as with vectors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from .._dtypes import NUMPY_NAMES
from .arrays import Array
from .vectors import Composite, Value, typed


class Struct(Value):
    """The base of the types of structs."""

    __slots__ = ("_data",)
    fields: ClassVar[Mapping[str, Any]] = {}
    dtype: ClassVar[Any] = None
    key: ClassVar[Any] = None
    _data: Any

    def __init__(self, *values: Any, **named: Any) -> None:
        object.__setattr__(self, "_data", np.zeros((), type(self).dtype))
        if not values and not named:
            return
        fields = type(self).fields
        given = {**dict(zip(fields, values, strict=False)), **named}
        if len(values) > len(fields) or set(given) != set(fields):
            raise TypeError(f"{type(self).__name__} has the fields {', '.join(fields)}")
        for name, value in given.items():
            setattr(self, name, value)

    @classmethod
    def at(cls, data: Any) -> Any:
        """The struct in an array without axes, which stores there."""
        made = cls.__new__(cls)
        object.__setattr__(made, "_data", data)
        return made

    @classmethod
    def anything(cls) -> Any:
        """What should catch the eye: bytes of 0x7F, large numbers."""
        return cls.at(np.frombuffer(b"\x7f" * cls.dtype.itemsize, cls.dtype).reshape(()).copy())

    def copy(self) -> Any:
        return type(self).at(self._data.copy())

    def __getattribute__(self, name: str) -> Any:
        """Fields go before what this class has, such as `at`."""
        kind = type(self).fields.get(name)
        return object.__getattribute__(self, name) if kind is None else Struct._read(self, name, kind)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{type(self).__name__} has no field {name!r}")

    def _read(self, name: str, kind: Any) -> Any:
        from .launch import Buffer

        if isinstance(kind, Array):
            return Buffer(name, kind.element, self._data[name].reshape(-1), kind.length, wraps=True)
        if issubclass(kind, Struct):
            return kind.at(self._data[name])
        if kind is bool:
            return bool(self._data[name])
        value = kind.from_numpy(self._data[name])
        return value.at_home(lambda new: setattr(self, name, new)) if isinstance(value, Composite) else value

    def __setattr__(self, name: str, value: Any) -> None:
        kind = type(self).fields.get(name)
        if kind is None:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}")
        if isinstance(kind, Array):
            array = kind.made(value)
            into = getattr(self, name)
            for k in range(len(array)):
                into[k] = array[k]
            return
        value = typed(value, kind, name)
        self._data[name] = (
            value._data if isinstance(value, Struct) else value.numbers() if isinstance(value, Composite) else value
        )

    def _refuse(self, *_: Any) -> Any:
        raise TypeError(f"{type(self).__name__}: structs cannot be compared, and are neither true nor false")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = _refuse
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in type(self).fields)})"


def leaf(kind: Any) -> Any:
    while isinstance(kind, Array):
        kind = kind.element
    return kind


def numbers(kind: Any) -> tuple[Any, int]:
    """The dtype of what a type is made of, and how many of those it has: scalars, or structs."""
    count = 1
    while isinstance(kind, Array):
        kind, count = kind.element, count * (kind.length or 1)
    if isinstance(kind, type) and issubclass(kind, Struct):
        return kind.dtype, count
    return np.dtype(getattr(getattr(kind, "scalar", kind), "numpy", np.bool_)), count * getattr(kind, "size", 1)


_made: dict[Any, Any] = {}


def _key(kind: Any) -> Any:
    if isinstance(kind, Array):
        return ("array", kind.length, _key(kind.element))
    return getattr(kind, "key", None) or kind.__name__


def struct(name: str | None = None, /, **fields: Any) -> Any:
    """The type with these fields; two that are alike are one."""
    name = name or "Struct(" + ", ".join(f"{field}={kind.__name__}" for field, kind in fields.items()) + ")"
    key = (name, tuple((field, _key(kind)) for field, kind in fields.items()))
    if key not in _made:
        columns = []
        for field, kind in fields.items():
            dtype, count = numbers(kind)
            columns.append((field, dtype, (count,)) if count > 1 else (field, dtype))
        members = {"__slots__": (), "fields": fields, "dtype": np.dtype(columns, align=True), "key": key}
        _made[key] = type(name, (Struct,), members)
    return _made[key]


def field_error(structure: Any, dtype: Any) -> str | None:
    """What a dtype has otherwise than a kernel's struct, as kp.Param.structure has it; None: nothing."""
    _, size, _, fields = structure
    for (name, type_, kind, shape, offset, inner), has in zip(fields, dtype.names, strict=False):
        base, has_shape = dtype.fields[has][0].subdtype or (dtype.fields[has][0], ())
        if name != has:
            return f"the field after byte {offset} is '{has}', not '{name}'"
        same = base.names is None if inner is None else base.names is not None
        if not same or (inner is None and base != NUMPY_NAMES[kind]) or math.prod(has_shape) != math.prod(shape):
            return f"field '{name}' has dtype {dtype.fields[has][0]}, not that of {type_}"
        if dtype.fields[has][1] != offset:
            return f"field '{name}' is at byte {dtype.fields[has][1]}, not {offset} (make the dtype with align=True)"
        if inner is not None and (reason := field_error(inner, base)) is not None:
            return reason
    if len(fields) != len(dtype.names):
        return f"it has {len(dtype.names)} fields, not {len(fields)}"
    return (
        None
        if dtype.itemsize == size
        else f"it has {dtype.itemsize} bytes, not {size} (make the dtype with align=True)"
    )


def view(data: Any, kind: Any, name: str) -> Any:
    """An array of structs as `kind` has them: the same bytes."""
    has, wanted = data.dtype, kind.dtype
    same = has.names == wanted.names and has.itemsize == wanted.itemsize
    if not same or any(has.fields[f][1] != wanted.fields[f][1] for f in wanted.names):
        raise TypeError(f"argument '{name}': has dtype {has}, must be {wanted}")
    return data.view(wanted)


__all__ = ["Struct", "field_error", "leaf", "numbers", "struct", "view"]
