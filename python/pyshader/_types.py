"""pyshader's types. The text of each (its repr) is what the compiler reads."""

from __future__ import annotations

from kp.lang import (
    LanguageType,
    Written,
    boolean,
    bvec2,
    bvec3,
    bvec4,
    f16,
    f32,
    f64,
    i16,
    i32,
    i64,
    ivec2,
    ivec3,
    ivec4,
    mat2,
    mat2x2,
    mat2x3,
    mat2x4,
    mat3,
    mat3x2,
    mat3x3,
    mat3x4,
    mat4,
    mat4x2,
    mat4x3,
    mat4x4,
    type_text,
    u8,
    vec2,
    vec3,
    vec4,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RES_INPUT = "input"
RES_OUTPUT = "output"
RES_UNIFORM = "uniform"
RES_BUFFER = "buffer"
RES_TEXTURE = "texture"
RES_SAMPLER = "sampler"

_VECTORS = {
    (2, f32): vec2, (3, f32): vec3, (4, f32): vec4,
    (2, i32): ivec2, (3, i32): ivec3, (4, i32): ivec4,
    (2, boolean): bvec2, (3, boolean): bvec3, (4, boolean): bvec4,
}  # fmt: skip


class void(metaclass=LanguageType):
    """No value."""


_MATRICES = {
    (2, 2): mat2, (2, 3): mat2x3, (2, 4): mat2x4,
    (3, 2): mat3x2, (3, 3): mat3, (3, 4): mat3x4,
    (4, 2): mat4x2, (4, 3): mat4x3, (4, 4): mat4,
}  # fmt: skip


def Array(*args: Any) -> Written:
    """Array(type), or Array(length, type) for one of fixed length."""
    if len(args) == 1:
        return Written(f"Array({type_text(args[0])})")
    if len(args) == 2 and isinstance(args[0], int) and not isinstance(args[0], bool) and args[0] > 0:
        return Written(f"Array({args[0]}, {type_text(args[1])})")
    raise TypeError(f"Array takes a type, or a length and a type, not {args!r}")


def Vector(n: int, subtype: Any) -> Any:
    """n scalars, 2 to 4: Vector(2, f32) is vec2."""
    if n not in (2, 3, 4):
        raise TypeError(f"Vector has 2 to 4 components, not {n!r}")
    return _VECTORS.get((n, subtype)) or Written(f"Vector({n}, {type_text(subtype)})")


def Matrix(cols: int, rows: int, subtype: Any) -> Any:
    """cols columns of rows scalars, 2 to 4 each: Matrix(2, 3, f32) is mat2x3."""
    if (cols, rows) not in _MATRICES:
        raise TypeError(f"Matrix has 2 to 4 columns and rows, not {cols!r} and {rows!r}")
    return _MATRICES[cols, rows] if subtype is f32 else Written(f"Matrix({cols}, {rows}, {type_text(subtype)})")


def Struct(**members: Any) -> Written:
    """Named members in order: Struct(position=vec2, age=f32)."""
    return Written("Struct(" + ", ".join(f"{name}={type_text(type_)}" for name, type_ in members.items()) + ")")


__all__ = [
    "RES_BUFFER", "RES_INPUT", "RES_OUTPUT", "RES_SAMPLER", "RES_TEXTURE", "RES_UNIFORM", "Array", "Matrix", "Struct",
    "Vector", "boolean", "bvec2", "bvec3", "bvec4", "f16", "f32", "f64", "i16", "i32", "i64", "ivec2", "ivec3", "ivec4",
    "mat2", "mat2x2", "mat2x3", "mat2x4", "mat3", "mat3x2", "mat3x3", "mat3x4", "mat4", "mat4x2", "mat4x3", "mat4x4", "u8",
    "vec2", "vec3", "vec4", "void",
]  # fmt: skip
