"""From a Python function to one that computes as a device does.

Every statement, operator and order of evaluation stays CPython's own, and so do file and line numbers: a debugger stops where
you expect. Two things change. What a local variable gets goes through `__bind__`, which makes a plain number an i32 or f32,
keeps a variable at the type of its first value, and copies vectors, for they are values in the language. And the names that
the function takes from outside are looked up in the language: `f32` is the emulated type, `exp` the emulated function, a
function of yours is rewritten in turn, a number is a constant.
"""

from __future__ import annotations

import ast
import builtins
import enum
import linecache
import types
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from .._capture import is_matrix
from .._source import helper_of
from ..lang import LanguageFunction, LanguageType, type_text
from ..structs import StructType
from .arrays import Array, LocalArray, Table, from_list, leaves, table_kind
from .functions import FUNCTIONS, PYTHON
from .images import FUNCTIONS as IMAGES
from .matrices import matrix, matrix_types
from .parallel import PARALLEL, Collective, Fields, shared, takes_place
from .scalars import SCALARS, f16, f32, f64, i32, u64
from .structs import Struct, struct
from .vectors import Composite, typed, vector, vector_types

TYPES: dict[str, Any] = {
    **{kind.__name__: kind for kind in SCALARS},
    **vector_types(),
    **matrix_types(),
    "bool": bool,
    "boolean": bool,
    "bool_": bool,
    "float": f32,
    "int": i32,
    "half": f16,
    "single": f32,
    "double": f64,
    **{np.dtype(kind.numpy).name: kind for kind in SCALARS},
    "Vector": lambda size, scalar: vector(scalar, size),
    "Matrix": lambda columns, rows, scalar: matrix(scalar, rows, columns),
}


class Namespace:
    """A module, or a class of constants, as a kernel sees it: its numbers, its functions, and the language's names."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if hasattr(self._module, name):
            found = translate(getattr(self._module, name))
            if found is not None:
                return found
        if name in LANGUAGE:
            return LANGUAGE[name]
        return getattr(self._module, name)


def translate(value: Any) -> Any:
    """What an outside object is in a kernel, or None when it is nothing in particular."""
    if isinstance(value, enum.Enum):
        value = value.value
    if isinstance(value, np.ndarray) and value.shape == ():
        value = value[()]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, float)) and not isinstance(value, np.generic):
        return (int if isinstance(value, int) else float)(value)
    if isinstance(value, np.generic):
        kind = TYPES.get(type_text(value.dtype))
        return kind(value.item()) if kind is not None and value.dtype.name not in ("int64", "float64") else value.item()
    if isinstance(value, tuple):
        items = tuple(translate(item) for item in value)
        numbers = list(leaves(items))
        kind = table_kind(numbers) or (f32 if all(type(x) in (int, float) for x in numbers) else None)
        return Table.of(items, kind) if numbers and kind is not None else items
    if isinstance(value, StructType):
        from .launch import spec_of

        return spec_of(value.text)
    if isinstance(value, type) and issubclass(value, Struct):
        return value
    if isinstance(value, np.ndarray) and is_matrix(value.shape) and value.dtype.kind in "fi":
        return matrix(f16 if value.dtype == np.float16 else f32, *value.shape)(value.astype(float))
    if isinstance(value, LanguageFunction) or getattr(value, "__module__", None) in ("builtins", "math"):
        name = value.__name__
        return LANGUAGE.get(name)
    if isinstance(value, LanguageType):
        return Array if value.__name__ == "Array" else TYPES.get(value.__name__)
    if isinstance(value, type) and issubclass(value, np.generic):
        return TYPES.get(type_text(value))
    if isinstance(value, types.ModuleType) or (isinstance(value, type) and issubclass(value, enum.Enum)):
        return Namespace(value)
    function = helper_of(value)
    return Function(function).call if isinstance(function, types.FunctionType) else None


def _language() -> dict[str, Any]:
    """What a kernel may name without importing it."""
    import math

    names: dict[str, Any] = {**FUNCTIONS, **PYTHON, **IMAGES, **PARALLEL, **TYPES, "Array": Array}
    own = types.SimpleNamespace(**names)
    for name in ("stdlib", "lang", "kp", "ps", "pyshader"):
        names[name] = own
    own.stdlib = own.lang = own
    names["math"] = Namespace(math)
    names["np"] = names["numpy"] = Namespace(np)
    return names


LANGUAGE: dict[str, Any] = {}
LANGUAGE.update(_language())


# ----------------------------------------------------------------------------------------------------------------------
# What the rewritten code calls
# ----------------------------------------------------------------------------------------------------------------------


def _taken(value: Any) -> Any:
    return value.copy() if hasattr(value, "copy") else value


def _value(owner: Any, name: str) -> Any:
    """`owner.value`: of an enum's member, which is its number already, that number."""
    return owner if isinstance(owner, (bool, int, float, tuple)) else getattr(owner, name)


def _bind(kinds: dict[str, Any], name: str, value: Any, declared: Any = None) -> Any:
    """`value` as the variable called `name` has it; `kinds` are the types that the variables of this call have taken on."""
    kind = kinds.get(name) or declared
    if value is None:
        kinds[name] = declared
        return None
    if isinstance(value, (list, LocalArray)):
        if isinstance(kind, Array):
            value = kind.made(value)
        elif isinstance(value, list):
            value = from_list(value)
        kinds[name] = value.kind
        return value
    if kind is None:
        kind = {int: i32, float: f32}.get(type(value), type(value))
        if type(value) is int and value >= 2**63:
            kind = u64
    value = typed(value, kind, name)
    kinds[name] = kind
    return value


def _parameter(kinds: dict[str, Any], name: str, value: Any, declared: Any = None) -> Any:
    """What a helper's parameter starts with. A literal stays one where no type is declared: it adapts to what it meets."""
    if isinstance(value, LocalArray):  # the caller's own
        if isinstance(declared, Array) and declared.length not in (None, len(value)):
            raise TypeError(f"{name} is {declared.__name__}, not {value.kind.__name__}")
        kinds[name] = value.kind
        return value
    if isinstance(declared, Array) and declared.length is None:  # Array[f32]: of any length
        declared = Array(len(value), declared.element) if isinstance(value, list) else None
    literal = declared is None and type(value) in (int, float, tuple, Table)
    return value if literal else _bind(kinds, name, value, declared)


def _items(items: Any) -> Any:
    """What a loop over a list or tuple in the text goes over: numbers of one type."""
    numbers = all(isinstance(item, (int, float)) and not isinstance(item, bool) for item in items)
    return from_list(list(items)) if numbers and items else items


def _kinds(variables: Mapping[str, Any]) -> dict[str, Any]:
    return {name: type(value) for name, value in variables.items()}


def _like(literal: Any, model: Callable[[], Any]) -> Any:
    """`literal` as a value of the type that model() has, when that can be found out."""
    try:
        kind = type(model())
    except (ArithmeticError, LookupError, NameError):
        return literal
    return kind.literal(literal) if kind in SCALARS and type(literal) in (int, float) else literal


# ----------------------------------------------------------------------------------------------------------------------
# The tree
# ----------------------------------------------------------------------------------------------------------------------


def _is_literal(node: ast.AST) -> bool:
    return all(isinstance(n, (ast.Constant, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop)) for n in ast.walk(node))


def _is_pure(node: ast.AST) -> bool:
    """Whether it may be evaluated once more: it calls functions of numbers only."""
    calls = [n.func for n in ast.walk(node) if isinstance(n, ast.Call)]
    return all(isinstance(f, ast.Name) and (f.id in FUNCTIONS or f.id in (*TYPES, "__like__")) for f in calls)


def _call(name: str, *args: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), list(args), [])


def meaning(node: ast.expr, scope: Mapping[str, Any]) -> Any:
    """What a name, or a name behind dots, stands for; None for anything else."""
    if isinstance(node, ast.Name):
        return scope.get(node.id)
    if isinstance(node, ast.Attribute):
        return getattr(meaning(node.value, scope), node.attr, None)
    return None


class _Rewriter(ast.NodeTransformer):
    """Sends what a local variable gets through __bind__, gives literals in choices a type, and makes what invocations do
    together a yield."""

    def __init__(self, kind_of: Callable[[ast.expr], Any], scope: dict[str, Any], file: str) -> None:
        self.kind_of = kind_of
        self.scope = scope
        self.file = file
        self.loose: list[ast.Name] = []

    def visit_Call(self, node: ast.Call) -> Any:
        called = meaning(node.func, self.scope)
        if takes_place(called, len(node.args)):
            node.args[:1] = self.place(node.args[0])
        self.generic_visit(node)
        helper = getattr(called, "__self__", None)
        if isinstance(called, Collective) or called is shared:
            place = [ast.Constant(part) for part in (self.file, node.lineno, node.col_offset)]
            node.args.insert(0, ast.copy_location(ast.Tuple([*place], ast.Load()), node))
        if isinstance(called, Collective):
            return ast.copy_location(ast.Yield(node), node)
        if isinstance(helper, Function) and helper.meets():
            return ast.copy_location(ast.YieldFrom(node), node)
        return node

    def place(self, node: ast.expr) -> list[ast.expr]:
        """An element, field or component as what it is in, and its key there."""
        if isinstance(node, ast.Subscript):
            return [node.value, node.slice]
        if isinstance(node, ast.Attribute):
            owner = ast.copy_location(_call("__fields__", node.value), node)
            return [owner, ast.copy_location(ast.Constant(node.attr), node)]
        raise TypeError(
            f"kp.emulate: line {node.lineno}: '{ast.unparse(node)}' is a number in Python, which an atomic cannot change; an "
            "element of an array can be"
        )

    def bound(self, name: str, value: ast.expr, *annotation: ast.expr) -> ast.expr:
        call = _call("__bind__", ast.Name("__kinds__", ast.Load()), ast.Constant(name), value, *annotation)
        return ast.copy_location(call, value)

    def kind(self, annotation: ast.expr) -> ast.expr:
        """An expression for the type that an annotation names."""
        name = f"__kind_{len(self.scope)}__"
        self.scope[name] = self.kind_of(annotation)
        return ast.Name(name, ast.Load())

    def through(self, target: ast.expr, value: ast.expr) -> ast.expr:
        if isinstance(target, ast.Name):
            return self.bound(target.id, value)
        if isinstance(target, (ast.Tuple, ast.List)):
            if isinstance(value, (ast.Tuple, ast.List)) and len(target.elts) == len(value.elts):
                value.elts = [self.through(t, self.taken(t, v)) for t, v in zip(target.elts, value.elts)]
            else:
                self.loose += [n for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        return value

    def taken(self, target: ast.expr, value: ast.expr) -> ast.expr:
        """One of several values that are stored one after the other: what it is now, as in p[0], p[1] = p[1], p[0]."""
        if isinstance(target, (ast.Subscript, ast.Attribute)):
            return ast.copy_location(_call("__taken__", value), value)
        return value

    def visit_Assign(self, node: ast.Assign) -> Any:
        self.generic_visit(node)
        self.loose = []  # what gets a part of a value that Python takes apart
        for target in node.targets:
            node.value = self.through(target, node.value)
        return [node, *(self.again(name) for name in self.loose)]

    def again(self, target: ast.Name) -> ast.stmt:
        """target = __bind__("target", target), for what Python itself assigned."""
        read = ast.copy_location(ast.Name(target.id, ast.Load()), target)
        store = ast.copy_location(ast.Name(target.id, ast.Store()), target)
        return ast.copy_location(ast.Assign([store], self.bound(target.id, read)), target)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        self.generic_visit(node)
        if node.attr in ("value", "_value_") and isinstance(node.ctx, ast.Load):
            return ast.copy_location(_call("__value__", node.value, ast.Constant(node.attr)), node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        annotation, node.annotation = node.annotation, ast.Constant(None)
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            return node
        value = node.value or ast.copy_location(ast.Constant(None), node)
        bound = self.bound(node.target.id, value, self.kind(annotation))
        if node.value is None:
            return ast.copy_location(ast.Expr(bound), node)
        return ast.copy_location(ast.Assign([node.target], bound), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            return node
        read = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        value = ast.copy_location(ast.BinOp(read, node.op, node.value), node)
        return ast.copy_location(ast.Assign([node.target], self.bound(node.target.id, value)), node)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        """`a if c else 3`: the literal is given the type that `a` would have."""
        literals = [_is_literal(node.body), _is_literal(node.orelse)]
        self.generic_visit(node)
        if literals == [True, False] and _is_pure(node.orelse):
            node.body = self.like(node.body, node.orelse)
        elif literals == [False, True] and _is_pure(node.body):
            node.orelse = self.like(node.orelse, node.body)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        """`a or 1`: the same."""
        literals = [_is_literal(value) for value in node.values]
        self.generic_visit(node)
        models = [v for v, literal in zip(node.values, literals) if not literal and _is_pure(v)]
        if models:
            node.values = [self.like(v, models[0]) if literal else v for v, literal in zip(node.values, literals)]
        return node

    def like(self, literal: ast.expr, model: ast.expr) -> ast.expr:
        no_arguments = ast.arguments([], [], None, [], [], None, [])
        return ast.copy_location(_call("__like__", literal, ast.Lambda(no_arguments, model)), literal)

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        if isinstance(node.iter, (ast.List, ast.Tuple)):
            node.iter = ast.copy_location(_call("__items__", node.iter), node.iter)
        names = [n for n in ast.walk(node.target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        node.body[:0] = [self.again(name) for name in names]
        return node


# ----------------------------------------------------------------------------------------------------------------------
# The function
# ----------------------------------------------------------------------------------------------------------------------


def _globals(tree: ast.Module) -> dict[str, Any]:
    """The constants of a text, NAME = value or NAME: type = value, as far as they are made of numbers."""
    import math

    names: dict[str, Any] = {"math": math}
    for node in tree.body:
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if isinstance(target, ast.Name):
            code = compile(ast.Expression(node.value), "<constant>", "eval")
            try:
                value = eval(code, {"__builtins__": {"abs": abs, "min": min, "max": max, "len": len}}, names)
            except Exception:
                continue
            if isinstance(value, (int, float, tuple)):
                names[target.id] = value
    del names["math"]
    return names


def _structs(tree: ast.Module) -> dict[str, Any]:
    """The structs of a text: its classes with the base Struct."""
    from .launch import spec_of

    made: dict[str, Any] = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and [ast.unparse(base).rpartition(".")[2] for base in node.bases] == [
            "Struct"
        ]:
            fields = [field for field in node.body if isinstance(field, ast.AnnAssign)]
            kinds = {ast.unparse(field.target): spec_of(ast.unparse(field.annotation), made) for field in fields}
            made[node.name] = struct(node.name, **kinds)
    return made


def _names_in(nodes: Iterable[ast.AST]) -> set[str]:
    return {n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name)}


class Function:
    """A function made ready to run: `call` is it. Given as a function, or as a text and which function of it. The text of a
    function is looked at when it is needed: what a name of the module stands for may never be called."""

    def __init__(self, function: Any, name: str | None = None, siblings: Mapping[str, Any] | None = None):
        self.function = function if not isinstance(function, str) else None
        self.structs: dict[str, Any] = {}  # of a text
        self.siblings: dict[str, Any] = dict(siblings or {})  # functions, as trees, and constants
        self._given = function, name
        if isinstance(function, str):
            assert self._parsed  # and with it structs and siblings
        self.scope: dict[str, Any] = {}
        self._made: Callable[..., Any] | None = None
        self._meets: bool | None = None

    @cached_property
    def _parsed(self) -> tuple[ast.FunctionDef, str]:
        return self._parse(*self._given)

    @property
    def node(self) -> ast.FunctionDef:
        return self._parsed[0]

    @property
    def file(self) -> str:
        return self._parsed[1]

    @property
    def name(self) -> str:
        return self.node.name

    def _parse(self, function: Any, name: str | None) -> tuple[ast.FunctionDef, str]:
        if isinstance(function, str):
            file = f"<kernel {id(function):x}>"
            linecache.cache[file] = (len(function), None, function.splitlines(True), file)
            text, first = function, 1
        else:
            from .._source import read_source

            text, first = read_source(function)
            file = function.__code__.co_filename
        indented = text[:1] in (" ", "\t")  # not dedented: a comment or a text may begin further left
        tree = ast.parse("if 1:\n" + text if indented else text)
        ast.increment_lineno(tree, first - 2 if indented else first - 1)
        body = tree.body[0].body if indented and isinstance(tree.body[0], ast.If) else tree.body
        found = [node for node in body if isinstance(node, ast.FunctionDef)]
        if isinstance(function, str):
            self.structs = _structs(tree)
            self.siblings = {**_globals(tree), **self.structs, **{node.name: node for node in found}}
        chosen = [node for node in found if name in (None, node.name)]
        if not chosen:
            raise ValueError(f"there is no function '{name}' in the source")
        return chosen[-1], file

    # ---- names from outside

    def _outside(self) -> Mapping[str, Any]:
        if self.function is None:
            return self.siblings
        from .._source import _closure

        return {**self.function.__globals__, **_closure(self.function)}

    def resolve(self, names: set[str]) -> dict[str, Any]:
        """What the names mean. A name that is nothing of the language is left to Python."""
        outside, found = self._outside(), {}
        for name in names & outside.keys():
            value = outside[name]
            sibling = self.function is None and isinstance(value, ast.FunctionDef)
            meant = _Sibling(self, value).call if sibling else translate(value)
            if meant is not None:
                found[name] = meant
            elif name not in LANGUAGE:
                found[name] = value
        return {**LANGUAGE, **found}

    def kind_of(self, annotation: ast.expr) -> Any:
        """The type of the language that an annotation names; None for any other."""
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            annotation = ast.parse(annotation.value, mode="eval").body
        names = _names_in([annotation])
        if isinstance(annotation, ast.Name):
            return self._known(self.resolve(names).get(annotation.id))
        try:
            code = compile(ast.fix_missing_locations(ast.Expression(annotation)), self.file, "eval")
            kind = eval(code, {"__builtins__": {}}, self.resolve(names))
        except Exception:
            return None
        return self._known(kind)

    def _known(self, kind: Any) -> Any:
        if isinstance(kind, Array):
            return kind
        known = isinstance(kind, type) and (kind in SCALARS or kind is bool or issubclass(kind, (Composite, Struct)))
        return kind if known else None

    def meets(self) -> bool:
        """Whether its invocations wait for others: it calls barrier() or a subgroup operation, or a function that does."""
        if self._meets is None:
            self._meets = False  # for a function that calls itself
            calls = [n.func for part in self.node.body for n in ast.walk(part) if isinstance(n, ast.Call)]
            scope = self.resolve(_names_in(calls))
            for called in (meaning(f, scope) for f in calls):
                helper = getattr(called, "__self__", None)
                self._meets |= isinstance(called, Collective) or (isinstance(helper, Function) and helper.meets())
        return self._meets

    # ---- the code

    def make(self, types_of_parameters: bool = True) -> Callable[..., Any]:
        """The function, to be called with values of the language."""
        node = self.node
        defaults = [default for default in (*node.args.defaults, *node.args.kw_defaults) if default is not None]
        names = _names_in([*node.body, *defaults])  # those of a decorator mean nothing here
        self.scope = {
            **self.resolve(names),
            "__builtins__": builtins,
            "__name__": getattr(self.function, "__module__", None) or "kernel",
            "__bind__": _bind,
            "__parameter__": _parameter,
            "__items__": _items,
            "__kinds_of__": _kinds,
            "__like__": _like,
            "__value__": _value,
            "__taken__": _taken,
            "__fields__": Fields,
        }
        rewriter = _Rewriter(self.kind_of, self.scope, self.file)
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        kinds = [a.annotation and rewriter.kind(a.annotation) for a in arguments]
        for argument in arguments:
            argument.annotation = None
        node.decorator_list, node.returns = [], None
        rewriter.generic_visit(node)
        node.body[:0] = self._prologue(rewriter, arguments, kinds, types_of_parameters)
        module = ast.fix_missing_locations(ast.Module([node], []))
        exec(compile(module, self.file, "exec"), self.scope)
        made: Callable[..., Any] = self.scope[node.name]
        if self.function is not None and types_of_parameters:
            _take_defaults(made, self.function)
        self.scope.update(self.resolve(names & {node.name}) if node.name in names else {})
        return made

    def _prologue(
        self, rewriter: _Rewriter, arguments: list[ast.arg], kinds: list[Any], typed_parameters: bool
    ) -> list[ast.stmt]:
        """__kinds__, and for a function that kernels call the types of its parameters."""
        place = self.node.body[0]
        known = _call("__kinds_of__", _call("locals")) if not typed_parameters else ast.Dict([], [])
        lines: list[ast.stmt] = [ast.Assign([ast.Name("__kinds__", ast.Store())], known)]
        if typed_parameters:
            for argument, kind in zip(arguments, kinds):
                read: list[ast.expr] = [ast.Name(argument.arg, ast.Load()), *([kind] if kind else [])]
                kinds_here = ast.Name("__kinds__", ast.Load())
                value = _call("__parameter__", kinds_here, ast.Constant(argument.arg), *read)
                lines.append(ast.Assign([ast.Name(argument.arg, ast.Store())], value))
        for line in lines:
            for part in ast.walk(line):
                ast.copy_location(part, place)
        return lines

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Calls it as a kernel calls a helper."""
        if self._made is None:
            self._made = self.make()
        return self._made(*args, **kwargs)


def _take_defaults(made: Any, function: types.FunctionType) -> None:
    """Those that the function has by now, which need not be those of its text."""

    def as_meant(value: Any) -> Any:
        meant = translate(value)
        return value if meant is None else meant

    made.__defaults__ = tuple(map(as_meant, function.__defaults__ or ())) or None
    made.__kwdefaults__ = {name: as_meant(value) for name, value in (function.__kwdefaults__ or {}).items()} or None


class _Sibling(Function):
    """A function of the same text."""

    def __init__(self, home: Function, node: ast.FunctionDef) -> None:
        self.home = home
        self.node_of_text = node
        super().__init__("", node.name, home.siblings)

    def _parse(self, function: Any, name: str | None) -> tuple[ast.FunctionDef, str]:
        import copy

        return copy.deepcopy(self.node_of_text), self.home.file
