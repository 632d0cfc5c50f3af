"""Runs a kernel in CPython: its parameters, its buffers, and the loop over the indices."""

from __future__ import annotations

import ast
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from .._arguments import bind, own_extent, read_extent, refuse_masked, target_of
from .._kp import LimitError, Memory, Param
from .._source import default_values
from .arguments import Arguments, declare, text_of, value_of
from .arrays import Array, LocalArray, row_major
from .images import MAKERS, Image, ImageSpec, Sampler
from .parallel import Group, Invocation, run_group
from .rewrite import TYPES, Function, translate
from .scalars import i32
from .structs import Struct, leaf, numbers, struct, view
from .vectors import Composite, Value, typed, vector

# ----------------------------------------------------------------------------------------------------------------------
# Types of parameters
# ----------------------------------------------------------------------------------------------------------------------


LARGEST_GROUP = 1024 * 8  # indices of a workgroup whose size kp chooses
SUBGROUP = 32  # invocations in a subgroup, unless the kernel or the caller says another number


class Const:
    """Const[T]: a number that is fixed when the kernel is prepared."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind

    def __class_getitem__(cls, kind: Any) -> Const:
        return cls(kind)


class Place:
    """Where an invocation is, and how many there are."""

    def __init__(self, extent: tuple[int, ...], size: tuple[int, ...]) -> None:
        self.size, self.count = size, tuple(-(-n // s) for n, s in zip(extent, size))
        self.group = self.local = (0, 0, 0)

    @property
    def index(self) -> tuple[int, ...]:
        return tuple(g * s + k for g, s, k in zip(self.group, self.size, self.local))

    @property
    def number(self) -> int:
        """In the workgroup; x runs fastest."""
        x, y, z = self.local
        return x + self.size[0] * (y + self.size[1] * z)


class Index:
    """Index, LocalIndex and their kind: a parameter that says where an invocation is, on 1, 2 or 3 axes."""

    def __init__(self, name: str, axes: int) -> None:
        self.name, self.axes = name, axes

    def at(self, place: Place) -> tuple[int, ...]:
        if self.axes == 1 and self.name == "LocalIndex":
            return (place.number,)
        if self.axes == 1 and self.name == "LocalSize":
            return (place.size[0] * place.size[1] * place.size[2],)
        whole: tuple[int, ...] = getattr(place, _PLACES[self.name])
        return whole[: self.axes]


_PLACES = {"Index": "index", "LocalIndex": "local", "LocalSize": "size", "GroupIndex": "group", "GroupCount": "count"}


class Uniform:
    """Uniform[T]: what all invocations read."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind

    def __class_getitem__(cls, kind: Any) -> Uniform:
        return cls(kind)


_SPECS: dict[str, Any] = {
    **TYPES,
    "Array": Array,
    "Const": Const,
    "Struct": struct,
    "Uniform": Uniform,
    "RES_UNIFORM": "uniform",
    **MAKERS,
    **{name + "123"[n - 1].replace("1", ""): Index(name, n) for name in _PLACES for n in (1, 2, 3)},
    "RES_INPUT": "input",
    "RES_BUFFER": "buffer",
    "RES_TEXTURE": "texture",
    "RES_SAMPLER": "sampler",
    "__builtins__": {},
}


def spec_of(text: str, structs: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """What a type as a kernel writes it means: a type, an Array, an Index, or pyshader's tuple with one of these. `structs` are
    those of the text."""

    class Names(dict[str, Any]):
        def __missing__(self, name: str) -> Any:
            return _Prefix()

    class _Prefix:
        def __getattr__(self, name: str) -> Any:
            return structs.get(name) or _SPECS.get(name, self)

    if re.match(r"[123]d ", text) or text == "sampler":  # pyshader's, as the compiler calls them
        return ("sampler" if text == "sampler" else "texture", 0, text)
    spec = eval(text, {"__builtins__": {}}, Names({**_SPECS, **structs}))
    while isinstance(spec, str):
        spec = spec_of(spec, structs)
    if isinstance(spec, tuple) and spec[0] in ("texture", "sampler"):
        return spec
    if isinstance(spec, Array) and isinstance(spec.element, str):
        spec.element = spec_of(spec.element, structs)
    if isinstance(spec, tuple):
        inner = spec_of(spec[2], structs) if isinstance(spec[2], str) else spec[2]
        return (*spec[:2], inner)
    return spec


class Buffer:
    """A storage buffer: a flat NumPy array whose elements are values of the language, or arrays of them."""

    def __init__(
        self, name: str, element: Any, data: Any, length: int | None = None, axes: int = 1, wraps: bool = False
    ) -> None:
        wanted, self.width = numbers(element)
        if wanted.names is not None and data.dtype.names is not None:
            data = view(data, leaf(element), name)
        if data.dtype != wanted:
            raise TypeError(f"argument '{name}': has dtype {data.dtype}, must be {wanted}")
        self.name, self.element, self.wraps = name, element, wraps
        self.axes = tuple(data.shape[:axes]) if axes > 1 else ()
        self.data = (data.reshape(-1, self.width) if self.width > 1 else data.reshape(-1))[:length]

    @property
    def shape(self) -> tuple[Any, ...]:
        return tuple(map(i32, self.axes or (len(self.data),)))

    def _flat(self, indices: tuple[Any, ...]) -> int:
        """The place of an element of a view, each of whose indices is in its axis."""
        if len(indices) != len(self.axes):
            raise TypeError(f"{self.name}[...]: {len(indices)} indices for {len(self.axes) or 1} axes")
        at = row_major(indices, self.axes)
        if at is None:
            raise IndexError(f"{self.name}[{', '.join(map(str, indices))}]: {self.name} has the shape {self.axes}")
        return at

    def _at(self, index: Any) -> int:
        if isinstance(index, tuple):
            return self._flat(index)
        if not isinstance(index, int) or isinstance(index, bool):
            raise TypeError(f"{self.name}[...]: an index of type {type(index).__name__}")
        size = len(self.data)
        from_end = index < 0 and (type(index) is int or self.wraps)  # a constant, or in an array whose length is known
        at = int(index) + size if from_end else int(index)
        if not 0 <= at < size:
            raise IndexError(f"{self.name}[{index}]: {self.name} has {size} elements")
        return at

    def __getitem__(self, index: Any) -> Any:
        at = self._at(index)
        if isinstance(self.element, Array):
            return Buffer(f"{self.name}[{index}]", self.element.element, self.data[at].reshape(-1), wraps=True)
        if self.element is bool:
            return bool(self.data[at])
        if issubclass(self.element, Struct):
            return self.element.at(self.data[at : at + 1].reshape(()))
        value = self.element.from_numpy(self.data[at])
        return value.at_home(lambda new: self._store(at, new)) if isinstance(value, Composite) else value

    def __setitem__(self, index: Any, value: Any) -> None:
        at = self._at(index)
        if isinstance(self.element, Array):
            inner = self[index]
            for k, x in enumerate(self.element.made(value)):
                inner[k] = x
        else:
            self._store(at, typed(value, self.element, self.name))

    def _store(self, at: int, value: Any) -> None:
        if isinstance(value, Struct):
            self.data[at] = value._data
        else:
            self.data[at] = value.numbers() if self.width > 1 else value

    def __len__(self) -> int:
        return self.axes[0] if self.axes else len(self.data)

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self.data)))

    def copy(self) -> LocalArray:
        """A row of a buffer of arrays, as an array of the kernel's own."""
        values = [x.copy() if isinstance(x, (Buffer, Value)) else x for x in self]
        return LocalArray(self.element, values)

    def __repr__(self) -> str:
        return f"<buffer {self.name}: {self.data!r}>"


# Inputs by pyshader's names.
_INPUTS: dict[str, Callable[[Place], Any]] = {
    "GlobalInvocationId": lambda place: place.index,
    "WorkgroupId": lambda place: place.group,
    "NumWorkgroups": lambda place: place.count,
    "LocalInvocationId": lambda place: place.local,
    "LocalInvocationIndex": lambda place: (place.number,),
}


class Parameter:
    """One parameter of a kernel: what it is, and the value that it has for an index."""

    def __init__(self, name: str, spec: Any, text: str) -> None:
        self.name, self.spec, self.text = name, spec, text
        self.is_input = isinstance(spec, Index) or (isinstance(spec, tuple) and spec[0] == "input")

    @property
    def array(self) -> Array | None:
        """The type of a buffer."""
        spec = self.spec[2] if isinstance(self.spec, tuple) and self.spec[0] == "buffer" else self.spec
        return spec if isinstance(spec, Array) else None

    @property
    def image(self) -> ImageSpec | None:
        """The type of an image."""
        if isinstance(self.spec, tuple) and self.spec[0] == "texture":
            return ImageSpec.of_pyshader(self.spec[2])
        return self.spec if isinstance(self.spec, ImageSpec) else None

    @property
    def is_sampler(self) -> bool:
        return isinstance(self.spec, tuple) and self.spec[0] == "sampler"

    @property
    def plain(self) -> Any:
        """The type of a value that is the same for all indices."""
        spec = self.spec
        return spec.kind if isinstance(spec, (Const, Uniform)) else spec[2] if isinstance(spec, tuple) else spec

    @property
    def declared(self) -> str:
        """The type of what is bound, as the compiler takes it."""
        if self.array is not None:
            return text_of(self.array)
        return f"Array[{text_of(self.spec[2])}]" if self.is_lone else self.text

    @property
    def is_lone(self) -> bool:
        """Whether it is pyshader's buffer of one value, which is no array."""
        return isinstance(self.spec, tuple) and self.spec[0] == "buffer" and self.array is None

    def bind(self, given: Any, who: str, checked: bool = False) -> Callable[[Place], Any]:
        """A function from a place to the value of the parameter, for what the caller gave."""
        spec = self.spec
        if isinstance(spec, Index):
            kind = i32 if spec.axes == 1 else vector(i32, spec.axes)
            return lambda place: kind(*spec.at(place))
        if isinstance(spec, tuple) and spec[0] == "input":
            source, kind = _INPUTS[spec[1]], spec[2]
            return lambda place: kind(*source(place))
        if self.image is not None:
            image = Image(self.name, self.image, given, checked)
            return lambda place: image
        if self.is_sampler:
            sampler = Sampler(self.name, given)
            return lambda place: sampler
        if self.array is not None:
            buffer = Buffer(self.name, self.array.element, given, self.array.length, self.array.axes)
            return lambda place: buffer
        if self.is_lone:
            own = _lone(self.plain, given.reshape(-1), self.name)
            return lambda place: own
        made = value_of(self.name, self.plain, given, who)
        if isinstance(self.plain, Array):
            made = Buffer(self.name, self.plain.element, made, self.plain.length, wraps=True)
        return (lambda place: made.copy()) if isinstance(made, Value) else (lambda place: made)


def _lone(kind: Any, data: Any, name: str) -> Any:
    """What a buffer without elements holds. A struct, a vector and a matrix store there; a number is as it was at the start."""
    if isinstance(kind, type) and issubclass(kind, Struct):
        return kind.at(view(data[:1], kind, name).reshape(()))
    row = data[: numbers(kind)[1]]
    if not issubclass(kind, Composite):
        return bool(row[0]) if kind is bool else kind.from_numpy(row[0])

    def store(new: Any) -> None:
        row[:] = new.numbers()

    return kind.from_numpy(row).at_home(store)


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
    for call in ast.walk(node):
        if isinstance(call, ast.Call):
            called = ast.unparse(call.func).rpartition(".")
            if called[2] in ("write", "imageStore") and len(call.args) == 3:
                names.add(ast.unparse(call.args[0]))
            elif called[2] == "write":
                names.add(called[0])
    return names


# ----------------------------------------------------------------------------------------------------------------------
# Kernels
# ----------------------------------------------------------------------------------------------------------------------


def _grid(counts: tuple[int, ...]) -> Iterator[tuple[int, int, int]]:
    """All places of a grid, x fastest."""
    return ((x, y, z) for z, y, x in itertools.product(*map(range, reversed(counts))))


def _option(node: ast.FunctionDef, name: str) -> Any:
    """What the decorator says of local_size or subgroup_size."""
    for decorator in node.decorator_list:
        for keyword in decorator.keywords if isinstance(decorator, ast.Call) else []:
            if keyword.arg == name:
                return ast.literal_eval(keyword.value)
    return None


class Emulation:
    """A kernel made ready to run in CPython: a kp.Kernel, pyshader's module, a function, or the text of one. A kp.Kernel takes
    from the arguments of its call the types that it does not have."""

    def __init__(self, kernel: Any, name: str | None = None, called_with: tuple[Any, Any] = ((), {})) -> None:
        from ..kernel import Kernel

        self.kernel = kernel if isinstance(kernel, Kernel) else None
        self.program = self.kernel._called_with(*called_with).program if self.kernel is not None else None
        self.open_types = self.kernel._types_with(*called_with) if self.kernel is not None else {}
        source = kernel
        if self.kernel is not None:
            source = self.kernel.function or self.kernel.source
            name = self.kernel.__name__
        source = getattr(source, "input", source)
        self.function = Function(source, name if isinstance(source, str) else None)
        self.name = self.function.name
        self.writes = _written(self.function.node)
        if self.program is not None:
            self.writes |= {param.name for param in self.program.params if param.writes}
        origin = self.kernel._origin if self.kernel is not None else None
        self.checked = bool(origin is not None and origin.options.get("checked"))
        self.parameters = [
            Parameter(a, spec_of(text, self.function.structs), text) for a, text in self._types().items()
        ]
        self.constants = self._defaults()
        self.function.node.args.defaults = []
        self.local_size, self.subgroup_size = self._sizes()

    def _sizes(self) -> tuple[tuple[int, ...], int]:
        """The size of a workgroup, and of a subgroup."""
        if self.program is not None:
            return self.program.local_size or (1, 1, 1), self.program.subgroup_size or SUBGROUP
        size = tuple(int(n) for n in np.atleast_1d(_option(self.function.node, "local_size") or 1))
        return size + (1,) * (3 - len(size)), _option(self.function.node, "subgroup_size") or SUBGROUP

    def _defaults(self) -> dict[str, Any]:
        """The values of the parameters that have one."""
        arguments = self.function.node.args.args
        defaults = self.function.node.args.defaults
        given: dict[str, Any] = dict(zip([a.arg for a in arguments[len(arguments) - len(defaults) :]], defaults))
        kinds = {p.name: p.spec for p in self.parameters}
        plain = [name for name in given if not isinstance(kinds[name], (tuple, Index, Array))]
        if self.function.function is not None:
            now = default_values(self.function.function)
            return {name: translate(now[name]) for name in plain if name in now}
        return {name: self._default(given[name]) for name in plain}

    def _default(self, node: ast.expr) -> Any:
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        code = compile(ast.fix_missing_locations(ast.Expression(node)), self.function.file, "eval")
        return eval(code, {"__builtins__": {}}, self.function.resolve(names))

    def _types(self) -> dict[str, str]:
        """The type of each parameter, as text."""
        arguments = self.function.node.args.args
        defaults = [None] * (len(arguments) - len(self.function.node.args.defaults))
        given = zip(arguments, [*defaults, *self.function.node.args.defaults])
        written = [(a.arg, a.annotation, d) for a, d in given]
        known = {name: ast.unparse(node) for name, a, d in written if (node := a or d) is not None}
        for name, annotation, default in written:
            kind = isinstance(default, ast.Tuple) or (
                isinstance(default, ast.Constant) and isinstance(default.value, str)
            )
            if annotation is None and default is not None and not kind:
                known[name] = {bool: "bool", int: "i32", float: "f32"}[type(self._default(default))]
        if self.program is not None:
            known = {p.name: p.type for p in self.program.params} | known
        known |= self.open_types
        if self.function.function is not None:
            from .._source import _param_types

            known |= _param_types(self.function.function, {})
        for argument in arguments:
            if argument.arg not in known:
                raise TypeError(f"{self.name}(): the parameter '{argument.arg}' has no type")
        return {a.arg: known[a.arg] for a in arguments}

    def run(self, extent: Any, *args: Any) -> None:
        """Runs the kernel once per index of `extent` (a number, or a tuple of up to three), x fastest, in whole workgroups. The
        arguments are those behind the index, in order; NumPy arrays for buffers."""
        counts: tuple[int, ...] = tuple(int(n) for n in np.atleast_1d(extent))
        axes, counts = len(counts), counts + (1,) * (3 - len(counts))
        given = iter(args)
        place = Place(counts, self.local_size)
        sources = [
            p.bind(None if p.is_input else next(given), f"{self.name}() argument", self.checked)
            for p in self.parameters
        ]
        function = self.function.make(types_of_parameters=False)

        def call(who: Invocation) -> Any:
            place.local = who.local
            return function(*[source(place) for source in sources])

        def where(who: Invocation) -> str:
            place.local = who.local
            return f"{self.name}() was at the index {place.index[:axes] if axes > 1 else place.index[0]}"

        for group in _grid(place.count):
            place.group = group
            run_group(*self._group(), call, where)

    def _group(self) -> tuple[list[Invocation], Group]:
        size = self.local_size[0] * self.local_size[1] * self.local_size[2]
        lanes = self.subgroup_size
        everyone = [Invocation(local, n, n % lanes, n // lanes) for n, local in enumerate(_grid(self.local_size))]
        return everyone, Group(lanes, -(-size // lanes))

    def launch(self, args: tuple[Any, ...], kwargs: dict[str, Any], extent: Any) -> None:
        """Runs the kernel with a caller's arguments."""
        names = [parameter.name for parameter in self.parameters if not parameter.is_input]
        given = bind(self.name, names, self.constants, args, kwargs)
        arguments = Arguments()
        values = []
        written = set()
        for parameter in self.parameters:
            if parameter.is_input:
                continue
            value, what = given[parameter.name], f"{self.name}() argument '{parameter.name}'"
            if parameter.name in self.writes and not isinstance(value, Memory):
                refuse_masked(value, what)
                target_of(value, what)
                written.add(id(value))
            if parameter.array is not None or parameter.image is not None or parameter.is_lone:
                value = arguments.take(self._param(parameter), value, what)
            values.append(value)
        try:
            self.run(self._checked_extent(extent, values), *values)
        finally:
            arguments.write_back(written)

    def _param(self, parameter: Parameter) -> Param:
        """What the compiler knows of what is bound."""
        program = self.program or declare(parameter.name, parameter.declared)
        return next(param for param in program.params if param.name == parameter.name)

    def _checked_extent(self, extent: Any, values: list[Any]) -> Any:
        """As many workgroups as devices can have, of the size that kp would choose at most."""
        counts = self._extent(extent, values)
        sizes = self.local_size if self.local_size != (1, 1, 1) else (LARGEST_GROUP, 1, 1)
        groups = math.prod(-(-n // size) for n, size in zip(np.atleast_1d(counts).tolist(), sizes))
        if groups >= 2**32:
            raise LimitError(f"{self.name}(): an extent of {counts} is {groups} workgroups, at most 2^32 are possible")
        return counts

    def _extent(self, extent: Any, values: list[Any]) -> Any:
        if extent is not None:
            return read_extent(extent)
        given = zip([p for p in self.parameters if not p.is_input], values)
        bound = ((p, v) for p, v in given if p.name in self.writes and (p.array or p.image or p.is_lone))
        parameter, value = next(bound, (None, None))
        param, shape = None, ()
        if parameter is not None and value is not None:
            param, shape = self._param(parameter), value.shape
        if parameter is not None and parameter.image is not None:
            shape = (*reversed(Image(parameter.name, parameter.image, value).sizes), 1)
        index = next((p.spec for p in self.parameters if isinstance(p.spec, Index) and p.spec.name == "Index"), None)
        return own_extent(self.name, f"Index{index.axes}" if index and index.axes > 1 else "Index", param, shape)


__all__ = ["Array", "Buffer", "Emulation", "Index", "Parameter"]
