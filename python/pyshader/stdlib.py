"""pyshader's standard library: names for use inside shaders, where they also work without any prefix."""

from kp.lang import (
    LanguageFunction,
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    ceil,
    clamp,
    cos,
    cosh,
    cross,
    degrees,
    distance,
    exp,
    exp2,
    face_forward,
    floor,
    fract,
    imageLoad,
    imageStore,
    isqrt,
    length,
    log,
    log2,
    mix,
    modf,
    nclamp,
    nmax,
    nmin,
    normalize,
    radians,
    read,
    reflect,
    round_even,
    sample,
    sign,
    sin,
    sinh,
    smooth_step,
    sqrt,
    step,
    tan,
    tanh,
    trunc,
    write,
)

# Python's names: in a shader they mean what they mean in Python.
round = LanguageFunction("round")
abs = LanguageFunction("abs")
min = LanguageFunction("min")
max = LanguageFunction("max")
pow = LanguageFunction("pow")
# Known to the compiler, which says that it does not have them yet.
determinant = LanguageFunction("determinant")
matrix_inverse = LanguageFunction("matrix_inverse")

__all__ = [
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "clamp", "cos", "cosh", "cross", "degrees",
    "determinant", "distance", "exp", "exp2", "face_forward", "floor", "fract", "imageLoad", "imageStore", "isqrt", "length", "log", "log2",
    "matrix_inverse", "max", "min", "mix", "modf", "nclamp", "nmax", "nmin", "normalize", "pow", "radians", "read", "reflect",
    "round", "round_even", "sample", "sign", "sin", "sinh", "smooth_step", "sqrt", "step", "tan", "tanh", "trunc", "write",
]  # fmt: skip
