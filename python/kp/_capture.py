"""What the names of a kernel stand for outside of it: functions that it calls, and numbers that it takes from its module or
closure, for it and for each of these functions.

Python's own rules decide: a name that a function assigns anywhere is its own; any other one is looked for in its closure, then
in its module, then among the built-ins. Nothing here depends on bytecode. What was found is remembered as `watches`, so that a
later call can tell in a moment that nothing has changed.
"""

from __future__ import annotations

import ast
import enum
from copy import copy
from types import FunctionType, MethodType, ModuleType

from . import _kp, lang
from ._source import compile_error, default_values, definition_of, helper_of, helper_types, read_source
from .structs import StructType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import CodeType
    from typing import Any, TypeAlias

    from ._kp import _Constant

    Path: TypeAlias = tuple[str, ...]

ABSENT: Any = object()  # a name that is not there
MODULES = ("kp", "math", "np", "numpy", "ps", "pyshader", "stdlib")  # whose functions need no import
NUMPYS = {  # where Python's math means something else by the name
    "remainder": "NumPy's is x % y, not math.remainder",
    "isclose": "NumPy's has other tolerances; write math.isclose(x, y, rel_tol=1e-5, abs_tol=1e-8)",
}
CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR = 0x20, 0x80, 0x200


class Capture:
    """All that a compile of a kernel takes, gathered from a Python function."""

    def __init__(self, function: FunctionType, params: Mapping[str, str], sizes: Mapping[str, Any]) -> None:
        self.watches: list[tuple[Any, ...]] = []  # (dict or object, name, its value); without a value: it has none
        self.fixed = True  # the watches tell all changes
        self.refused: dict[str, Any] = {}  # what a kernel cannot take, by its path
        self.missing: set[str] = set()  # names that are not there, or not yet
        self._indices: dict[FunctionType, int] = {}
        self._functions: list[FunctionType] = []
        self._watched: set[tuple[int, str]] = set()
        kernel = self._names_of(function)
        self.source: str = kernel.pop("source")
        self.arguments: dict[str, Any] = {"kernel": kernel.pop("name"), "params": dict(params), **sizes, **kernel}
        own = {name: value for name, value in default_values(function).items() if not isinstance(value, (tuple, str))}
        self.arguments["defaults"] = _numbers(own)
        helpers = []
        for helper in self._functions:  # grows on the way
            types, defaults = helper_types(helper)
            helpers.append({**self._names_of(helper), "params": types, "defaults": _numbers(defaults)})
            lost = _with_default[helper.__code__] - defaults.keys()
            if lost:
                raise compile_error(
                    helper,
                    f"'{min(lost)}' of '{helper.__name__}' has lost the default value that it has in the text, which a kernel "
                    "goes by; define the function anew",
                )
        if helpers:
            self.arguments["functions"] = helpers

    def with_params(self, params: Mapping[str, str]) -> Capture:
        """The same with these types; this one, which other threads may be reading, stays as it is."""
        other = copy(self)
        other.arguments = {**self.arguments, "params": dict(params)}
        return other

    def explain(self, error: _kp.CompileError) -> None:
        """Has the error say what a name is, when there is such a name, but for Python alone."""
        said = error.msg or ""
        place = (error.text or "")[(error.offset or 1) - 1 : (error.end_offset or 1) - 1]
        root = place.partition(".")[0].strip()
        if said.startswith("there is no function") and place != root and root in self.missing:
            self._say(error, f"there is no '{root}' here")
            return
        for path, value in self.refused.items():
            if said.startswith(f"there is no '{path}' here"):
                kind = "class" if isinstance(value, type) else type(value).__name__
                an = "an" if kind[0] in "aeiouAEIOU" or kind == "ndarray" else "a"
                what = (
                    f"'{path}' is {value}, which no type of the kernel language holds"
                    if isinstance(value, int)
                    else f"'{path}' is {an} {kind}; from outside, a kernel takes numbers, tuples of them, and functions"
                )
                if isinstance(helper_of(value), FunctionType):
                    what = f"'{path}' is a function; call it, as in {path}(...): a kernel does not pass functions on"
                if hasattr(value, "dtype") or isinstance(value, (_kp.Memory, list)):
                    what += (
                        "; pass it as a parameter"
                        if not isinstance(value, list)
                        else "; make it a tuple, or a parameter"
                    )
                self._say(error, what)

    @staticmethod
    def _say(error: _kp.CompileError, message: str) -> None:
        error.args = (str(error).replace(error.msg or "", message, 1), *error.args[1:])
        error.msg = message

    def key(self) -> str:
        """Says exactly what is compiled: equal texts give equal programs."""
        return repr((self.source, self.arguments))

    def _watch_function(self, function: FunctionType) -> None:
        """What of a function may be changed in place."""
        code, by_name = function.__code__, function.__kwdefaults__
        for name in ("__code__", "__defaults__", "__kwdefaults__"):
            self._watch(function, name, getattr(function, name))
        if by_name is not None:
            for parameter in code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]:
                self._watch(by_name, parameter, by_name.get(parameter, ABSENT))

    def _names_of(self, function: FunctionType) -> dict[str, Any]:
        text, first_line = read_source(function)
        self._watch_function(function)
        constants: dict[str, _Constant] = {}
        callees: dict[str, int | str] = {}
        types: dict[str, str] = {}
        for path, called in paths_of(function, text):
            self._resolve(function, path, called, constants, callees, types)
        return {
            "source": text,
            "name": function.__code__.co_name,
            "file": function.__code__.co_filename,
            "first_line": first_line,
            "constants": constants,
            "callees": callees,
            "types": types,
        }

    def _resolve(
        self,
        function: FunctionType,
        path: Path,
        called: bool,
        constants: dict[str, _Constant],
        callees: dict[str, int | str],
        types: dict[str, str],
    ) -> None:
        value = self._root(function, path[0])
        for depth, name in enumerate(path, start=1):
            if depth > 1:
                if isinstance(value, enum.Enum) and name not in ("value", "_value_"):
                    return
                value = self._attribute(value, name)
            if value is ABSENT:
                if depth == 1 and name not in MODULES:
                    self.missing.add(name)
                return
            dotted = ".".join(path[:depth])
            number = constant_of(value)
            if number is not None:
                constants[dotted] = number
                self.fixed &= not is_mutable(value)
                if not isinstance(value, enum.Enum):
                    return
            elif depth == len(path) and isinstance(value, StructType):
                types[dotted] = value.text
            elif depth == len(path) and called:
                callee = self._callee(value, path[-1])
                if callee is not None:
                    callees[dotted] = callee
            elif depth == len(path):
                self.refused[dotted] = value

    def _root(self, function: FunctionType, name: str) -> Any:
        if name in function.__code__.co_freevars:
            cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
            return self._attribute(cell, "cell_contents")
        if name in function.__globals__:
            return self._watch(function.__globals__, name, function.__globals__[name])
        self._watch(function.__globals__, name, ABSENT)
        import builtins

        return getattr(builtins, name, ABSENT)

    def _attribute(self, owner: Any, name: str) -> Any:
        try:
            value = getattr(owner, name)
        except (AttributeError, ValueError):  # ValueError: a name of the closure that is not assigned yet
            return self._watch(owner, name, ABSENT)
        if isinstance(owner, ModuleType) or (isinstance(owner, type) and not isinstance(value, MethodType)):
            return self._watch(owner, name, value)
        if type(owner).__name__ == "cell" or isinstance(owner, enum.Enum):
            return self._watch(owner, name, value)
        self.fixed = False  # a property may give another object each time
        return value

    def _watch(self, owner: Any, name: str, value: Any) -> Any:
        if (id(owner), name) not in self._watched:
            self._watched.add((id(owner), name))
            self.watches.append((owner, name) if value is ABSENT else (owner, name, value))
        return value

    def _callee(self, value: Any, name: str) -> int | str | None:
        """The number of a helper, why it cannot be one, "=" and a name of the language, or None: the compiler knows."""
        value = helper_of(value)
        if isinstance(value, FunctionType):
            flags = value.__code__.co_flags
            if value.__name__ == "<lambda>":
                return "it is a lambda; write a def"
            if flags & (CO_COROUTINE | CO_ASYNC_GENERATOR):
                return "it is async"
            if flags & CO_GENERATOR:
                return "it is a generator"
            if value not in self._indices:
                self._indices[value] = len(self._functions)
                self._functions.append(value)
            return self._indices[value]
        if isinstance(value, MethodType):
            return f"it is a method of {type(value.__self__).__name__}; kernels call plain functions"
        module = getattr(value, "__module__", None) or type(value).__module__
        if module.partition(".")[0] == "numpy" and getattr(value, "__name__", "") in NUMPYS:
            return NUMPYS[value.__name__]
        if module.partition(".")[0] in ("kp", "pyshader", "builtins", "math", "numpy", "cmath"):
            own = getattr(value, "__name__", name)
            if not _is_ours(own) and _is_ours(name):  # numpy.abs is called 'absolute'
                return None
            return "=" + own if own != name and isinstance(own, str) else None
        if isinstance(value, type):
            return "it is a class"
        return f"it is an object of type {type(value).__name__}, not a plain function"


def _is_ours(name: str) -> bool:
    """Whether the language may have a function of that name; some are Python's own."""
    import builtins

    return hasattr(lang, name) or hasattr(builtins, name)


# ----------------------------------------------------------------------------------------------------------------------
# Names
# ----------------------------------------------------------------------------------------------------------------------

_paths: dict[CodeType, list[tuple[Path, bool]]] = {}
_with_default: dict[CodeType, set[str]] = {}  # the parameters that have a default value in the text


def paths_of(function: FunctionType, text: str) -> list[tuple[Path, bool]]:
    """The names, and the dotted paths that start with one, which the function takes from outside; and whether it calls them."""
    known = _paths.get(function.__code__)
    if known is None:
        known = _paths[function.__code__] = list(_find_paths(function, text))
    return known


def _find_paths(function: FunctionType, text: str) -> Iterator[tuple[Path, bool]]:
    try:
        definition = definition_of(function, text)
    except SyntaxError as error:
        raise compile_error(function, f"Python cannot read the source of '{function.__name__}': {error.msg}") from None
    _with_default[function.__code__] = set()
    if definition is None:
        return
    names = _Names()
    arguments = definition.args
    places = [*arguments.posonlyargs, *arguments.args][::-1]
    given = [argument for argument, _ in zip(places, arguments.defaults, strict=False)]
    given += [argument for argument, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value]
    _with_default[function.__code__] = {argument.arg for argument in given}
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        names.bound.add(argument.arg)
    for statement in definition.body:
        names.visit(statement)
    seen: dict[Path, bool] = {}
    for path, called in names.paths:
        if path[0] not in names.bound - names.declared:
            seen[path] = seen.get(path, False) or called
    yield from seen.items()


class _Names(ast.NodeVisitor):
    """The names that statements bind, and the paths that they read."""

    def __init__(self) -> None:
        self.bound: set[str] = set()
        self.declared: set[str] = set()  # global
        self.paths: list[tuple[Path, bool]] = []

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.paths.append(((node.id,), False))
        else:
            self.bound.add(node.id)

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        self.declared.update(node.names)

    visit_Nonlocal = visit_Global

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path = _path(node)
        if path is None:
            self.generic_visit(node)
        else:
            self.paths.append((path, False))

    def visit_Call(self, node: ast.Call) -> None:
        path = _path(node.func)
        if path is None:
            self.visit(node.func)
        else:
            self.paths.append((path, True))
        for argument in (*node.args, *node.keywords):
            self.visit(argument)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.visit(node.target)
        self.visit(node.annotation)
        if node.value is not None:
            self.visit(node.value)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        """Its variables are its own: outside of it, and in what the first `for` goes over, their names mean something else."""
        self.visit(node.generators[0].iter)
        inside = _Names()
        for generator in node.generators:
            inside.visit(generator.target)
            for part in (*([generator.iter] if generator is not node.generators[0] else []), *generator.ifs):
                inside.visit(part)
        inside.visit(node.elt)
        self.paths += [(path, called) for path, called in inside.paths if path[0] not in inside.bound]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:  # the compiler refuses it
        self.bound.add(node.name)


def _path(node: ast.expr) -> Path | None:
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return (node.id, *reversed(names))


# ----------------------------------------------------------------------------------------------------------------------
# Numbers
# ----------------------------------------------------------------------------------------------------------------------


def constant_of(value: object) -> _Constant | None:
    """The number, or tuple of numbers, as the compiler takes it; None for anything else."""
    if isinstance(value, enum.Enum) and not isinstance(value, (int, float)):
        return constant_of(value.value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        if 2**63 <= value < 2**64:  # as a literal: a u64
            return ("u64", int(value))
        return int(value) if -(2**63) <= value < 2**63 else None
    if isinstance(value, float):
        return float(value)
    if isinstance(value, tuple):
        items = [number for number in map(constant_of, value) if number is not None]
        return items if items and len(items) == len(value) else None
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        return _numpy_constant(value)
    if type(value).__module__ == "numpy" and is_matrix(getattr(value, "shape", ())) and value.dtype.kind in "fi":  # type: ignore[attr-defined]
        return ("f16" if value.dtype.name == "float16" else "f32", value.astype("float64").tolist())  # type: ignore[attr-defined]
    return None


def is_matrix(shape: tuple[int, ...]) -> bool:
    """Whether an array of this shape, from outside, is a matrix in a kernel."""
    return len(shape) == 2 and all(2 <= size <= 4 for size in shape)


def _numbers(values: Mapping[str, object]) -> dict[str, _Constant]:
    found = {name: constant_of(value) for name, value in values.items()}
    return {name: number for name, number in found.items() if number is not None}


def is_mutable(value: object) -> bool:
    """A NumPy array; its numbers may change, and no watch would tell."""
    return type(value).__name__ == "ndarray"


def _numpy_constant(value: Any) -> _Constant | None:
    """NumPy's default types adapt to where they are used, as Python's numbers; the others keep their type."""
    name = value.dtype.name
    if name == "bool":
        return bool(value)
    if name == "int64":
        return int(value)
    for text, numpy_name, _, _ in _kp.DTYPES:
        if name == numpy_name:
            return (text, float(value) if value.dtype.kind == "f" else int(value))
    return None
