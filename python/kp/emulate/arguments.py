"""The caller's arguments in CPython: checked as a call on a device checks them, by the same code, and made what the emulation
works on, NumPy arrays and values of the language."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from .. import _kp
from .._arguments import check_array, check_memory, check_shape, refuse_masked, shape_of, wrong_type
from .._dtypes import NUMPY_NAMES
from .._images import KINDS, describe
from .arrays import Array
from .structs import Struct, field_error, numbers
from .vectors import Composite

# ----------------------------------------------------------------------------------------------------------------------
# What the compiler knows of a parameter
# ----------------------------------------------------------------------------------------------------------------------


def text_of(kind: Any) -> str:
    """A type as a kernel writes it, structs with all their fields."""
    if isinstance(kind, Array):
        length = "" if kind.length is None else f"{kind.length}, "
        element = text_of(kind.element)
        return f"Array({length}{element})" if length else f"Array[{element}{f', {kind.axes}' if kind.axes > 1 else ''}]"
    if issubclass(kind, Struct):
        name = [] if kind.__name__.startswith("Struct(") else [repr(kind.__name__)]
        return f"Struct({', '.join([*name, *(f'{field}={text_of(type_)}' for field, type_ in kind.fields.items())])})"
    return str(kind.__name__)


@functools.cache
def declare(name: str, text: str) -> _kp.Program:
    """A program with a parameter of this name and type alone."""
    return _kp.compile(f"def kernel({name}: {text}):\n    pass\n")


# ----------------------------------------------------------------------------------------------------------------------
# Values
# ----------------------------------------------------------------------------------------------------------------------


def value_of(name: str, kind: Any, given: Any, who: str) -> Any:
    """A value that is the same for all indices, of a type other than a fixed array: a scalar, vector, matrix or struct; of
    that, its array."""
    program = declare(name, f"Uniform[{text_of(kind)}]")
    block = _of_tensor(program, given, who) if isinstance(given, _kp.Tensor) else program._value(name, given, who)
    data = np.frombuffer(bytearray(block), numbers(kind)[0])
    if isinstance(kind, Array):
        return data
    if issubclass(kind, Struct):
        return kind.at(data.reshape(()))
    return kind.from_numpy(data) if issubclass(kind, Composite) else kind(data[0].item())


def _of_tensor(program: _kp.Program, tensor: Any, who: str) -> bytes:
    """The beginning of a tensor that is bound as a uniform."""
    param = program.params[0]
    what = f"{who} '{param.name}'"
    check_memory(param, tensor, what)
    data = np.asarray(tensor)
    check_fields(param, data, what)
    if data.nbytes < param.size:
        raise ValueError(f"{what}: {param.type} has {param.size} bytes, the tensor has {data.nbytes}")
    return data.tobytes()[: param.size]


# ----------------------------------------------------------------------------------------------------------------------
# Arrays
# ----------------------------------------------------------------------------------------------------------------------


def check_fields(param: _kp.Param, data: Any, what: str) -> None:
    """That structs lie as the kernel has them."""
    if param.structure is not None:
        reason = field_error(param.structure, data.dtype)
        if reason is not None:
            raise TypeError(f"{what}: is no array of {param.structure[0]}: {reason}")


class Arguments:
    """The callers' objects as NumPy arrays. An object that comes twice is one array; what could not be used in place is
    written back at the end."""

    def __init__(self) -> None:
        self.made: dict[int, tuple[Any, Any]] = {}

    def take(self, param: _kp.Param, given: Any, what: str) -> Any:
        """The array for a buffer or an image; a kp.Image as it is, whose host side is one."""
        refuse_masked(given, what)
        if isinstance(given, _kp.Memory):
            check_memory(param, given, what)
        elif param.kind in KINDS:
            pixels = describe(given, param, what)[0]
            return self._once(given, lambda: pixels.copy() if isinstance(given, (list, tuple)) else _native(given))
        else:
            check_array(param, given, what)
        if param.kind in KINDS:
            return given
        shape = given.shape if isinstance(given, _kp.Memory) else shape_of(given)
        try:
            flat = self._once(given, lambda: _flat(param, given, what))
        except _kp.StateError as error:
            raise _kp.StateError(f"{what}: {str(error).removeprefix('the tensor ')}") from None
        if (flat.dtype.names is None) != (param.structure is None):  # the same array, as another parameter takes it
            raise wrong_type(param, flat.dtype, what)
        check_fields(param, flat, what)
        if len(shape) < 2 and param.ndim == 1:
            check_shape(param, flat.shape, what)
        if param.ndim > 1 and flat.size != math.prod(shape):
            raise ValueError(f"{what}: has {flat.size} numbers, which do not have the shape {shape}")
        return flat.reshape(shape) if param.ndim > 1 else flat

    def _once(self, given: Any, make: Any) -> Any:
        if id(given) not in self.made:
            self.made[id(given)] = (given, make())
        return self.made[id(given)][1]

    def write_back(self, written: set[int]) -> None:
        for given, flat in self.made.values():
            if id(given) not in written:
                continue
            if isinstance(given, list):
                given[:] = flat.tolist()
            elif isinstance(given, np.ndarray) and not np.shares_memory(given, flat):
                given[...] = flat.reshape(given.shape)


def _native(given: Any) -> Any:
    array = np.asarray(given)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _flat(param: _kp.Param, given: Any, what: str) -> Any:
    if param.structure is not None:
        return np.asarray(given).reshape(-1)
    data = np.frombuffer(bytearray(_kp.numbers(given, param.dtype, what)), NUMPY_NAMES[param.dtype])
    if isinstance(given, (list, tuple)):
        return data
    try:
        found = np.asarray(given if isinstance(given, np.ndarray) else memoryview(given))
    except TypeError:
        return data
    return found.astype(data.dtype, copy=False).reshape(-1)


__all__ = ["Arguments", "declare", "text_of", "value_of"]
