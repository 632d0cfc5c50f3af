"""Runs a kernel in CPython as a device would run it: the oracle of the language tests.

    run(saxpy, 1000, 2.0, x, y)         # x and y are NumPy arrays, changed in place

The kernel is read as text, so it needs no import for the names of the language, and it is run as Python: every statement,
every operator and every order of evaluation is CPython's own. Only the values are ours. f32, i32 and u32 are small
subclasses of float and int that round to 32-bit floats and wrap to 32 bits after each operation, and that refuse what the
language refuses: f32 + i32 has no meaning without a cast, a literal adapts to what it meets. Before it runs, the function
is rewritten so that what a variable gets goes through `__bind__`, which makes a plain literal an i32 or f32, keeps a
variable at the type of its first value and copies vectors, for they are values in the language. Line numbers stay, so a
debugger stops where you expect.

What Vulkan leaves undefined (a division of integers by zero, a float cast to an integer that cannot hold it) raises
`Undefined` here: a test must not lean on it. An index out of range raises IndexError.
"""

import ast
import builtins
import inspect
import itertools
import linecache
import math
import operator
import textwrap
import types
from ctypes import c_float

import numpy as np


class Undefined(ArithmeticError):
    """The kernel asked for a value that Vulkan leaves undefined."""


# ----------------------------------------------------------------------------------------------------------------------
# Scalars
# ----------------------------------------------------------------------------------------------------------------------


def _mismatch(symbol, a, b):
    return TypeError(f"{symbol}: {type(a).__name__} and {type(b).__name__}; there is no implicit conversion")


class f32(float):
    """A 32-bit float. Computed in double precision, then rounded: exact for + - * / and sqrt."""

    __slots__ = ()

    def __new__(cls, value=0.0):
        if isinstance(value, (Vector, str)):
            raise TypeError(f"f32() of {type(value).__name__}")
        return float.__new__(cls, c_float(value).value)

    @classmethod
    def literal(cls, value):
        if type(value) is int and c_float(value).value != value:
            raise OverflowError(f"f32 does not hold {value}")
        return cls(value)

    def __neg__(self):
        return f32(-float(self))

    def __pos__(self):
        return self

    def __abs__(self):
        return f32(abs(float(self)))

    __hash__ = float.__hash__


class _Integer(int):
    """What i32 and u32 share; `low` and `high` are the ends of the type's range."""

    __slots__ = ()

    def __new__(cls, value=0):
        if isinstance(value, float):
            value = float(value)
            if not cls.low - 1 < value < cls.high + 1:
                raise Undefined(f"{cls.__name__}({value!r}): the type cannot hold it")
            value = math.trunc(value)
        elif not isinstance(value, int):
            raise TypeError(f"{cls.__name__}() of {type(value).__name__}")
        return int.__new__(cls, ((int(value) - cls.low) & 0xFFFFFFFF) + cls.low)

    @classmethod
    def literal(cls, value):
        if type(value) is not int:
            raise TypeError(f"{cls.__name__} and the literal {value!r}; there is no implicit conversion")
        if not cls.low <= value <= cls.high:
            raise OverflowError(f"{cls.__name__} does not hold {value}")
        return cls(value)

    def __neg__(self):
        return type(self)(-int(self))

    def __pos__(self):
        return self

    def __abs__(self):
        return type(self)(abs(int(self)))

    def __invert__(self):
        return type(self)(~int(self))

    __hash__ = int.__hash__


class i32(_Integer):
    """A signed integer that wraps modulo 2**32."""

    __slots__ = ()
    low, high = -(2**31), 2**31 - 1


class u32(_Integer):
    """An unsigned integer that wraps modulo 2**32."""

    __slots__ = ()
    low, high = 0, 2**32 - 1


SCALARS = (f32, i32, u32)


def _operand(a, b, symbol):
    """`b` as the other operand of `a`: of the same type, or a literal that adapts. NotImplemented hands over to `b`."""
    kind = type(a)
    if type(b) is kind:
        return b
    if type(b) is int or type(b) is float:
        return kind.literal(b)
    if isinstance(b, Vector):
        return NotImplemented
    raise _mismatch(symbol, a, b)


def _float_divide(a, b):
    if b != 0.0:
        return a / b
    if a == 0.0 or a != a or b != b:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _float_floor_divide(a, b):
    return a // b if b != 0.0 else math.floor(_float_divide(a, b)) if a == 0.0 else _float_divide(a, b)


def _float_modulo(a, b):
    return a % b if b != 0.0 else math.nan


def _float_power(a, b):
    with np.errstate(all="ignore"):
        return float(np.power(np.float64(a), np.float64(b)))


def _no_zero(function):
    def checked(a, b):
        if b == 0:
            raise Undefined(f"{a} divided by zero")
        return function(a, b)

    return checked


def _integer_power(a, b):
    if b < 0:
        raise Undefined(f"{a} ** {b}: an integer power with a negative exponent")
    return pow(a, b, 2**32) if a >= 0 else (-1) ** (b & 1) * pow(-a, b, 2**32)


def _binary(cls, name, symbol, function, wrap, plain):
    """Gives `cls` the operator called `name`, both ways round: operate on plain values, then wrap the result."""

    def forward(a, b):
        b = _operand(a, b, symbol)
        return b if b is NotImplemented else wrap(function(plain(a), plain(b)))

    def backward(a, b):
        b = _operand(a, b, symbol)
        return b if b is NotImplemented else wrap(function(plain(b), plain(a)))

    setattr(cls, f"__{name}__", forward)
    if name not in ("eq", "ne", "lt", "le", "gt", "ge"):  # Python mirrors comparisons by itself
        setattr(cls, f"__r{name}__", backward)


def _shift(cls, name, symbol, function):
    """A shift: the amount may be of either integer type."""

    def amount(b):
        if not isinstance(b, int) or isinstance(b, bool):
            raise TypeError(f"{symbol}: a shift by {type(b).__name__}")
        if b < 0:
            raise Undefined(f"a shift by {b}")
        return min(int(b), 32)  # Python has no widest shift: beyond 31, nothing is left but the sign

    def forward(a, b):
        return NotImplemented if isinstance(b, Vector) else cls(function(int(a), amount(b)))

    def backward(a, b):
        return cls(function(int(cls.literal(b)), amount(a)))

    setattr(cls, f"__{name}__", forward)
    setattr(cls, f"__r{name}__", backward)


_COMPARISONS = {
    "eq": ("==", operator.eq),
    "ne": ("!=", operator.ne),
    "lt": ("<", operator.lt),
    "le": ("<=", operator.le),
    "gt": (">", operator.gt),
    "ge": (">=", operator.ge),
}
_FLOAT_OPERATORS = {
    "add": ("+", operator.add),
    "sub": ("-", operator.sub),
    "mul": ("*", operator.mul),
    "truediv": ("/", _float_divide),
    "floordiv": ("//", _float_floor_divide),
    "mod": ("%", _float_modulo),
    "pow": ("**", _float_power),
}
_INTEGER_OPERATORS = {
    "add": ("+", operator.add),
    "sub": ("-", operator.sub),
    "mul": ("*", operator.mul),
    "floordiv": ("//", _no_zero(operator.floordiv)),
    "mod": ("%", _no_zero(operator.mod)),
    "pow": ("**", _integer_power),
    "and": ("&", operator.and_),
    "or": ("|", operator.or_),
    "xor": ("^", operator.xor),
}

for _name, (_symbol, _function) in _FLOAT_OPERATORS.items():
    _binary(f32, _name, _symbol, _function, f32, float)
for _cls in (i32, u32):
    for _name, (_symbol, _function) in _INTEGER_OPERATORS.items():
        _binary(_cls, _name, _symbol, _function, _cls, int)
    _binary(_cls, "truediv", "/", lambda a, b: f32(a) / f32(b), f32, int)
    _shift(_cls, "lshift", "<<", operator.lshift)
    _shift(_cls, "rshift", ">>", operator.rshift)
for _cls, _plain in ((f32, float), (i32, int), (u32, int)):
    for _name, (_symbol, _function) in _COMPARISONS.items():
        _binary(_cls, _name, _symbol, _function, bool, _plain)
    _cls.__hash__ = _plain.__hash__


# ----------------------------------------------------------------------------------------------------------------------
# Vectors
# ----------------------------------------------------------------------------------------------------------------------


def _positions(name, size):
    """The component numbers that a swizzle names, or None."""
    for letters in ("xyzw", "rgba"):
        if all(c in letters[:size] for c in name):
            return [letters.index(c) for c in name]
    return None


class Vector:
    """vec2 to vec4 and their kin. One that was read out of a buffer remembers its place, so that `a[i].x = 1.0` stores."""

    __slots__ = ("_parts", "_home")
    scalar, size = None, 0  # of the classes made below

    def __init__(self, *values):
        parts = []
        for value in values:
            parts.extend(value._parts if isinstance(value, Vector) else [value])
        convert = len(values) == 1 and isinstance(values[0], Vector)  # vec2(ivec2) is a cast
        if len(parts) == 1:
            parts *= self.size
        if len(parts) != self.size:
            raise TypeError(f"{type(self).__name__}() takes 1 or {self.size} components, not {len(parts)}")
        object.__setattr__(self, "_parts", [_component(p, self.scalar, convert) for p in parts])
        object.__setattr__(self, "_home", None)

    def __getattr__(self, name):
        at = _positions(name, self.size)
        if at is None or len(at) > 4:
            raise AttributeError(f"{type(self).__name__} has no {name!r}")
        if len(at) == 1:
            return self._parts[at[0]]
        return vector(self.scalar, len(at))(*[self._parts[k] for k in at])

    def __setattr__(self, name, value):
        at = _positions(name, self.size)
        if at is None or len(set(at)) < len(at):
            raise AttributeError(f"{type(self).__name__} cannot store to {name!r}")
        if len(at) > 1 and getattr(value, "size", 0) != len(at):
            raise TypeError(f"{name!r} takes {len(at)} components")
        parts = list(value._parts) if len(at) > 1 else [value]  # a copy, for v.yx = v
        for k, part in zip(at, parts):
            self._parts[k] = _component(part, self.scalar)
        self._store()

    def __getitem__(self, k):
        if not -self.size <= k < self.size or (k < 0 and type(k) is not int):
            raise IndexError(f"component {k} of {type(self).__name__}")
        return self._parts[k]

    def __setitem__(self, k, value):
        self[k]
        self._parts[k] = _component(value, self.scalar)
        self._store()

    def _store(self):
        if self._home is not None:
            buffer, index = self._home
            buffer[index] = self

    def map(self, function):
        parts = [function(p) for p in self._parts]
        return vector(type(parts[0]), self.size)(*parts)

    def __neg__(self):
        return self.map(operator.neg)

    def __pos__(self):
        return self.map(operator.pos)

    def __invert__(self):
        return self.map(operator.invert)

    def __matmul__(self, other):
        return dot(self, other)

    def __len__(self):
        return self.size

    def __bool__(self):
        raise TypeError(f"a {type(self).__name__} is neither true nor false")

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(map(repr, self._parts))})"

    __hash__ = None


def _component(value, scalar, convert=False):
    if type(value) is scalar:
        return value
    if scalar is not bool and type(value) in (int, float):
        return scalar.literal(value)
    if convert:
        return scalar(value)
    raise TypeError(f"a component of type {type(value).__name__} where {scalar.__name__} is needed")


_VECTORS = {
    (scalar, size): type(f"{prefix}vec{size}", (Vector,), {"__slots__": (), "scalar": scalar, "size": size})
    for scalar, prefix in ((f32, ""), (i32, "i"), (u32, "u"), (bool, "b"))
    for size in (2, 3, 4)
}


def vector(scalar, size):
    """The type of vectors of `size` components of type `scalar`."""
    return _VECTORS[scalar, size]


def _lift(function):
    """`function` on scalars, made to work on vectors component by component; scalars beside vectors are spread."""

    def lifted(*args):
        sizes = {a.size for a in args if isinstance(a, Vector)}
        if not sizes:
            return function(*args)
        if len(sizes) > 1:
            raise TypeError(f"vectors of {sorted(sizes)} components do not go together")
        (size,) = sizes
        columns = [a._parts if isinstance(a, Vector) else itertools.repeat(a, size) for a in args]
        parts = [function(*row) for row in zip(*columns)]
        return vector(type(parts[0]), size)(*parts)

    return lifted


for _name in (*_FLOAT_OPERATORS, "and", "or", "xor", "lshift", "rshift", *_COMPARISONS):
    _function = _lift(getattr(operator, f"__{_name}__"))
    setattr(Vector, f"__{_name}__", _function)
    if _name not in _COMPARISONS:
        setattr(Vector, f"__r{_name}__", (lambda function: lambda a, b: function(b, a))(_function))
Vector.__hash__ = None


# ----------------------------------------------------------------------------------------------------------------------
# Functions of the language
# ----------------------------------------------------------------------------------------------------------------------


def _real(function):
    """A function of f32: computed by NumPy in double precision, rounded once."""

    def rounded(*args):
        for a in args:
            if type(a) not in (f32, int, float):
                raise TypeError(f"f32 is needed, not {type(a).__name__}")
        with np.errstate(all="ignore"):
            return f32(float(function(*[np.float64(f32(a)) for a in args])))

    return _lift(rounded)


def _common(args):
    """The arguments brought to one type, as the operands of an operator are."""
    kinds = {type(a) for a in args if type(a) in SCALARS}
    if not kinds:
        kinds = {f32 if any(type(a) is float for a in args) else i32}
    if len(kinds) > 1:
        raise TypeError(f"arguments of types {', '.join(sorted(k.__name__ for k in kinds))}")
    (kind,) = kinds
    return [a if type(a) is kind else kind.literal(a) for a in args]


def _choose(choose):
    """min or max: of several arguments, or of the components of one vector."""
    lifted = _lift(lambda *args: choose(_common(args)))
    return lambda *args: choose(args[0]._parts) if len(args) == 1 and isinstance(args[0], Vector) else lifted(*args)


def _clamp(x, low, high):
    x, low, high = _common((x, low, high))
    return min(max(x, low), high)


def _sign(x):
    (x,) = _common((x,))
    return type(x)((x > 0) - (x < 0)) if x == x else x


def _magnitude(x):
    return abs(_common((x,))[0])


def dot(a, b):
    return f32(math.fsum(float(x) * float(y) for x, y in zip(_same(a, b)._parts, b._parts)))


def _total(v):
    return f32(math.fsum(v._parts)) if v.scalar is f32 else v.scalar(sum(map(int, v._parts)))


def _divmod(a, b):
    return a // b, a % b


def _log(x, base=None):
    natural = FUNCTIONS["ln"]
    return natural(x) if base is None else natural(x) / natural(base)


def _same(a, b):
    if type(a) is not type(b) or not isinstance(a, Vector) or a.scalar is not f32:
        raise _mismatch("vectors of f32 are needed", a, b)
    return a


def length(v):
    return f32(math.sqrt(math.fsum(float(x) ** 2 for x in _same(v, v)._parts)))


def cross(a, b):
    (ax, ay, az), (bx, by, bz) = ([float(p) for p in v._parts] for v in (_same(a, b), b))
    return vector(f32, 3)(*map(f32, (ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx)))


def normalize(v):
    size = math.sqrt(math.fsum(float(x) ** 2 for x in _same(v, v)._parts))
    return v.map(lambda x: f32(float(x) / size))


def reflect(v, n):
    d = math.fsum(float(x) * float(y) for x, y in zip(_same(v, n)._parts, n._parts))
    return type(v)(*[f32(float(x) - 2.0 * d * float(y)) for x, y in zip(v._parts, n._parts)])


def face_forward(n, v, reference):
    return +n if dot(_same(reference, v), v) < 0.0 else -n


def _smooth_step(low, high, x):
    t = np.clip((x - low) / (high - low), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def _range(*args):
    """range over i32 or, when an argument is u32, over u32."""
    for a in args:
        if not isinstance(a, int):
            raise TypeError(f"range() of {type(a).__name__}")
    kind = u32 if any(type(a) is u32 for a in args) else i32
    return map(kind, range(*map(int, args)))


FUNCTIONS = {
    "abs": _lift(_magnitude),
    "sign": _lift(_sign),
    "fabs": _real(np.fabs),
    "min": _choose(min),
    "max": _choose(max),
    "divmod": _divmod,
    "modf": lambda x: (x - FUNCTIONS["trunc"](x), FUNCTIONS["trunc"](x)),
    "sum": _total,
    "any": lambda v: any(v._parts),
    "all": lambda v: all(v._parts),
    "len": len,
    "clamp": _lift(_clamp),
    "nmin": _real(np.fmin),
    "nmax": _real(np.fmax),
    "nclamp": _real(lambda x, low, high: np.fmin(np.fmax(x, low), high)),
    "round": _real(np.rint),
    "round_even": _real(np.rint),
    "trunc": _real(np.trunc),
    "floor": _real(np.floor),
    "ceil": _real(np.ceil),
    "fract": _real(lambda x: x - np.floor(x)),
    "radians": _real(np.radians),
    "degrees": _real(np.degrees),
    "sin": _real(np.sin),
    "cos": _real(np.cos),
    "tan": _real(np.tan),
    "asin": _real(np.arcsin),
    "acos": _real(np.arccos),
    "atan": _real(np.arctan),
    "atan2": _real(np.arctan2),
    "sinh": _real(np.sinh),
    "cosh": _real(np.cosh),
    "tanh": _real(np.tanh),
    "asinh": _real(np.arcsinh),
    "acosh": _real(np.arccosh),
    "atanh": _real(np.arctanh),
    "pow": _lift(lambda a, b: operator.pow(*_common((a, b)))),
    "exp": _real(np.exp),
    "exp2": _real(np.exp2),
    "ln": _real(np.log),
    "log": _log,
    "log10": _real(np.log10),
    "log2": _real(np.log2),
    "sqrt": _real(np.sqrt),
    "isqrt": _real(lambda x: 1.0 / np.sqrt(x)),
    "mix": _real(lambda a, b, t: a * (1.0 - t) + b * t),
    "step": _real(lambda edge, x: 0.0 if x < edge else 1.0),
    "smooth_step": _real(_smooth_step),
    "smoothstep": _real(_smooth_step),
    "isnan": _lift(lambda x: math.isnan(*_common((x,)))),
    "isinf": _lift(lambda x: math.isinf(*_common((x,)))),
    "isfinite": _lift(lambda x: math.isfinite(*_common((x,)))),
    "length": length,
    "distance": lambda a, b: length(_same(a, b) - b),
    "dot": dot,
    "cross": cross,
    "normalize": normalize,
    "reflect": reflect,
    "face_forward": face_forward,
}


# ----------------------------------------------------------------------------------------------------------------------
# Parameters
# ----------------------------------------------------------------------------------------------------------------------


class Array:
    """Array[T] and pyshader's Array(T) or Array(n, T): the type of a buffer of elements of type T."""

    def __init__(self, *length_and_element):
        *length, self.element = length_and_element
        self.length = length[0] if length else None

    def __class_getitem__(cls, element):
        return cls(element)


class Index:
    """An index parameter of 1, 2 or 3 axes."""

    def __init__(self, axes):
        self.axes = axes


class Buffer:
    """A storage buffer: a NumPy array whose elements are values of the language."""

    def __init__(self, name, element, data, length=None):
        scalar, self.width = (element.scalar, element.size) if issubclass(element, Vector) else (element, 1)
        wanted = {f32: np.float32, i32: np.int32, u32: np.uint32}[scalar]
        if data.dtype != wanted:
            raise TypeError(f"{name}: an array of {data.dtype} for Array[{element.__name__}]")
        self.name, self.element = name, element
        self.data = (data.reshape(-1, self.width) if self.width > 1 else data.reshape(-1))[:length]

    def _at(self, index):
        if not isinstance(index, int) or isinstance(index, bool):
            raise TypeError(f"{self.name}[...]: an index of type {type(index).__name__}")
        size = len(self.data)
        if type(index) is int and index < 0:  # a constant counts from the end, as in Python
            index += size
        if not 0 <= index < size:
            raise IndexError(f"{self.name}[{index}] of {size}")
        return index

    def __getitem__(self, index):
        index = self._at(index)
        if self.width == 1:
            return self.element(self.data[index].item())
        value = self.element(*[self.element.scalar(x) for x in self.data[index].tolist()])
        object.__setattr__(value, "_home", (self, index))
        return value

    def __setitem__(self, index, value):
        value = _typed(value, self.element, self.name)
        self.data[self._at(index)] = value._parts if self.width > 1 else value

    def __len__(self):
        return len(self.data)


TYPES = {
    "f32": f32,
    "i32": i32,
    "u32": u32,
    "bool": bool,
    "float": f32,
    "int": i32,
    **{cls.__name__: cls for cls in _VECTORS.values()},
}

# What a kernel may name without importing it.
LANGUAGE = {
    **FUNCTIONS,
    **TYPES,
    "Array": Array,
    "Index": Index(1),
    "Index2": Index(2),
    "Index3": Index(3),
    "range": _range,
    "RES_INPUT": "input",
    "RES_BUFFER": "buffer",
}
for _name in ("math", "stdlib", "ps", "pyshader", "kp", "lang"):
    LANGUAGE[_name] = types.SimpleNamespace(**LANGUAGE)
for _name in ("pi", "e", "tau", "inf", "nan"):
    setattr(LANGUAGE["math"], _name, getattr(math, _name))
for _name in ("ps", "pyshader"):
    LANGUAGE[_name].stdlib = LANGUAGE["stdlib"]
LANGUAGE["kp"].lang = LANGUAGE["lang"]


def _typed(value, kind, name):
    """`value` as a `kind`: the same type, or a literal that adapts; a fresh copy when it is a vector."""
    if type(value) is kind:
        return +value if isinstance(value, Vector) and kind.scalar is not bool else value
    if type(value) in (int, float) and kind in SCALARS:
        return kind.literal(value)
    raise TypeError(f"{name} is {kind.__name__}, not {type(value).__name__}")


# Inputs by pyshader's names, as functions of (index, extent); a workgroup is one invocation.
_INPUTS = {
    "GlobalInvocationId": lambda index, extent: index,
    "WorkgroupId": lambda index, extent: index,
    "NumWorkgroups": lambda index, extent: extent,
    "LocalInvocationId": lambda index, extent: (0, 0, 0),
    "LocalInvocationIndex": lambda index, extent: (0,),
}


class Parameter:
    """One parameter of a kernel: what it is, and the value that it has for an index."""

    def __init__(self, name, spec):
        self.name, self.spec = name, spec
        self.is_input = isinstance(spec, Index) or (isinstance(spec, tuple) and spec[0] == "input")

    def bind(self, given):
        """A function from (index, extent) to the value of the parameter, for what the caller gave."""
        spec = self.spec
        if isinstance(spec, Index):
            kind = i32 if spec.axes == 1 else vector(i32, spec.axes)
            return lambda index, extent: kind(*index[: spec.axes])
        if isinstance(spec, tuple) and spec[0] == "input":
            source, kind = _INPUTS[spec[1]], spec[2]
            return lambda index, extent: kind(*source(index, extent))
        if isinstance(spec, tuple):
            spec = spec[2]
        if isinstance(spec, Array):
            buffer = Buffer(self.name, spec.element, given, spec.length)
            return lambda index, extent: buffer
        make = (lambda: spec(*[spec.scalar(x) for x in given])) if issubclass(spec, Vector) else (lambda: spec(given))
        return lambda index, extent: make()


# ----------------------------------------------------------------------------------------------------------------------
# The kernel, rewritten
# ----------------------------------------------------------------------------------------------------------------------


def _is_literal(node):
    return all(isinstance(n, (ast.Constant, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop)) for n in ast.walk(node))


def _like(literal, model):
    """`literal` as a value of the type that model() has, when that can be found out."""
    try:
        kind = type(model())
    except (ArithmeticError, LookupError, NameError):
        return literal
    return kind.literal(literal) if kind in SCALARS and type(literal) in (int, float) else literal


class _Rewriter(ast.NodeTransformer):
    """Sends what a local variable gets through __bind__(name, value[, type]), and gives literals in choices a type."""

    def bound(self, name, value, *annotation):
        call = ast.Call(ast.Name("__bind__", ast.Load()), [ast.Constant(name), value, *annotation], [])
        return ast.copy_location(call, value)

    def through(self, target, value):
        if isinstance(target, ast.Name):
            return self.bound(target.id, value)
        if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
            if len(target.elts) == len(value.elts):
                value.elts = [self.through(t, v) for t, v in zip(target.elts, value.elts)]
        return value

    def visit_Assign(self, node):
        self.generic_visit(node)
        for target in node.targets:
            node.value = self.through(target, node.value)
        return node

    def visit_AnnAssign(self, node):
        self.generic_visit(node)
        value = node.value or ast.copy_location(ast.Constant(None), node)
        bound = self.bound(node.target.id, value, node.annotation)
        if node.value is None:
            return ast.copy_location(ast.Expr(bound), node)
        return ast.copy_location(ast.Assign([node.target], bound), node)

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            return node
        read = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        value = ast.copy_location(ast.BinOp(read, node.op, node.value), node)
        return ast.copy_location(ast.Assign([node.target], self.bound(node.target.id, value)), node)

    def visit_IfExp(self, node):
        """`a if c else 3`: the literal is given the type that `a` would have."""
        literals = [_is_literal(node.body), _is_literal(node.orelse)]
        self.generic_visit(node)
        if literals == [True, False]:
            node.body = self.like(node.body, node.orelse)
        elif literals == [False, True]:
            node.orelse = self.like(node.orelse, node.body)
        return node

    def like(self, literal, model):
        no_arguments = ast.arguments([], [], None, [], [], None, [])
        call = ast.Call(ast.Name("__like__", ast.Load()), [literal, ast.Lambda(no_arguments, model)], [])
        return ast.copy_location(call, literal)

    def visit_For(self, node):
        self.generic_visit(node)
        if isinstance(node.target, ast.Name):
            again = ast.Name(node.target.id, ast.Load())
            bind = ast.Assign([node.target], self.bound(node.target.id, ast.copy_location(again, node.target)))
            node.body.insert(0, ast.copy_location(bind, node.target))
        return node


class Kernel:
    """A kernel made ready to run in CPython. `kernel` is a function, decorated or not, or the text of one."""

    def __init__(self, kernel, name=None):
        function = inspect.unwrap(getattr(kernel, "input", kernel)) if not isinstance(kernel, str) else None
        if function is None:
            text, self.file, first, captured = kernel, f"<kernel {id(kernel):x}>", 1, {}
            linecache.cache[self.file] = (len(text), None, text.splitlines(True), self.file)
        else:
            lines, first = inspect.getsourcelines(function)
            text, self.file = "".join(lines), inspect.getsourcefile(function)
            captured = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
        tree = ast.parse(textwrap.dedent(text))
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        (self.node,) = [node for node in functions if name in (None, node.name)][-1:]
        ast.increment_lineno(self.node, first - 1)
        self.name = self.node.name
        self.names = {**LANGUAGE, **{k: v for k, v in captured.items() if isinstance(v, (bool, int, float))}}
        self.parameters = self._parameters()
        self.code = self._compile()

    def _evaluate(self, node):
        spec = eval(compile(ast.Expression(node), self.file, "eval"), {"__builtins__": {}}, self.names)
        return self._resolve(spec)

    def _resolve(self, spec):
        if isinstance(spec, str):
            return self._resolve(eval(spec, {"__builtins__": {}}, self.names))
        if isinstance(spec, tuple):
            return (*spec[:2], self._resolve(spec[2]))
        return spec

    def _parameters(self):
        arguments = self.node.args.args
        defaults = [None] * (len(arguments) - len(self.node.args.defaults)) + self.node.args.defaults
        return [Parameter(a.arg, self._evaluate(a.annotation or d)) for a, d in zip(arguments, defaults)]

    def _compile(self):
        node = self.node
        node.decorator_list, node.args.defaults = [], []
        for argument in node.args.args:
            argument.annotation = None
        module = ast.fix_missing_locations(ast.Module([_Rewriter().visit(node)], []))
        return compile(module, self.file, "exec")

    def _function(self):
        """The kernel as a Python function, and the table of the types that its variables have taken on."""
        kinds = {}

        def bind(name, value, declared=None):
            kind = kinds.get(name) or declared
            if value is None:
                kinds[name] = declared
                return None
            if kind is None:
                kind = {int: i32, float: f32}.get(type(value), type(value))
            value = _typed(value, kind, name)
            kinds[name] = kind
            return value

        scope = {**self.names, "__builtins__": builtins, "__bind__": bind, "__like__": _like}
        exec(self.code, scope)
        return scope[self.name], kinds

    def run(self, extent, *args):
        """Runs the kernel once per index of `extent` (a number, or a tuple of up to three), x fastest."""
        extent = tuple(np.atleast_1d(extent).tolist())
        extent += (1,) * (3 - len(extent))
        given = iter(args)
        sources = [p.bind(None if p.is_input else next(given)) for p in self.parameters]
        if next(given, None) is not None:
            raise TypeError(f"{self.name}: more arguments than parameters")
        function, kinds = self._function()
        for z, y, x in itertools.product(*map(range, reversed(extent))):
            values = [source((x, y, z), extent) for source in sources]
            kinds.update({p.name: type(v) for p, v in zip(self.parameters, values)})
            function(*values)


def run(kernel, extent, *args, name=None):
    """Runs `kernel` over `extent` in CPython; NumPy arrays among the arguments are changed in place."""
    Kernel(kernel, name).run(extent, *args)
