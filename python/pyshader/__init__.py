"""pyshader's interface on kp's compiler: programs written for pyshader run unchanged.

    import pyshader as ps

    @ps.python2shader
    def compute_double(index=("input", "GlobalInvocationId", ps.ivec3), data=("buffer", 0, ps.Array(ps.f32))):
        data[index.x] = 2.0 * data[index.x]

    compute_double.to_spirv()

Compute shaders only. The names of the language (vec2, f32, exp, ...) need no import inside a shader.
"""

from __future__ import annotations

from . import stdlib
from ._shader import ShaderModule, python2shader
from ._types import (
    RES_BUFFER,
    RES_INPUT,
    RES_OUTPUT,
    RES_SAMPLER,
    RES_TEXTURE,
    RES_UNIFORM,
    Array,
    Matrix,
    Struct,
    Vector,
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
    u8,
    vec2,
    vec3,
    vec4,
    void,
)

__all__ = [
    "RES_BUFFER",
    "RES_INPUT",
    "RES_OUTPUT",
    "RES_SAMPLER",
    "RES_TEXTURE",
    "RES_UNIFORM",
    "Array",
    "Matrix",
    "ShaderModule",
    "Struct",
    "Vector",
    "boolean",
    "bvec2",
    "bvec3",
    "bvec4",
    "f16",
    "f32",
    "f64",
    "i16",
    "i32",
    "i64",
    "ivec2",
    "ivec3",
    "ivec4",
    "mat2",
    "mat2x2",
    "mat2x3",
    "mat2x4",
    "mat3",
    "mat3x2",
    "mat3x3",
    "mat3x4",
    "mat4",
    "mat4x2",
    "mat4x3",
    "mat4x4",
    "python2shader",
    "stdlib",
    "u8",
    "vec2",
    "vec3",
    "vec4",
    "void",
]
