"""Runs a kernel in CPython: its parameters, its buffers, and the loop over the indices."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from .rewrite import TYPES, Function
from .scalars import i32
from .vectors import Vector, typed, vector

# ----------------------------------------------------------------------------------------------------------------------
# Types of parameters
# ----------------------------------------------------------------------------------------------------------------------


class Array:
    """Array[T] and pyshader's Array(T) or Array(n, T): the type of a buffer of elements of type T."""

    def __init__(self, *length_and_element: Any) -> None:
        *length, self.element = length_and_element
        self.length: int | None = length[0] if length else None

    def __class_getitem__(cls, element: Any) -> Array:
        return cls(element)


class Index:
    """An index parameter of 1, 2 or 3 axes."""

    def __init__(self, axes: int) -> None:
        self.axes = axes


_SPECS: dict[str, Any] = {
    **TYPES,
    "Array": Array,
    "Index": Index(1),
    "Index2": Index(2),
    "Index3": Index(3),
    "RES_INPUT": "input",
    "RES_BUFFER": "buffer",
    "__builtins__": {},
}


def spec_of(text: str) -> Any:
    """What a type as a kernel writes it means: a type, an Array, an Index, or pyshader's tuple with one of these."""

    class Names(dict[str, Any]):
        def __missing__(self, name: str) -> Any:
            return _Prefix()

    class _Prefix:
        def __getattr__(self, name: str) -> Any:
            return _SPECS.get(name, self)

    spec = eval(text, {"__builtins__": {}}, Names(_SPECS))
    while isinstance(spec, str):
        spec = spec_of(spec)
    if isinstance(spec, tuple):
        inner = spec_of(spec[2]) if isinstance(spec[2], str) else spec[2]
        return (*spec[:2], inner)
    return spec


class Buffer:
    """A storage buffer: a flat NumPy array whose elements are values of the language."""

    def __init__(self, name: str, element: Any, data: Any, length: int | None = None) -> None:
        scalar = getattr(element, "scalar", element)
        self.width: int = getattr(element, "size", 1)
        wanted = np.dtype(getattr(scalar, "numpy", np.bool_))
        if data.dtype != wanted:
            raise TypeError(f"argument '{name}': has dtype {data.dtype}, must be {wanted}")
        if data.size % self.width:
            raise ValueError(
                f"argument '{name}': has {data.size} numbers, Array[{element.__name__}] needs a multiple of {self.width}"
            )
        self.name, self.element = name, element
        self.data = (data.reshape(-1, self.width) if self.width > 1 else data.reshape(-1))[:length]

    def _at(self, index: Any) -> int:
        if not isinstance(index, int) or isinstance(index, bool):
            raise TypeError(f"{self.name}[...]: an index of type {type(index).__name__}")
        size = len(self.data)
        at = index + size if type(index) is int and index < 0 else index  # a constant counts from the end, as in Python
        if not 0 <= at < size:
            raise IndexError(f"{self.name}[{index}]: {self.name} has {size} elements")
        return int(at)

    def __getitem__(self, index: Any) -> Any:
        at = self._at(index)
        value = self.element.from_numpy(self.data[at]) if self.element is not bool else bool(self.data[at])
        return value.at_home(lambda new: self._store(at, new)) if isinstance(value, Vector) else value

    def __setitem__(self, index: Any, value: Any) -> None:
        self._store(self._at(index), typed(value, self.element, self.name))

    def _store(self, at: int, value: Any) -> None:
        self.data[at] = list(value) if self.width > 1 else value

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"<buffer {self.name}: {self.data!r}>"


# Inputs by pyshader's names, as functions of (index, extent); a workgroup is one invocation.
_INPUTS: dict[str, Callable[[Any, Any], Any]] = {
    "GlobalInvocationId": lambda index, extent: index,
    "WorkgroupId": lambda index, extent: index,
    "NumWorkgroups": lambda index, extent: extent,
    "LocalInvocationId": lambda index, extent: (0, 0, 0),
    "LocalInvocationIndex": lambda index, extent: (0,),
}


class Parameter:
    """One parameter of a kernel: what it is, and the value that it has for an index."""

    def __init__(self, name: str, spec: Any) -> None:
        self.name, self.spec = name, spec
        self.is_input = isinstance(spec, Index) or (isinstance(spec, tuple) and spec[0] == "input")

    @property
    def array(self) -> Array | None:
        """The type of a buffer."""
        spec = self.spec[2] if isinstance(self.spec, tuple) else self.spec
        return spec if isinstance(spec, Array) else None

    def bind(self, given: Any) -> Callable[[Any, Any], Any]:
        """A function from (index, extent) to the value of the parameter, for what the caller gave."""
        spec = self.spec
        if isinstance(spec, Index):
            kind = i32 if spec.axes == 1 else vector(i32, spec.axes)
            return lambda index, extent: kind(*index[: spec.axes])
        if isinstance(spec, tuple) and spec[0] == "input":
            source, kind = _INPUTS[spec[1]], spec[2]
            return lambda index, extent: kind(*source(index, extent))
        if self.array is not None:
            buffer = Buffer(self.name, self.array.element, given, self.array.length)
            return lambda index, extent: buffer
        made = self._value(spec[2] if isinstance(spec, tuple) else spec, given)
        return (lambda index, extent: made.copy()) if isinstance(made, Vector) else (lambda index, extent: made)

    def _value(self, kind: Any, given: Any) -> Any:
        """The value of a parameter that is the same for all indices."""
        if issubclass(kind, Vector):
            parts = np.asarray(given).reshape(-1).tolist()
            if len(parts) != kind.size:
                raise ValueError(
                    f"argument '{self.name}': {kind.__name__} has {kind.size} components, not {len(parts)}"
                )
            return kind(*[kind.scalar(x) for x in parts])
        given = given.item() if isinstance(given, (np.generic, np.ndarray)) else given
        if kind is not bool and issubclass(kind, int) and not isinstance(given, int):
            raise TypeError(f"argument '{self.name}': must be {kind.__name__}, not {type(given).__name__}")
        if kind is not bool and issubclass(kind, int) and not kind.low <= given <= kind.high:
            raise OverflowError(f"argument '{self.name}': {given!r} does not fit in {kind.__name__}")
        return kind(given)


# ----------------------------------------------------------------------------------------------------------------------
# Arguments
# ----------------------------------------------------------------------------------------------------------------------


class _Arguments:
    """The callers' objects as flat NumPy arrays. An object that comes twice is one array; what could not be used in place is
    written back at the end."""

    def __init__(self) -> None:
        self.made: dict[int, tuple[Any, Any]] = {}

    def array(self, given: Any, element: Any) -> Any:
        if id(given) not in self.made:
            self.made[id(given)] = (given, self._flat(given, element))
        return self.made[id(given)][1]

    def _flat(self, given: Any, element: Any) -> Any:
        if isinstance(given, (list, tuple)):
            return np.array(given, dtype=getattr(getattr(element, "scalar", element), "numpy", np.bool_)).reshape(-1)
        found = given if isinstance(given, np.ndarray) else np.asarray(memoryview(given))
        return found.astype(found.dtype.newbyteorder("="), copy=False).reshape(-1)

    def write_back(self, written: set[int]) -> None:
        for given, flat in self.made.values():
            if id(given) not in written:
                continue
            if isinstance(given, list):
                given[:] = flat.tolist()
            elif isinstance(given, np.ndarray) and not np.shares_memory(given, flat):
                given[...] = flat.reshape(given.shape)


def _written(node: ast.FunctionDef) -> set[str]:
    """The names whose elements a function stores to."""
    names = set()
    for target in ast.walk(node):
        if isinstance(target, (ast.Subscript, ast.Attribute)) and isinstance(target.ctx, ast.Store):
            base: ast.AST = target
            while isinstance(base, (ast.Subscript, ast.Attribute)):
                base = base.value
            if isinstance(base, ast.Name):
                names.add(base.id)
    return names


# ----------------------------------------------------------------------------------------------------------------------
# Kernels
# ----------------------------------------------------------------------------------------------------------------------


class Emulation:
    """A kernel made ready to run in CPython: a kp.Kernel, pyshader's module, a function, or the text of one."""

    def __init__(self, kernel: Any, name: str | None = None) -> None:
        from ..kernel import Kernel

        self.kernel = kernel if isinstance(kernel, Kernel) else None
        source = kernel
        if self.kernel is not None:
            source = self.kernel.function or self.kernel.source
            name = self.kernel.__name__
        source = getattr(source, "input", source)
        self.function = Function(source, name if isinstance(source, str) else None)
        self.name = self.function.name
        self.writes = _written(self.function.node)
        self.parameters = [Parameter(a, spec_of(text)) for a, text in self._types().items()]
        self.function.node.args.defaults = []

    def _types(self) -> dict[str, str]:
        """The type of each parameter, as text."""
        arguments = self.function.node.args.args
        if self.function.function is not None:
            from .._source import _param_types

            known = _param_types(self.function.function, {})
            if self.kernel is not None:
                known = {p.name: p.type for p in self.kernel.params} | known
        else:
            defaults = [None] * (len(arguments) - len(self.function.node.args.defaults))
            given = zip(arguments, [*defaults, *self.function.node.args.defaults])
            written = ((a.arg, a.annotation or d) for a, d in given)
            known = {name: ast.unparse(node) for name, node in written if node is not None}
        for argument in arguments:
            if argument.arg not in known:
                raise TypeError(f"{self.name}(): the parameter '{argument.arg}' has no type")
        return {a.arg: known[a.arg] for a in arguments}

    def run(self, extent: Any, *args: Any) -> None:
        """Runs the kernel once per index of `extent` (a number, or a tuple of up to three), x fastest. The arguments are those
        behind the index, in order; NumPy arrays for buffers."""
        extent = tuple(int(n) for n in np.atleast_1d(extent))
        axes = len(extent)
        extent += (1,) * (3 - len(extent))
        given = iter(args)
        sources = [p.bind(None if p.is_input else next(given)) for p in self.parameters]
        function = self.function.make(types_of_parameters=False)
        for z, y, x in itertools.product(*map(range, reversed(extent))):
            at = (x, y, z)
            try:
                function(*[source(at, extent) for source in sources])
            except Exception as error:
                where = at[:axes] if axes > 1 else x
                error.add_note(f"{self.name}() was at the index {where}")
                raise

    def launch(self, args: tuple[Any, ...], kwargs: dict[str, Any], extent: Any) -> None:
        """Runs the kernel with a caller's arguments."""
        given = self._bind(args, kwargs)
        arguments = _Arguments()
        values = []
        written = set()
        for parameter in self.parameters:
            if parameter.is_input:
                continue
            value = given[parameter.name]
            if parameter.array is not None:
                if parameter.name in self.writes:
                    written.add(id(value))
                value = arguments.array(value, parameter.array.element)
            values.append(value)
        try:
            self.run(self._extent(extent, values), *values)
        finally:
            arguments.write_back(written)

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        names = [p.name for p in self.parameters if not p.is_input]
        if len(args) > len(names):
            raise TypeError(f"{self.name}() takes {len(names)} arguments but {len(args)} were given")
        values = dict(zip(names, args))
        for name, value in kwargs.items():
            if name not in names or name in values:
                raise TypeError(f"{self.name}() got an unexpected argument '{name}'; it has {', '.join(names)}")
            values[name] = value
        missing = [name for name in names if name not in values]
        if missing:
            raise TypeError(f"{self.name}() missing arguments: {', '.join(missing)}")
        return values

    def _extent(self, extent: Any, values: list[Any]) -> Any:
        if extent is not None:
            return extent
        index = next((p.spec for p in self.parameters if isinstance(p.spec, Index)), None)
        if index is not None and index.axes > 1:
            raise TypeError(f"{self.name}() has Index{index.axes}: give its extent, as in extent=(640, 480)")
        for parameter, value in zip([p for p in self.parameters if not p.is_input], values):
            if parameter.array is not None and parameter.name in self.writes:
                return len(value) // getattr(parameter.array.element, "size", 1)
        raise TypeError(f"{self.name}() writes no buffer: give its extent, as in extent=100")


__all__ = ["Array", "Buffer", "Emulation", "Index", "Parameter"]
