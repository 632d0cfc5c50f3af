"""Makes random kernels: well typed, with nested control flow, and with one right answer on every device.

`generate(seed)` gives the text of a kernel called `k`, behind the functions that it calls, with the parameters of `SIGNATURE`; `arguments(seed, count)` gives
values for them. Nothing in a kernel is undefined or left to the device: divisors are never zero, shifts are below 32,
loops are short, indices are in range. Floats stay exact: each float expression is made together with a bound of its
magnitude and of the binary digits behind its point, and is cut to size before it would need rounding. So every output but
`out_r`, which is given results of inexact functions at the very end, is compared bit for bit, even where a driver fuses a
multiplication with an addition. What is computed with zeros, which may be infinite, NaN or -0.0, is told by its kind alone.
"""

import random

import numpy as np

SLOTS = 8  # elements of each output that one index owns

SIGNATURE = (
    "i: Index, n: i32, m: u32, s: f32, a: Array[i32], b: Array[u32], x: Array[f32], v: Array[vec3], "
    "out_i: Array[i32], out_u: Array[u32], out_f: Array[f32], out_r: Array[f32], out_v: Array[vec3]"
)
SIZE = 16  # elements of each input
NARROW_AND_WIDE = ("i8", "u8", "i16", "u16", "i64", "u64")  # integers that not every device has
LIMIT, DIGITS = 256, 2  # what float variables are cut to: magnitude, binary digits behind the point

# Tuples of numbers that the text has outside of its functions: an index may count from the end, of either.
TABLES = "TABLE = (3, -7, 100, 65535)\nROWS = ((1, -2, 30), (-400, 5, 2147483647))\n"

# Structs that the text has: numbers, an array, one in another.
STRUCTS = """class Inner(Struct):
    a: i32
    b: u32
    c: Array(3, i32)


class Outer(Struct):
    n: i32
    inner: Inner
    v: vec3
"""

# What kind of number it is.
KIND = """def kind(x: f32) -> i32:
    if x != x:
        return 1
    if x == 0.0:
        return 2 if copysign(1.0, x) > 0.0 else 3
    if abs(x) > 3.0e38:
        return 4 if x > 0.0 else 5
    return 6 if x > 0.0 else 7


"""

# What may be done with a zero z, or one among other numbers, and with y, which is none.
USES = "y * z|z * y|y / z|z / y|y + z|z + y|z - y|-z * y|y * z + z|y * z + 1.0|fma(y, z, z)|abs(z) * y|z * z|z / z|z + z|z - z"
USES += "|y / z * z|y // z|z // y|z % y|min(y, z) * z|(y / z + y) * 2.0|y / z - y / z|dot(vec2(y, z), vec2(z, y))|(vec2(y, z) * z).x"

# What a helper takes besides p and q.
CONTEXT = "i, n, m, s, a, b, x, v"

INTEGERS = [0, 1, -1, 2, 3, 7, -8, 100, 255, 65535, -65536, 2**24 + 1, -(2**24) - 1, 2**31 - 1, -(2**31), 1 << 30]


def arguments(seed, count):
    """Values for the parameters behind `i`, for a launch over `count` indices."""
    rng = np.random.default_rng(seed)
    pick = np.array(INTEGERS, dtype=np.int64)
    a = np.where(rng.random(SIZE) < 0.6, rng.choice(pick, SIZE), rng.integers(-50, 50, SIZE)).astype(np.int32)
    b = np.where(rng.random(SIZE) < 0.6, rng.choice(pick, SIZE), rng.integers(0, 50, SIZE)).astype(np.uint32)
    x = (rng.integers(-256, 257, SIZE) / 4).astype(np.float32)
    v = (rng.integers(-256, 257, (SIZE, 3)) / 4).astype(np.float32)
    outputs = [np.zeros(count * SLOTS, t) for t in (np.int32, np.uint32, np.float32, np.float32)]
    scalars = (int(rng.choice(pick[:9])), int(rng.integers(0, 2**32)), float(rng.integers(-40, 41) / 4))
    return [*scalars, a, b, x, v, *outputs, np.zeros((count * SLOTS, 3), np.float32)]


class Generator:
    def __init__(self, seed, size=14, every_type=False):
        self.rng = random.Random(seed)
        self.struct_rng = random.Random(~seed)  # of its own: what else there is does not depend on the structs
        self.zero_rng = random.Random(seed + 2**40)  # the same
        self.helpers = []  # names of functions of (CONTEXT, i32, i32)
        self.pairs = []  # names of functions that give two i32
        self.arrays = []  # names of arrays of four i32
        self.grids = []  # names of arrays of two arrays of three i32
        self.floats = []  # names of arrays of four exact f32
        self.inners, self.outers = [], []  # names of structs
        self.result = ""  # what leaves the function: "", or an i32
        self.budget = size  # statements still to be made
        self.lines = []
        self.variables = {"i32": ["i", "n"], "u32": ["m"], "f32": [], "bool": [], "vec2": [], "vec3": [], "ivec2": []}
        self.more = NARROW_AND_WIDE if every_type else ()
        self.variables |= {kind: [] for kind in self.more}
        self.fixed = {"i", "n", "m"}
        self.names = 0
        self.loops = []  # iterations of the loops around

    # ---- small things

    def chance(self, p):
        return self.rng.random() < p

    def pick(self, *choices):
        return self.rng.choice(choices)

    def emit(self, depth, text):
        self.lines.append("    " * depth + text)

    def fresh(self, prefix):
        self.names += 1
        return f"{prefix}_{self.names}"  # never the name of a type, such as i32

    def variable(self, kind, writable=False):
        names = [v for v in self.variables[kind] if not writable or v not in self.fixed]
        return self.rng.choice(names) if names else None

    # ---- integers

    def constant(self):
        if self.chance(0.15):
            return self.pick(
                "(7 - 3 * 2)", "(-7 // 2)", "(-7 % 3)", "(7 % -3)", "(1 << 4)", "(2 ** 5)", "(~5)", "0x1F", "0b101"
            )
        value = self.rng.randint(-9, 9)
        return str(value) if value >= 0 else f"({value})"

    def index(self, d):
        return self.pick("i", str(self.rng.randrange(SIZE)), f"({self.i32(d - 1)} & {SIZE - 1})", "-1")

    def i32(self, d):
        """An expression of type i32 that is no constant."""
        if d <= 0 or self.chance(0.12):
            return self.variable("i32") if self.chance(0.6) else f"a[{self.index(0)}]"
        if self.more and self.chance(0.2):
            kind = self.pick(*self.more)
            inner = self.integer(kind, d - 1)
            widens = kind in ("i8", "u8", "i16", "u16") and self.chance(0.3)
            return f"({inner} {self.pick('+', '-', '*', '|')} {self.i32(0)})" if widens else f"i32({inner})"
        e, f = self.i32(d - 1), self.i32_any(d - 1)
        if self.chance(0.5):
            e, f = f, e
        choice = self.rng.randrange(26)
        if choice < 6:
            return f"({e} {self.pick('+', '-', '*')} {f})"
        if choice < 9:
            return f"({e} {self.pick('&', '|', '^')} {f})"
        if self.helpers and self.chance(0.1):
            return f"{self.pick(*self.helpers)}({CONTEXT}, {e}, {self.i32(d - 1)})"
        if self.arrays and self.chance(0.15):
            return f"{self.pick(*self.arrays)}[{self.pick(f'({e} & 3)', '-1', '2', f'-({e} & 3 | 1)')}]"
        if self.grids and self.chance(0.15):
            return f"{self.pick(*self.grids)}[{self.either_end(2, d)}][{self.either_end(3, d)}]"
        if choice >= 22:
            return self.i32_rare(choice, self.i32(d - 1), self.i32(d - 1), d)
        solid = self.i32(d - 1)
        if choice == 9:
            return f"({solid} {self.pick('//', '%')} ({self.i32(d - 1)} & 15 | 1))"
        if choice == 10:
            return f"(({solid} >> 1) {self.pick('//', '%')} -({self.i32(d - 1)} & 15 | 1))"
        if choice == 11:
            return f"({solid} {self.pick('//', '%')} {self.pick('3', '7', '-5', '(-2)', '100000', '16')})"
        if choice == 12:
            return f"({solid} {self.pick('<<', '>>')} ({self.pick(self.i32, self.u32)(d - 1)} & 31))"
        if choice == 13:
            return f"({self.pick('-', '~', '+', '- -')}{solid})"
        if choice == 14:
            return f"{self.pick('min', 'max')}({e}, {f})"
        if choice == 15:
            bits = (
                f"bit_count({solid})",
                f"({solid}).bit_length()",
                f"bit_reverse({solid})",
                f"mul_hi({solid}, {solid})",
                f"gcd({solid}, {e})",
            )
            return self.pick(f"abs({solid})", *bits, f"bitcast(i32, {self.u32(d - 1)})")
        if choice == 16:
            return f"({e} if {self.boolean(d - 1)} else {f})"
        if choice == 17:
            return f"i32({self.u32(d - 1)})"
        if choice == 18:
            return f"i32({self.f32(d - 1)[0]})"
        if choice == 19:
            return f"({solid} ** {self.pick('2', '3', f'({self.i32(d - 1)} & 3)')})"
        if choice == 20:
            w = self.variable("ivec2")
            return f"{w}.{self.pick('x', 'y', 'r', 'g')}" if w else f"(1 if {self.boolean(d - 1)} else {solid})"
        return f"clamp({solid}, -20, 30)"

    def either_end(self, count, d):
        """An index into `count` elements, from either end."""
        return self.pick(f"({self.i32(d - 1)} % {count})", f"({self.i32(d - 1)} % {2 * count} - {count})", "-1", "0")

    def i32_rare(self, choice, e, f, d):
        if choice == 22:
            index = (
                f"({self.i32(d - 1)} % 6 - 3)"  # an item that is known while compiling is a literal, which may not wrap
            )
            return self.pick(f"TABLE[{index}]", f"ROWS[{self.either_end(2, d)}][{index}]")
        if choice == 23:
            return f"({e} {self.pick('and', 'or')} {f})"
        if choice == 24:
            return f"i32({self.boolean(d - 1)})"
        return f"({e} if {f} else {self.i32_any(d - 1)})"  # a number as a condition

    def i32_any(self, d):
        return self.constant() if self.chance(0.3) else self.i32(d)

    def u32(self, d):
        """An expression of type u32 that is no constant."""
        if d <= 0 or self.chance(0.15):
            return self.variable("u32") if self.chance(0.6) else f"b[{self.index(0)}]"
        e = self.u32(d - 1)
        f = str(self.pick(0, 1, 2, 9, 255, 65536, "0xFFFFFFFF", 4294967295)) if self.chance(0.3) else self.u32(d - 1)
        choice = self.rng.randrange(14)
        if choice < 4:
            return f"({e} {self.pick('+', '-', '*')} {f})"
        if choice < 6:
            return f"({e} {self.pick('&', '|', '^')} {f})"
        if choice == 6:
            return f"({e} {self.pick('//', '%')} ({self.u32(d - 1)} | 1))"
        if choice == 7:
            return f"({e} {self.pick('//', '%')} {self.pick('3', '10', '65537', '8')})"
        if choice == 8:
            return f"({e} {self.pick('<<', '>>')} ({self.pick(self.i32, self.u32)(d - 1)} & 31))"
        if choice == 9:
            return f"({self.pick('-', '~')}{e})"
        if choice == 10:
            return f"{self.pick('min', 'max')}({e}, {f})"
        if choice == 11:
            return f"({e} if {self.boolean(d - 1)} else {f})"
        if choice == 12:
            return f"u32({self.i32(d - 1)})"
        return f"({e} ** {self.pick('2', '3')})"

    def integer(self, kind, d):
        """An expression of one of the other integer types that is no constant."""
        name = self.variable(kind)
        if d <= 0 or self.chance(0.15):
            return name if name and self.chance(0.7) else f"{kind}({self.pick(self.i32, self.u32)(0)})"
        e, signed, bits = self.integer(kind, d - 1), kind[0] == "i", int(kind[1:])
        high = 2 ** (bits - signed) - 1
        f = str(self.pick(0, 1, 2, 9, 100, high)) if self.chance(0.3) else self.integer(kind, d - 1)
        choice = self.rng.randrange(14)
        if choice < 4:
            return f"({e} {self.pick('+', '-', '*')} {f})"
        if choice == 4:
            return f"({e} {self.pick('&', '|', '^')} {f})"
        if choice == 5:
            return f"({e} {self.pick('//', '%')} ({self.integer(kind, d - 1)} & 15 | 1))"
        if choice == 6:
            return (
                f"({e} {self.pick('//', '%')} {self.pick('3', '7', '10', '16', *(['-5', '(-2)'] if signed else []))})"
            )
        if choice == 7:
            amount = self.pick(self.i32(d - 1), self.integer(kind, d - 1), str(self.rng.randrange(bits)))
            return f"({e} {self.pick('<<', '>>')} ({amount} & 63))"
        if choice == 8:
            return f"({self.pick('-', '~', '+')}{e})"
        if choice == 9:
            return f"{self.pick('min', 'max')}({e}, {f})"
        if choice == 10:
            return f"({e} if {self.boolean(d - 1)} else {f})"
        if choice == 11:
            return f"({e} ** {self.pick('2', '3')})"
        if choice == 12:
            return self.pick(f"abs({e})", f"clamp({e}, 3, 90)", f"sign({e})", f"bit_reverse({e})")
        return f"({e} + {self.narrower(kind, d - 1)})"

    def narrower(self, kind, d):
        """An expression of a type of which every value is one of `kind`, or a cast."""
        inner = {"i16": "i8", "u16": "u8", "i64": "i16", "u64": "u16"}.get(kind)
        return self.integer(inner, d) if inner else f"{kind}({self.integer(self.pick(*self.more), d)})"

    # ---- floats: (text, bound of the magnitude, digits behind the point)

    def f32(self, d):
        """An exact expression of type f32 that is no constant."""
        text, bound, digits = self.f32_free(d)
        return self.cut(text, bound, digits) if bound > LIMIT or digits > DIGITS else (text, bound, digits)

    def cut(self, text, bound, digits):
        if digits > DIGITS:
            text = f"floor({text})"
        return (
            (f"clamp({text}, -{LIMIT}.0, {LIMIT}.0)" if bound > LIMIT else text),
            min(bound, LIMIT),
            min(digits, DIGITS),
        )

    def f32_free(self, d):
        if d <= 0 or self.chance(0.12):
            name = self.variable("f32")
            if self.floats and self.chance(0.2):
                return f"{self.pick(*self.floats)}[{self.either_end(4, 0)}]", LIMIT, DIGITS
            if name and self.chance(0.6):
                return name, LIMIT, DIGITS
            return self.pick((f"x[{self.index(0)}]", 64, 2), ("s", 10, 2))
        choice = self.rng.randrange(15)
        if choice < 2:
            return self.pick((f"f32({self.i32(d - 1)} & 255)", 255, 0), (f"f32({self.u32(d - 1)} % 200)", 200, 0))
        e, eb, ed = self.f32(d - 1)
        if choice < 5:
            f, fb, fd = self.f32_any(d - 1)
            return f"({e} {self.pick('+', '-')} {f})", eb + fb, max(ed, fd)
        if choice < 7:
            f, fb, fd = self.f32_any(d - 1)
            return f"({f} * {e})", eb * fb, ed + fd
        if choice == 7:
            return self.pick(
                (f"(-{e})", eb, ed),
                (f"abs({e})", eb, ed),
                (f"copysign({e}, -2.0)", eb, ed),
                (f"{e} ** 2", eb * eb, 2 * ed),
            )
        if choice == 8:
            return f"{self.pick('floor', 'ceil', 'trunc', 'round')}({e})", eb + 1, 0
        if choice == 9:
            f, fb, fd = self.f32_any(d - 1)
            return f"{self.pick('min', 'max')}({e}, {f})", max(eb, fb), max(ed, fd)
        if choice == 10:
            f, fb, fd = self.f32_any(d - 1)
            return f"({e} if {self.boolean(d - 1)} else {f})", max(eb, fb), max(ed, fd)
        if choice == 11:
            divisor = self.pick(0.5, 1.5, 3.0, 4.0, 7.0, -2.0, -3.0, -0.75)
            return self.pick(
                (f"({e} % {divisor})", 7, 2), (f"({e} // {divisor})", eb * 2 + 1, 0), (f"fmod({e}, {divisor})", 7, 2)
            )
        if choice == 12:
            w = self.variable(self.pick("vec2", "vec3"))
            return (f"{w}.{self.pick('x', 'y', 'r')}" if w else f"v[{self.index(0)}].z"), LIMIT, DIGITS
        if choice == 13:
            kind = self.pick("vec2", "vec3")
            return f"({self.vector(kind, 1)} @ {self.vector(kind, 1)})", 3 * LIMIT * LIMIT, 2 * DIGITS
        return f"({e} / {self.pick(2, 4.0)})", eb / 2, ed + 2

    def f32_any(self, d):
        if self.chance(0.3):
            value = self.rng.randint(-40, 40) / self.pick(1, 2, 4)
            if value == int(value) and self.chance(0.4):
                return f"({int(value)})", 40, 0
            return f"({value})", 40, 2
        return self.f32(d)

    # ---- vectors of exact floats, and of integers

    def vector(self, kind, d):
        size = int(kind[-1])
        if kind.startswith("i"):
            e = f"ivec2({self.i32(d)}, {self.i32_any(d)})"
            w = self.variable("ivec2")
            return (
                self.pick(w, f"({w} {self.pick('+', '-', '*', '&')} {e})", f"{w}.yx", f"-{w}", e) if w and d else w or e
            )
        name = self.variable(kind)
        if d <= 0 and name:
            return name
        parts = ", ".join(self.f32_any(d - 1)[0] for _ in range(size))
        made = f"{kind}({parts})"
        if d <= 0 or not name:
            return made if size == 2 or self.chance(0.7) else f"v[{self.index(0)}]"
        swizzle = "".join(self.rng.choice("xyz"[:size]) for _ in range(size))
        other = self.variable("vec3")
        half = f"(({name} {self.pick('+', '-')} {self.vector(kind, d - 1)}) // 2.0)"
        choices = [name, made, f"{name}.{swizzle}", half, f"(-{name})", f"floor({name} * 0.5)", f"min({name}, {made})"]
        if other and size == 2:
            choices += [f"{other}.{self.pick('xy', 'zx', 'gb', 'yy')}"]
        if size == 3:
            choices += [f"vec3({self.vector('vec2', d - 1)}, {self.f32(d - 1)[0]})"]
        return self.rng.choice(choices)

    # ---- conditions

    def boolean(self, d):
        choice = self.rng.randrange(10 if d > 0 else 3)
        if choice < 3:
            kind = self.pick("i32", "i32", "u32", "f32")
            op = self.pick("<", "<=", ">", ">=", "==", "!=")
            if kind == "f32":
                return f"{self.f32(d - 1)[0]} {op} {self.f32_any(d - 1)[0]}"
            if kind == "u32":
                return f"{self.u32(d - 1)} {op} {self.u32(d - 1)}"
            return f"{self.i32(d - 1)} {op} {self.i32_any(d - 1)}"
        if choice < 5:
            return f"({self.boolean(d - 1)} {self.pick('and', 'or')} {self.boolean(d - 1)})"
        if choice == 5:
            return f"(not {self.boolean(d - 1)})"
        if choice == 6:
            return f"{self.constant()} < {self.i32(d - 1)} {self.pick('<', '<=', '!=')} {self.i32_any(d - 1)}"
        if choice == 7:
            name = self.variable("bool")
            return name if name else "True"
        if choice == 8:
            return f"({self.boolean(d - 1)} if {self.boolean(d - 1)} else {self.boolean(d - 1)})"
        return f"({self.boolean(d - 1)}) {self.pick('==', '!=')} ({self.boolean(d - 1)})"

    def value(self, kind, d=2):
        if kind == "i32":
            return self.i32(d)
        if kind == "u32":
            return self.u32(d)
        if kind in self.more:
            return self.integer(kind, d)
        if kind == "f32":
            return self.f32(d)[0]
        if kind == "bool":
            return self.boolean(d)
        return self.vector(kind, d)

    # ---- statements

    def define(self, depth, kind=None):
        kind = kind or self.pick("i32", "i32", "u32", "f32", "bool", "vec2", "vec3", "ivec2", *self.more)
        value = self.value(kind)
        name = self.fresh(kind[0])
        annotation = f": {kind}" if self.chance(0.2) else ""
        self.emit(depth, f"{name}{annotation} = {value}")
        self.variables[kind].append(name)

    def assign(self, depth):
        kind = self.pick("i32", "i32", "u32", "f32", "bool", "vec2", "vec3", "ivec2", *self.more)
        name = self.variable(kind, writable=True)
        if not name:
            return self.define(depth, kind)
        choice = self.rng.randrange(4)
        if choice == 0 and kind in ("i32", "u32", *self.more):
            if self.chance(0.2):
                return self.emit(depth, f"{name} {self.pick('//=', '%=')} {self.pick('3', '7', '10')}")
            if self.chance(0.2):
                return self.emit(depth, f"{name} {self.pick('<<=', '>>=')} {self.rng.randrange(6)}")
            return self.emit(depth, f"{name} {self.pick('+=', '-=', '*=', '&=', '|=', '^=')} {self.value(kind)}")
        if choice == 1 and kind.startswith("vec"):
            part = self.pick("x", "y", "xy", "yx", "g") if kind == "vec2" else self.pick("x", "z", "xz", "zyx", "bg")
            value = self.value("f32") if len(part) == 1 else self.vector(f"vec{len(part)}", 1)
            return self.emit(depth, f"{name}.{part} = {value}")
        if choice == 2:
            other = self.variable(kind, writable=True)
            if other != name:
                return self.emit(
                    depth, f"{name}, {other} = {self.pick(f'{other}, {name}', f'{self.value(kind)}, {name}')}"
                )
        self.emit(depth, f"{name} = {self.value(kind)}")

    def list(self, depth):
        """Makes an array, or uses one."""
        if self.chance(0.4):
            return self.list_rare(depth)
        if self.arrays and self.chance(0.6):
            name = self.pick(*self.arrays)
            if self.chance(0.3) and len(self.loops) < 2:
                item = self.fresh("j")
                return self.over(depth, f"{item} in {name}", [item])
            index = self.pick(f"({self.i32(1)} & 3)", "0", "-1")
            return self.emit(depth, f"{name}[{index}] {self.pick('=', '+=', '^=')} {self.i32(2)}")
        name = self.fresh("l")
        value = self.pick(
            f"[{self.i32(1)}, {self.i32_any(1)}, {self.i32(1)}, 7]",
            f"[{self.i32(1)}] * 4",
            f"[{self.variable('i32')} * c + {self.constant()} for c in range(4)]",
        )
        self.emit(depth, f"{name} = {value}")
        self.arrays.append(name)

    def list_rare(self, depth):
        """The same, with arrays of arrays and of floats; and loops over tuples."""
        if self.grids and self.chance(0.4):
            place = f"{self.pick(*self.grids)}[{self.either_end(2, 1)}][{self.either_end(3, 1)}]"
            return self.emit(depth, f"{place} {self.pick('=', '+=', '-=', '|=')} {self.i32(1)}")
        if self.floats and self.chance(0.4):
            return self.emit(depth, f"{self.pick(*self.floats)}[{self.either_end(4, 1)}] = {self.value('f32')}")
        name, choice = self.fresh("l"), self.rng.randrange(3)
        if choice == 0:
            rows = self.pick(
                "[0] * 3", f"[{self.i32(0)}, r, {self.i32_any(1)}]", f"[r + c * {self.i32(0)} for c in range(3)]"
            )
            self.emit(depth, f"{name} = [{rows} for r in range(2)]")
            self.grids.append(name)
        elif choice == 1:
            self.emit(depth, f"{name} = [{', '.join(self.f32(1)[0] for _ in range(4))}]")
            self.floats.append(name)
        elif len(self.loops) < 2:
            one, two = self.fresh("j"), self.fresh("j")
            head = self.pick((f"{one} in TABLE", [one]), (f"{one}, {two}, _ in ROWS", [one, two]))
            self.over(depth, *head)

    def struct(self, depth):
        """Makes a struct, stores to a field of one, or reads one."""
        rng = self.struct_rng

        def number():
            return rng.choice([*self.variables["i32"], "7", "-2", f"({rng.choice(self.variables['i32'])} * 3)"])

        def inner():
            fields = [f"a={number()}", f"b={rng.choice(self.variables['u32'])}", f"c=[{number()}, {number()}, 5]"]
            rng.shuffle(fields)
            return rng.choice([f"Inner({', '.join(fields)})", "Inner()", *(f"{name}.copy()" for name in self.inners)])

        places = [f"{name}.inner" for name in self.outers] + self.inners
        choice, name = rng.randrange(6), f"s_{len(self.lines)}"
        if not places or choice == 0:
            self.emit(depth, f"{name} = {inner()}")
            return self.inners.append(name)
        if choice == 1:
            self.emit(depth, f"{name} = Outer({number()}, {inner()}, v=vec3({rng.choice(self.variables['vec3'])}))")
            return self.outers.append(name)
        place = rng.choice(places)
        field = f"{place}.{rng.choice(['a', 'c[-1]', f'c[{number()} % 3]', f'c[{number()} % 6 - 3]'])}"
        if choice == 2 and self.outers:
            return self.emit(depth, f"{rng.choice(self.outers)}.v.zx = {rng.choice(self.variables['vec3'])}.xy")
        if choice < 5:
            return self.emit(depth, f"{field} {rng.choice(['=', '+=', '^='])} {number()}")
        self.emit(depth, f"out_i[i * {SLOTS} + {rng.randrange(4)}] ^= {field} + i32({place}.b)")
        if self.outers:
            outer = rng.choice(self.outers)
            self.emit(
                depth, f"out_f[i * {SLOTS} + {rng.randrange(4)}] = {outer}.v.y if {outer}.n > 0 else {outer}.v[0]"
            )

    def zero(self, depth):
        """Makes a number that is zero, mostly, in a way that a compiler may see through, and says what comes of it."""
        rng, n = self.zero_rng, len(self.lines)
        numbers, loops = self.variables["i32"], [v for v in self.variables["i32"] if v in self.fixed and v[0] in "jw"]
        a, b = rng.choice(numbers), rng.choice(self.variables["f32"] or ["s"])
        ways = [
            "0.0",
            "-0.0",
            f"f32({a} - {a})",
            f"f32({a} & 0)",
            f"{b} - {b}",
            f"{b} * 0.0",
            f"min(0.0, abs({b}))",
            f"vec3({b}, 0.0, 1.0).y",
        ]
        ways += [
            f"0.0 if {a} > 3 else 0.0",
            f"f32({a} > 3 and {a} < 2)",
            f"floor(f32({a} & 1) * 0.5)",
            f"f32({a} & 1)",
            "f32(0)",
            "1.0 - 1.0",
        ]
        ways += [f"f32({j})" for j in loops] * 4
        self.emit(depth, f"z_{n} = {rng.choice(ways)}")
        if rng.random() < 0.3:
            self.emit(depth, f"if {a} {rng.choice(['<', '>', '!='])} {rng.choice(['2', '-1', '0'])}:")
            self.emit(depth + 1, f"z_{n} = {rng.choice(ways)}")
        self.emit(depth, f"y_{n} = {b} if {b} != 0.0 else 0.5")
        use = rng.choice(USES.split("|")).replace("y", f"y_{n}").replace("z", f"z_{n}")
        slot = f"out_i[i * {SLOTS} + {rng.randrange(4)}]"
        self.emit(depth, f"{slot} = {slot} * 3 + kind({use})")

    def over(self, depth, head, names):
        """A loop over a tuple or an array, with these variables."""
        self.emit(depth, f"for {head}:")
        fixed, before = set(self.fixed), {kind: list(known) for kind, known in self.variables.items()}
        self.variables["i32"] += names
        self.fixed |= set(names)
        self.loops.append(4)
        self.block(depth + 1, 2)
        self.loops.pop()
        self.fixed, self.variables = fixed, before

    def unpack(self, depth):
        """Two values at once: what a helper gives, or divmod."""
        one, two = self.fresh("i"), self.fresh("i")
        value = f"divmod({self.i32(1)}, ({self.i32(1)} & 15 | 1))"
        if self.pairs and self.chance(0.7):
            value = f"{self.pick(*self.pairs)}({CONTEXT}, {self.i32(1)}, q={self.i32(1)})"
        self.emit(depth, f"{one}, {two} = {value}")
        self.variables["i32"] += [one, two]

    def store(self, depth):
        if self.result:
            return self.assign(depth)
        slot = f"i * {SLOTS} + {self.rng.randrange(4)}"
        kind = self.pick("i32", "u32", "vec3")
        if kind == "vec3":
            if self.chance(0.3):
                return self.emit(depth, f"out_v[{slot}].{self.pick('x', 'y', 'z')} = {self.value('f32')}")
            return self.emit(depth, f"out_v[{slot}] = {self.value('vec3')}")
        target = f"out_{kind[0]}[{slot}]"
        self.emit(depth, f"{target} {self.pick('=', '+=', '^=')} {self.value(kind)}")

    def block(self, depth, statements):
        """A suite of its own: what it defines is not used outside."""
        before = {kind: list(names) for kind, names in self.variables.items()}
        arrays = [list(names) for names in (self.arrays, self.grids, self.floats, self.inners, self.outers)]
        start = len(self.lines)
        for _ in range(statements):
            self.statement(depth)
        if len(self.lines) == start:
            self.emit(depth, "pass")
        self.variables = before
        self.arrays, self.grids, self.floats, self.inners, self.outers = arrays

    def branch(self, depth):
        self.emit(depth, f"if {self.boolean(2)}:")
        self.block(depth + 1, self.rng.randint(0, 3))
        while self.chance(0.3):
            self.emit(depth, f"elif {self.boolean(2)}:")
            self.block(depth + 1, self.rng.randint(1, 2))
        if self.chance(0.5):
            self.emit(depth, "else:")
            self.block(depth + 1, self.rng.randint(1, 2))

    def loop(self, depth):
        if len(self.loops) > 2:
            return self.assign(depth)
        if self.chance(0.6):
            name, count = self.for_header(depth)
        else:
            name, count = self.while_header(depth)
        fixed, before = set(self.fixed), {kind: list(names) for kind, names in self.variables.items()}
        self.variables["i32"].append(name)
        self.fixed |= {name} if self.chance(0.7) or name[0] == "w" else set()
        self.loops.append(count)
        self.block(depth + 1, self.rng.randint(1, 4))
        self.loops.pop()
        self.fixed, self.variables = fixed, before
        if self.chance(0.2):
            self.emit(depth, "else:")
            self.block(depth + 1, self.rng.randint(1, 2))

    def for_header(self, depth):
        name, count = self.fresh("j"), self.rng.randint(1, 3 if self.loops else 6)
        ranges = [
            f"{count}",
            f"({self.i32(1)} & 7)",
            f"-2, {count}",
            f"{count}, 0, -1",
            f"{count}, -{count}, -2",
            f"({self.i32(1)} & 3), ({self.i32(1)} & 7), {self.pick(1, 2, 3)}",
            f"({self.i32(1)} & 7), -1, -({self.i32(1)} & 1 | 2)",
            "0",
        ]
        self.emit(depth, f"for {name} in range({self.rng.choice(ranges)}):")
        return name, 7

    def while_header(self, depth):
        name, count = self.fresh("w"), self.rng.randint(1, 3 if self.loops else 6)
        start = self.pick(0, 0, -2, 1 - count)
        end = count + start
        self.emit(depth, f"{name} = {start}")
        extra = f"{self.boolean(1)}" if self.chance(0.3) else ""
        if self.chance(0.4):
            self.emit(depth, "while True:")
            self.emit(depth + 1, f"{name} += 1")
            for _ in range(self.rng.randint(0, 2)):
                self.assign(depth + 1)
            self.emit(depth + 1, f"if {name} >= {end}{extra and ' or ' + extra}:")
            self.emit(depth + 2, "break")
        else:
            test = self.pick(f"{name} < {end}", f"{name} <= {end - 1}", f"-9 < {name} < {end}")
            self.emit(depth, f"while {test}{extra and ' and ' + extra}:")
            self.emit(depth + 1, f"{name} += 1")
        return name, count

    def leave(self, depth):
        words = ["return"] if not self.loops else ["break", "break", "continue", "continue", "return"]
        word = self.rng.choice(words)
        if word == "return" and self.chance(0.7):
            return self.assign(depth)
        self.emit(depth, f"if {self.boolean(1)}:")
        if self.chance(0.3):
            before = {kind: list(names) for kind, names in self.variables.items()}
            self.store(depth + 1)
            self.variables = before  # what it defined is gone with the branch
        self.emit(depth + 1, f"return {self.given()}" if word == "return" and self.result else word)

    def given(self, d=1):
        """What a helper gives."""
        return self.i32(d) if self.result == "i32" else f"{self.i32(d)}, {self.i32(d)}"

    def statement(self, depth):
        if self.budget <= 0:
            return
        self.budget -= 1
        actions = [self.assign] * 6 + [self.store] * 3 + [self.define] * 3 + [self.leave] * 2 + [self.list] * 2
        actions += [self.unpack]
        if depth < 5:
            actions += [self.branch] * 4 + [self.loop] * 4
        self.rng.choice(actions)(depth)
        if not self.result and self.struct_rng.random() < 0.25:
            self.struct(depth)
        if not self.result and self.zero_rng.random() < 0.15:
            self.zero(depth)

    def finish(self):
        """Every variable to a slot of the outputs; then the inexact functions."""
        for kind, out in (("i32", "out_i"), ("u32", "out_u"), ("f32", "out_f"), ("vec3", "out_v")):
            for slot, name in enumerate([v for v in self.variables[kind] if v not in self.fixed][:4], 4):
                self.emit(1, f"{out}[i * {SLOTS} + {slot}] = {name}")
        for kind in self.more:
            for slot, name in enumerate(self.variables[kind][:4], 4):
                self.emit(1, f"out_u[i * {SLOTS} + {slot}] = 31 * out_u[i * {SLOTS} + {slot}] + u32({name})")
        for slot, name in enumerate(self.variables["bool"][:4]):
            self.emit(1, f"out_f[i * {SLOTS} + {slot}] = 1.0 if {name} else -1.0")
        for slot, name in enumerate(self.variables["vec2"][:4]):
            self.emit(1, f"out_v[i * {SLOTS} + {slot}].xy = {name}")
        e, f = self.f32(2)[0], self.f32(2)[0]
        self.emit(1, f"out_r[i * {SLOTS}] = sqrt(abs({e})) / (abs({f}) + 1.5)")
        self.emit(1, f"out_r[i * {SLOTS} + 1] = exp({e} / 512.0) * cos({f} / 512)")

    def helper(self, name, pair):
        """A function of two integers, and of all that expressions use, which gives one or two."""
        start, fixed, before = self.variables, self.fixed, self.budget
        self.variables = {kind: [] for kind in start} | {"i32": ["i", "n", "p", "q"], "u32": ["m"]}
        self.fixed, self.budget, self.result = {"i", "n", "m"}, self.rng.randint(1, 4), "i32, i32" if pair else "i32"
        self.emit(0, f"def {name}({CONTEXT}, p: i32, q{self.pick('', ': i32')}):")
        while self.budget > 0:
            self.statement(1)
        self.emit(1, f"return {self.given(2)}")
        self.emit(0, "")
        self.variables, self.fixed, self.budget, self.result = start, fixed, before, ""
        self.arrays, self.grids, self.floats = [], [], []
        (self.pairs if pair else self.helpers).append(name)

    def kernel(self):
        self.lines += [*TABLES.splitlines(), *STRUCTS.splitlines(), *KIND.splitlines()]
        for k in range(self.rng.choice((0, 0, 1, 2))):
            self.helper(f"helper_{k}", self.chance(0.3))
        self.emit(0, f"def k({SIGNATURE}):")
        for kind in ("i32", "i32", "f32", "u32", "bool", "vec3"):
            self.define(1, kind)
        while self.budget > 0:
            self.statement(1)
        self.finish()
        return "\n".join(self.lines) + "\n"


def generate(seed, size=14, every_type=False):
    """The text of the kernel number `seed`, of about `size` statements; with integers of 8, 16 and 64 bits, if asked."""
    return Generator(seed, size, every_type).kernel()
