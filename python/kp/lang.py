"""The names of the kernel language, as Python objects: import what a kernel uses.

    from kp.lang import Array, Index, exp, f32

Inside a kernel these names need no import, they are the language's; with the import, linters and type checkers know them too.
Outside of kernels they name types and functions and do nothing: calling one raises TypeError. Names that Python has anyway
(abs, min, max, sum, any, all, len, pow, round, divmod, range) mean in a kernel what they mean in Python.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Annotated, Any, Generic, NoReturn, TypeAlias, TypeVar

    Element = TypeVar("Element")


class LanguageType(type):
    """The type of the language's types. repr() is the name as a kernel writes it."""

    def __repr__(cls) -> str:
        return cls.__name__

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{cls.__name__} is a type of the kernel language: it makes values inside a kernel only")


# ----------------------------------------------------------------------------------------------------------------------
# Scalars. The Python type below each is what a type checker goes by.
# ----------------------------------------------------------------------------------------------------------------------


class boolean(int, metaclass=LanguageType):
    """pyshader's name of bool."""


class i8(int, metaclass=LanguageType): ...


class i16(int, metaclass=LanguageType): ...


class i32(int, metaclass=LanguageType): ...


class i64(int, metaclass=LanguageType): ...


class u8(int, metaclass=LanguageType): ...


class u16(int, metaclass=LanguageType): ...


class u32(int, metaclass=LanguageType): ...


class u64(int, metaclass=LanguageType): ...


class f16(float, metaclass=LanguageType): ...


class f32(float, metaclass=LanguageType): ...


class f64(float, metaclass=LanguageType): ...


# ----------------------------------------------------------------------------------------------------------------------
# Vectors
# ----------------------------------------------------------------------------------------------------------------------


class Vector(metaclass=LanguageType):
    """Two to four scalars. v.x, v.xy, v.rgb, v[0]; + - * / by component; @ is the dot product."""

    if TYPE_CHECKING:

        def __init__(self, *components: Any) -> None: ...
        def __getattr__(self, swizzle: str) -> Any: ...
        def __setattr__(self, swizzle: str, value: Any) -> None: ...
        def __getitem__(self, index: int) -> Any: ...
        def __setitem__(self, index: int, value: Any) -> None: ...
        def __add__(self, other: Any) -> Any: ...
        def __radd__(self, other: Any) -> Any: ...
        def __sub__(self, other: Any) -> Any: ...
        def __rsub__(self, other: Any) -> Any: ...
        def __mul__(self, other: Any) -> Any: ...
        def __rmul__(self, other: Any) -> Any: ...
        def __truediv__(self, other: Any) -> Any: ...
        def __rtruediv__(self, other: Any) -> Any: ...
        def __floordiv__(self, other: Any) -> Any: ...
        def __rfloordiv__(self, other: Any) -> Any: ...
        def __mod__(self, other: Any) -> Any: ...
        def __rmod__(self, other: Any) -> Any: ...
        def __pow__(self, other: Any) -> Any: ...
        def __rpow__(self, other: Any) -> Any: ...
        def __matmul__(self, other: Any) -> Any: ...
        def __rmatmul__(self, other: Any) -> Any: ...
        def __neg__(self) -> Any: ...
        def __lt__(self, other: Any) -> Any: ...
        def __le__(self, other: Any) -> Any: ...
        def __gt__(self, other: Any) -> Any: ...
        def __ge__(self, other: Any) -> Any: ...


class vec2(Vector): ...


class vec3(Vector): ...


class vec4(Vector): ...


class ivec2(Vector): ...


class ivec3(Vector): ...


class ivec4(Vector): ...


class uvec2(Vector): ...


class uvec3(Vector): ...


class uvec4(Vector): ...


class bvec2(Vector): ...


class bvec3(Vector): ...


class bvec4(Vector): ...


class dvec2(Vector): ...


class dvec3(Vector): ...


class dvec4(Vector): ...


class hvec2(Vector): ...


class hvec3(Vector): ...


class hvec4(Vector): ...


class i8vec2(Vector): ...


class i8vec3(Vector): ...


class i8vec4(Vector): ...


class i16vec2(Vector): ...


class i16vec3(Vector): ...


class i16vec4(Vector): ...


class i64vec2(Vector): ...


class i64vec3(Vector): ...


class i64vec4(Vector): ...


class u8vec2(Vector): ...


class u8vec3(Vector): ...


class u8vec4(Vector): ...


class u16vec2(Vector): ...


class u16vec3(Vector): ...


class u16vec4(Vector): ...


class u64vec2(Vector): ...


class u64vec3(Vector): ...


class u64vec4(Vector): ...


# ----------------------------------------------------------------------------------------------------------------------
# Matrices
# ----------------------------------------------------------------------------------------------------------------------


class MatrixType(metaclass=LanguageType):
    """Rows of floats. m[i] is a row, m[i, j] an element; + - * / by element; @ is the product; m.T the transpose."""

    if TYPE_CHECKING:
        T: Any

        def __init__(self, *elements: Any) -> None: ...
        def __getitem__(self, index: int | tuple[int, int]) -> Any: ...
        def __setitem__(self, index: int | tuple[int, int], value: Any) -> None: ...
        def __iter__(self) -> Iterator[Any]: ...
        def __len__(self) -> int: ...
        def __add__(self, other: Any) -> Any: ...
        def __radd__(self, other: Any) -> Any: ...
        def __sub__(self, other: Any) -> Any: ...
        def __rsub__(self, other: Any) -> Any: ...
        def __mul__(self, other: Any) -> Any: ...
        def __rmul__(self, other: Any) -> Any: ...
        def __truediv__(self, other: Any) -> Any: ...
        def __rtruediv__(self, other: Any) -> Any: ...
        def __matmul__(self, other: Any) -> Any: ...
        def __rmatmul__(self, other: Any) -> Any: ...
        def __neg__(self) -> Any: ...


class mat2(MatrixType): ...


class mat2x3(MatrixType): ...


class mat2x4(MatrixType): ...


class mat3x2(MatrixType): ...


class mat3(MatrixType): ...


class mat3x4(MatrixType): ...


class mat4x2(MatrixType): ...


class mat4x3(MatrixType): ...


class mat4(MatrixType): ...


class dmat2(MatrixType): ...


class dmat3(MatrixType): ...


class dmat4(MatrixType): ...


class hmat2(MatrixType): ...


class hmat3(MatrixType): ...


class hmat4(MatrixType): ...


mat2x2, mat3x3, mat4x4 = mat2, mat3, mat4


# ----------------------------------------------------------------------------------------------------------------------
# Parameters
# ----------------------------------------------------------------------------------------------------------------------


class Index(int, metaclass=LanguageType):
    """The index that this call works on: i: Index."""


class Index2(ivec2):
    """An index on two axes: i.x, i.y."""


class Index3(ivec3):
    """An index on three axes: i.x, i.y, i.z."""


class LocalIndex(int, metaclass=LanguageType):
    """The number of this invocation in its workgroup, from 0: t: LocalIndex."""


class LocalIndex2(ivec2):
    """The place of this invocation in its workgroup, on two axes."""


class LocalIndex3(ivec3):
    """The place of this invocation in its workgroup, on three axes."""


class LocalSize(int, metaclass=LanguageType):
    """How many invocations a workgroup has."""


class LocalSize2(ivec2):
    """How many invocations a workgroup has on two axes."""


class LocalSize3(ivec3):
    """How many invocations a workgroup has on three axes."""


class GroupIndex(int, metaclass=LanguageType):
    """The number of this invocation's workgroup on the first axis, from 0: g: GroupIndex."""


class GroupIndex2(ivec2):
    """The place of this invocation's workgroup in the launch, on two axes."""


class GroupIndex3(ivec3):
    """The place of this invocation's workgroup in the launch, on three axes."""


class GroupCount(int, metaclass=LanguageType):
    """How many workgroups the launch has on the first axis."""


class GroupCount2(ivec2):
    """How many workgroups the launch has on two axes."""


class GroupCount3(ivec3):
    """How many workgroups the launch has on three axes."""


class Written:
    """A type that is not a plain name, such as Array[f32]: repr() is how a kernel writes it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Written) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


if TYPE_CHECKING:

    class Array(Generic[Element]):
        """A buffer: x: Array[f32], or one with axes, Array[f32, 2]. Array(16, f32) is an array of fixed length, Array(16, f32)()
        one of zeros."""

        shape: tuple[int, ...]

        def __init__(self, length: int, element: type[Element]) -> None: ...
        def __call__(self) -> Any: ...
        def __iter__(self) -> Iterator[Element]: ...
        def __getitem__(self, index: int | tuple[int, ...]) -> Element: ...
        def __setitem__(self, index: int | tuple[int, ...], value: Any) -> None: ...
        def __len__(self) -> int: ...

else:

    class ArrayType(LanguageType):
        """The type of Array: it is called with a length and a type."""

        def __call__(cls, length, element=None):
            from operator import index

            if element is None:  # pyshader's way to write a buffer
                return Written(f"Array({type_text(length)})")
            if isinstance(length, bool):
                raise TypeError(f"Array: a length is a whole number, not {length!r}")
            return Written(f"Array({index(length)}, {type_text(element)})")

    class Array(metaclass=ArrayType):
        """A buffer: x: Array[f32]. Array(16, f32) is an array of fixed length, Array(16, f32)() one of zeros."""

        def __class_getitem__(cls, element):
            if isinstance(element, tuple):
                return Written(f"Array[{type_text(element[0])}, {', '.join(map(str, element[1:]))}]")
            return Written(f"Array[{type_text(element)}]")


if TYPE_CHECKING:

    class ImageType(Generic[Element]):
        size: Any
        width: int
        height: int
        depth: int

        def __getitem__(self, at: Any) -> Element: ...
        def __setitem__(self, at: Any, value: Any) -> None: ...
        def read(self, at: Any) -> Element: ...
        def write(self, at: Any, value: Any) -> None: ...
        def sample(self, *at: Any) -> Element: ...

    class Image1D(ImageType[Element]):
        """An image on one axis, whose pixels are read and written: a[x]."""

    class Image2D(ImageType[Element]):
        """An image whose pixels are read and written: a[x, y], or a[at] with an ivec2."""

    class Image3D(ImageType[Element]):
        """An image on three axes: a[x, y, z]."""

    class Texture1D(ImageType[Element]):
        """An image on one axis that is read, t[x], and sampled, t.sample(x)."""

    class Texture2D(ImageType[Element]):
        """An image that is read, t[x, y], and sampled, t.sample(vec2(u, v))."""

    class Texture3D(ImageType[Element]):
        """An image on three axes that is read and sampled."""

else:

    class ImageType(metaclass=LanguageType):
        """Pixels: Image2D[f32], or with a format Image2D[vec4, "rgba8"]; Texture2D[f32]."""

        def __class_getitem__(cls, texel):
            parts = texel if isinstance(texel, tuple) else (texel,)
            texts = [type_text(parts[0]), *(f'"{part}"' for part in parts[1:])]
            return Written(f"{cls.__name__}[{', '.join(texts)}]")

    class Image1D(ImageType):
        """An image on one axis, whose pixels are read and written: a[x]."""

    class Image2D(ImageType):
        """An image whose pixels are read and written: a[x, y], or a[at] with an ivec2."""

    class Image3D(ImageType):
        """An image on three axes: a[x, y, z]."""

    class Texture1D(ImageType):
        """An image on one axis that is read, t[x], and sampled, t.sample(x)."""

    class Texture2D(ImageType):
        """An image that is read, t[x, y], and sampled, t.sample(vec2(u, v))."""

    class Texture3D(ImageType):
        """An image on three axes that is read and sampled."""


if TYPE_CHECKING:
    Const: TypeAlias = Annotated[Element, "constant"]
    Uniform: TypeAlias = Annotated[Element, "uniform"]

else:

    class Const(metaclass=LanguageType):
        """A number that is fixed when the kernel is prepared for a launch, a specialization constant: n: Const[i32]."""

        def __class_getitem__(cls, element):
            return Written(f"Const[{type_text(element)}]")

    class Uniform(metaclass=LanguageType):
        """A struct, a vector or a number that all read, in a uniform buffer: s: Uniform[Settings]."""

        def __class_getitem__(cls, element):
            return Written(f"Uniform[{type_text(element)}]")


# ----------------------------------------------------------------------------------------------------------------------
# Functions. Each takes what Python's function of that name takes, and vectors by component.
# ----------------------------------------------------------------------------------------------------------------------


class LanguageFunction:
    """A function of the language. It runs inside a kernel only."""

    __slots__ = ("__name__",)
    __name__: str

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __repr__(self) -> str:
        return f"<function {self.__name__} of the kernel language>"

    if TYPE_CHECKING:

        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

    else:

        def __call__(self, *args, **kwargs) -> NoReturn:
            raise TypeError(f"{self.__name__}() is a function of the kernel language: it runs inside a kernel only")


def _functions(names: str) -> tuple[LanguageFunction, ...]:
    return tuple(LanguageFunction(name) for name in names.split())


round_even, trunc, floor, ceil, fract = _functions("round_even trunc floor ceil fract")
radians, degrees, sin, cos, tan, asin, acos, atan = _functions("radians degrees sin cos tan asin acos atan")
sinh, cosh, tanh, asinh, acosh, atanh, atan2 = _functions("sinh cosh tanh asinh acosh atanh atan2")
exp, log, exp2, log2, log10, sqrt, isqrt = _functions("exp log exp2 log2 log10 sqrt isqrt")
fabs, sign, clamp, modf, isnan, isinf, isfinite = _functions("fabs sign clamp modf isnan isinf isfinite")
bit_count, bit_length, bit_reverse, mul_hi, bitcast = _functions("bit_count bit_length bit_reverse mul_hi bitcast")
fma, mix, step, smooth_step, smoothstep = _functions("fma mix step smooth_step smoothstep")
nmin, nmax, nclamp = _functions("nmin nmax nclamp")
copysign, fmod, remainder, nextafter, ulp, frexp, ldexp = _functions(
    "copysign fmod remainder nextafter ulp frexp ldexp"
)
hypot, dist, isclose, prod = _functions("hypot dist isclose prod")
cbrt, expm1, log1p, erf, erfc, gamma, lgamma = _functions("cbrt expm1 log1p erf erfc gamma lgamma")
gcd, lcm, factorial, perm, comb = _functions("gcd lcm factorial perm comb")
dot, length, distance, normalize, cross = _functions("dot length distance normalize cross")
face_forward, reflect = _functions("face_forward reflect")
transpose, determinant, matrix_inverse, inverse, eye = _functions("transpose determinant matrix_inverse inverse eye")
shared, barrier, memory_barrier, group_memory_barrier = _functions("shared barrier memory_barrier group_memory_barrier")
read, write, sample, imageLoad, imageStore = _functions("read write sample imageLoad imageStore")
atomic_add, atomic_sub, atomic_min, atomic_max = _functions("atomic_add atomic_sub atomic_min atomic_max")
atomic_and, atomic_or, atomic_xor = _functions("atomic_and atomic_or atomic_xor")
atomic_exchange, atomic_compare_exchange = _functions("atomic_exchange atomic_compare_exchange")
subgroup_size, subgroup_lane, subgroup_id, subgroup_count = _functions(
    "subgroup_size subgroup_lane subgroup_id subgroup_count"
)
subgroup_elect, subgroup_any, subgroup_all, subgroup_ballot = _functions(
    "subgroup_elect subgroup_any subgroup_all subgroup_ballot"
)
subgroup_broadcast, subgroup_broadcast_first = _functions("subgroup_broadcast subgroup_broadcast_first")
subgroup_shuffle, subgroup_shuffle_xor = _functions("subgroup_shuffle subgroup_shuffle_xor")
subgroup_shuffle_up, subgroup_shuffle_down = _functions("subgroup_shuffle_up subgroup_shuffle_down")
subgroup_add, subgroup_mul, subgroup_min, subgroup_max = _functions(
    "subgroup_add subgroup_mul subgroup_min subgroup_max"
)
subgroup_and, subgroup_or, subgroup_xor = _functions("subgroup_and subgroup_or subgroup_xor")
subgroup_inclusive_add, subgroup_inclusive_mul, subgroup_inclusive_min, subgroup_inclusive_max = _functions(
    "subgroup_inclusive_add subgroup_inclusive_mul subgroup_inclusive_min subgroup_inclusive_max"
)
subgroup_inclusive_and, subgroup_inclusive_or, subgroup_inclusive_xor = _functions(
    "subgroup_inclusive_and subgroup_inclusive_or subgroup_inclusive_xor"
)
subgroup_exclusive_add, subgroup_exclusive_mul, subgroup_exclusive_min, subgroup_exclusive_max = _functions(
    "subgroup_exclusive_add subgroup_exclusive_mul subgroup_exclusive_min subgroup_exclusive_max"
)
subgroup_exclusive_and, subgroup_exclusive_or, subgroup_exclusive_xor = _functions(
    "subgroup_exclusive_and subgroup_exclusive_or subgroup_exclusive_xor"
)


# ----------------------------------------------------------------------------------------------------------------------
# Text
# ----------------------------------------------------------------------------------------------------------------------


_PYTHON = {float: "f32", int: "i32", bool: "bool"}


def type_text(type_: object) -> str:
    """The type as a kernel writes it: for the types here, pyshader's, Python's float, int and bool, NumPy's scalar types and
    dtypes, and text, which is taken as it is. TypeError for anything else."""
    if isinstance(type_, LanguageType):
        return getattr(type_, "text", None) or repr(type_)  # a struct is written out
    if isinstance(type_, Written):
        return repr(type_)
    if isinstance(type_, str):
        return type_
    if isinstance(type_, type) and type_ in _PYTHON:
        return _PYTHON[type_]
    module = type_.__module__ if isinstance(type_, type) else type(type_).__module__
    if module.partition(".")[0] == "numpy":
        from ._kp import DTYPES

        name = getattr(type_, "name", None) or getattr(type_, "__name__", "")
        for text, numpy_name, _, _ in DTYPES:
            if name in (numpy_name, numpy_name + "_"):
                return text
    of = getattr(type_, "__origin__", type_)  # list[float], NDArray[np.float32]
    many = getattr(of, "__name__", "") in ("list", "tuple", "ndarray", "Tensor", "array")
    buffer = "; a buffer is Array[f32]" if many else ""
    if not isinstance(type_, type):
        raise TypeError(f"{type_!r} is no type of the kernel language{buffer}")
    if "__annotations__" in vars(type_) and type_.__module__ not in ("numpy", "kp._kp"):
        raise TypeError(f"{type_.__name__} is no type of the kernel language; a struct has kp.Struct as its base")
    raise TypeError(f"{type_.__name__} is no type of the kernel language{buffer}")
