"""How many axes a kernel sees in a parameter without a type: as many as it has indices for, a[i, j], itself or in a function that
it passes the parameter to. Read off the text: an array that is indexed with two numbers can be nothing else.
"""

from __future__ import annotations

import ast
from types import FunctionType

from ._source import definition_of, helper_of, read_source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Found: TypeAlias = dict[FunctionType, dict[str, int]]  # what is known already


def axes_of(function: FunctionType, found: Found | None = None) -> dict[str, int]:
    """The axes of those parameters that are seen to have some; two or more."""
    found = {} if found is None else found
    if function not in found:
        found[function] = {}  # for a function that calls itself
        found[function] = _look(function, found)
    return found[function]


def axes_in(definition: ast.FunctionDef) -> dict[str, int]:
    """The same of a function that is text alone, by what it does itself."""
    axes: dict[str, int] = {}
    for node in ast.walk(definition):
        for name, count in _shown(node):
            axes[name] = max(count, axes.get(name, 0))
    return axes


def _look(function: FunctionType, found: Found) -> dict[str, int]:
    try:
        definition = definition_of(function, read_source(function)[0])
    except SyntaxError:
        return {}
    axes: dict[str, int] = {}
    for node in ast.walk(definition) if definition is not None else ():
        for name, count in _seen(node, function, found):
            axes[name] = max(count, axes.get(name, 0))
    parameters = function.__code__.co_varnames[: function.__code__.co_argcount + function.__code__.co_kwonlyargcount]
    return {name: count for name, count in axes.items() if name in parameters and count > 1}


def _seen(node: ast.AST, function: FunctionType, found: Found) -> list[tuple[str, int]]:
    """The names that this node alone shows to have axes."""
    return _passed(node, function, found) if isinstance(node, ast.Call) else _shown(node)


def _shown(node: ast.AST) -> list[tuple[str, int]]:
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Tuple):
        return [(node.value.id, len(node.slice.elts))]
    if isinstance(node, ast.Subscript) and _shape_of(node.value) and isinstance(node.slice, ast.Constant):
        at = node.slice.value
        return [(_shape_of(node.value), at + 1)] if isinstance(at, int) else []
    if isinstance(node, ast.Assign) and _shape_of(node.value) and isinstance(node.targets[0], ast.Tuple):
        return [(_shape_of(node.value), len(node.targets[0].elts))]
    return []


def _shape_of(node: ast.expr) -> str:
    """a of a.shape; "" for anything else."""
    shape = isinstance(node, ast.Attribute) and node.attr == "shape" and isinstance(node.value, ast.Name)
    return node.value.id if shape else ""  # type: ignore[attr-defined]


def _passed(call: ast.Call, function: FunctionType, found: Found) -> list[tuple[str, int]]:
    helper = _called(call.func, function)
    if not isinstance(helper, FunctionType):
        return []
    names = helper.__code__.co_varnames
    given = [(names[k], a) for k, a in enumerate(call.args) if k < helper.__code__.co_argcount]
    given += [(keyword.arg or "", keyword.value) for keyword in call.keywords]
    passed = [(name, value.id) for name, value in given if isinstance(value, ast.Name)]
    inside = (
        axes_of(helper, found) if passed and (helper.__module__ or "").partition(".")[0] not in ("kp", "numpy") else {}
    )
    return [(own, inside[name]) for name, own in passed if name in inside]


def _called(node: ast.expr, function: FunctionType) -> Any:
    """The function that is called, as far as plain names tell."""
    from ._source import _closure

    if isinstance(node, ast.Attribute):
        owner = _called(node.value, function)
        found = None if owner is None else getattr(owner, node.attr, None)
    elif isinstance(node, ast.Name):
        found = {**function.__globals__, **_closure(function)}.get(node.id)
    else:
        return None
    return helper_of(found)
