"""Structs: kp.Struct and kp.struct, what NumPy and the compiler call them, and their values as bytes.

    class Particle(kp.Struct):
        position: vec3
        mass: f32

    particles = np.zeros(1000, Particle.dtype)

A struct lies in memory as a C compiler lays it out, and NumPy a dtype with align=True: each field is aligned as its scalars
are, a vector is an array of its components, and a bool is one byte.
"""

from __future__ import annotations

import sys
from keyword import iskeyword

from . import _kp
from ._dtypes import LANGUAGE_NAMES, NUMPY_NAMES
from .lang import LanguageType, Written, type_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ._kp import Param, Program, _Structure


class StructType(LanguageType):
    """The type of structs: classes with the base kp.Struct."""

    fields: Mapping[str, str]  # the types as a kernel writes them, in order
    text: str
    _dtype: Any

    def __new__(meta, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> Any:
        made = super().__new__(meta, name, bases, namespace, **options)
        if not bases:
            return made
        if bases != (Struct,):
            raise TypeError(f"{name}: a struct has kp.Struct as its only base")
        frame = sys._getframe(1)
        made.fields = _fields(made, {**frame.f_globals, **frame.f_locals})
        listed = "".join(f", {field}={type_}" for field, type_ in made.fields.items())
        made.text = f"Struct({name!r}{listed})"
        made._dtype = None
        return made

    def __call__(cls, *values: Any, **named: Any) -> Any:
        if cls is Struct:
            raise TypeError("kp.Struct is a base: class Particle(kp.Struct): ...")
        return type.__call__(cls, *values, **named)

    @property
    def dtype(cls) -> Any:
        """The NumPy dtype: for arrays of these, np.zeros(1000, Particle.dtype)."""
        if cls is Struct:
            raise TypeError("kp.Struct is a base: class Particle(kp.Struct): ...")
        if cls._dtype is None:
            program = _kp.compile(f"def kernel(x: Array[{cls.text}]):\n    pass\n")
            structure = program.params[0].structure
            assert structure is not None
            cls._dtype = dtype_of(structure)
        return cls._dtype


class Struct(metaclass=StructType):
    """The base of structs of the kernel language. A subclass has annotations alone, the fields:

        class Particle(kp.Struct):
            position: vec3
            mass: f32

    In a kernel it is a type: Array[Particle], p.mass, Particle(position, mass). In Python, Particle(...) makes a value for a
    push constant, Particle.dtype is the NumPy dtype for arrays.
    """

    def __init__(self, *values: Any, **named: Any) -> None:
        cls: Any = type(self)
        names = list(cls.fields)
        if len(values) > len(names):
            raise TypeError(f"{cls.__name__} has {len(names)} fields, but these are {len(values)}")
        given = dict(zip(names, values, strict=False))
        for name, value in named.items():
            if name not in cls.fields:
                raise TypeError(f"{cls.__name__} has no field '{name}'; it has {', '.join(names)}")
            if name in given:
                raise TypeError(f"{cls.__name__} gets '{name}' twice")
            given[name] = value
        missing = [name for name in names if name not in given]
        if missing:
            what = "a value" if len(missing) == 1 else "values"
            zeros = "" if given else f"; {cls.__name__}() is one of zeros in kernels alone"
            listed = ", ".join(f"'{name}'" for name in missing)
            raise TypeError(f"{cls.__name__} needs {what} for {listed}{zeros}")
        for name in names:
            setattr(self, name, given[name])

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in type(self).fields:
            raise AttributeError(f"{type(self).__name__} has no field '{name}'; it has {', '.join(type(self).fields)}")
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in type(self).fields)
        return f"{type(self).__name__}({values})"

    def copy(self) -> Any:
        """Another one with the same values; structs in it are copied too."""
        values = (getattr(self, name) for name in type(self).fields)
        return type(self)(*(value.copy() if isinstance(value, Struct) else value for value in values))

    def _array(self) -> Any:
        """The value as NumPy has it, one of the dtype."""
        import numpy

        cls: Any = type(self)
        program = _kp.compile(f"def kernel(x: Uniform[{cls.text}]):\n    pass\n")
        return numpy.frombuffer(program._value("x", self, cls.__name__), cls.dtype)[0]


def _fields(cls: Any, scope: Mapping[str, Any]) -> dict[str, str]:
    from . import lang

    fields = {}
    own = type.__dict__["__annotations__"].__get__(cls)  # the metaclass has some, too
    for name, annotation in own.items():
        if name in vars(cls):
            raise TypeError(f"{cls.__name__}.{name}: a field has no default value")
        if not name.isascii():
            raise TypeError(
                f"{cls.__name__}: the name of the field '{name}' has letters that a kernel's names have not"
            )
        if name == "copy":
            raise TypeError(f"{cls.__name__}: a field cannot be called 'copy', which makes a copy")
        if isinstance(annotation, str):
            try:
                annotation = eval(annotation, {"__builtins__": {}}, {**vars(lang), **scope})
            except Exception as error:
                raise TypeError(f"{cls.__name__}.{name}: {error}") from None
        try:
            fields[name] = type_text(annotation)
        except TypeError as error:
            raise TypeError(f"{cls.__name__}.{name}: {error}") from None
    if not fields:
        raise TypeError(f"{cls.__name__}: a struct has at least one field, as in mass: f32")
    return fields


# ----------------------------------------------------------------------------------------------------------------------
# NumPy's dtypes
# ----------------------------------------------------------------------------------------------------------------------


def dtype_of(structure: _Structure) -> Any:
    """The dtype of a program's struct."""
    import numpy

    _, size, _, fields = structure
    formats = []
    for _, _, dtype, shape, _, inner in fields:
        base = numpy.dtype(NUMPY_NAMES[dtype]) if inner is None else dtype_of(inner)
        formats.append(numpy.dtype((base, shape)) if shape else base)
    layout: Any = {
        "names": [field[0] for field in fields],
        "formats": formats,
        "offsets": [field[4] for field in fields],
        "itemsize": size,
    }
    return numpy.dtype(layout, align=True)


def struct(dtype: Any, name: str = "Struct") -> Any:
    """The struct of a NumPy structured dtype, as a class like those with the base kp.Struct: kp.struct(array.dtype).

    A subarray whose last axis has 2 to 4 numbers is a vector, any other one an array.

    TypeError: a dtype that kernels do not have. ValueError: one that lies differently, as packed dtypes do; make it with
    align=True.
    """
    import numpy

    dtype = numpy.dtype(dtype)
    if dtype.names is None:
        raise TypeError(f"kp.struct: {dtype} has no fields")
    if not name.isidentifier():
        raise ValueError(f"kp.struct: {name!r} is no name")
    return _checked(dtype, name)


def text_of(dtype: Any) -> str:
    """The struct of a structured dtype as a kernel writes it, for a parameter without a type."""
    return _checked(dtype).text.replace("'Struct', ", "", 1)


def _checked(dtype: Any, name: str = "Struct") -> StructType:
    """A class for the dtype, which lies as the kernel has it."""
    for field in dtype.names:
        if not field.isidentifier() or not field.isascii() or iskeyword(field):
            raise TypeError(f"kp.struct: the field {field!r} has no name that a kernel can write")
    annotations = {field: Written(_field_text(dtype.fields[field][0], field)) for field in dtype.names}
    made: StructType = StructType(name, (Struct,), {"__annotations__": annotations, "__module__": __name__})
    _compare(made.dtype, dtype)
    return made


def _field_text(dtype: Any, name: str) -> str:
    base, shape = dtype.subdtype or (dtype, ())
    if base.names is not None:
        text = _checked(base).text.replace("'Struct', ", "", 1)
    elif base.isnative and base.name in LANGUAGE_NAMES:
        text = LANGUAGE_NAMES[base.name]
    elif base.name in LANGUAGE_NAMES:
        raise TypeError(
            f"kp.struct: the field '{name}' has dtype {base.str}, of the other byte order; convert the array with astype()"
        )
    else:
        raise TypeError(f"kp.struct: the field '{name}' has dtype {base.str}, which no device has")
    if base.names is None and shape and 2 <= shape[-1] <= 4:
        text, shape = f"Vector({shape[-1]}, {text})", shape[:-1]
    for length in reversed(shape):
        text = f"Array({length}, {text})"
    return text


def _compare(kernel: Any, host: Any) -> None:
    """ValueError where the fields of `host` lie elsewhere than a kernel has them."""
    for name in kernel.names:
        wanted, has = kernel.fields[name][1], host.fields[name][1]
        if wanted != has:
            raise ValueError(
                f"the field '{name}' is at byte {has} of the dtype, but at byte {wanted} in a kernel, as in C; make the "
                f"dtype with align=True"
            )
    if kernel.itemsize != host.itemsize:
        raise ValueError(
            f"the dtype has {host.itemsize} bytes, but a kernel's struct {kernel.itemsize}, as in C; make the dtype with "
            f"align=True"
        )


# ----------------------------------------------------------------------------------------------------------------------
# Values
# ----------------------------------------------------------------------------------------------------------------------


def uniform_array(program: Program, param: Param, value: Any, who: str) -> Any:
    """The array of a uniform's bytes, from a value."""
    import numpy

    dtype = NUMPY_NAMES[param.dtype] if param.structure is None else dtype_of(param.structure)
    return numpy.frombuffer(program._value(param.name, value, who), dtype)
