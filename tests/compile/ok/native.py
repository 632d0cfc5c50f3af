"""The native forms: annotations, strings, decorators, docstrings, type comments and what else surrounds a kernel."""

from __future__ import annotations

import kp
from kp.lang import Array, Index, f32, vec3

SCALE = 3  # not a kernel; a module may hold anything


class Settings:
    """Neither is this."""

    def method(self):
        return lambda x: {**x}


@kp.kernel
def multiply(i: Index, a: Array[f32], b: Array[f32], out: Array[f32]):
    out[i] = a[i] * b[i]


@kp.kernel(debug=True)
def docstring(i: Index, a: Array[f32]) -> None:
    """Sets everything to one.

    With an indented example:
        a[i] = 1.0
    """
    a[i] = 1.0


def strings(i: "Index", n: "i32", v: "vec3", a: 'Array[f32]', w: "Array[vec3]"):
    a[i] = v.x
    w[i] = v


def qualified(i: kp.lang.Index, n: kp.lang.i32, a: kp.lang.Array[kp.lang.f32]):
    a[i] = kp.lang.sqrt(a[i])


def spelled_as_in_python(i: Index, n: int, s: float, flag: bool, a: Array[float], b: Array[int]):
    a[i] = s
    b[i] = n


def trailing_commas(
    i: Index,
    # a comment
    a: Array[f32],

    s: f32,  # another
):
    a[i] = max(
        s,
        0.0,
    )


def mixed(i: Index, a: Array[f32], s: f32, b=("buffer", 5, Array(f32))):
    b[i] = a[i]


def annotated_locals(i: Index, a: Array[f32]):
    t: f32
    t = 1
    c: vec3 = vec3(t, 2, 3)
    n: int = 4
    ok: bool = True
    a[i] = c.x if ok else f32(n)


def line_continuations(i: Index, a: Array[f32]):
    t = 1.0 + \
        2.0
    t = (t
         + 3.0
# a comment at the left edge
         + 4.0)

    # a comment of its own
  # and one that is indented oddly
    a[i] = t; a[i] += 1.0;


def two_spaces(i: Index, a: Array[f32]):
  if a[i] > 0.0:
        a[i] = 1.0
  else:
     a[i] = 2.0


def tabs(i: Index, a: Array[f32]):
	if a[i] > 0.0:
		a[i] = 1.0
	a[i] += 1.0


def text_in_other_scripts(i: Index, a: Array[f32]):
    """Verdoppelt die Größe: 大きさを二倍にする。"""
    a[i] = a[i] * 2.0  # ×2


def language_names_as_variables(i: Index, a: Array[f32], step: f32):
    sign = step
    length = sign * 2.0
    min = length
    a[i] = min


def constants_in_names(i: Index, a: Array[f32]):
    True_ = 1.0
    for_ = True_
    in1 = for_
    a[i] = in1
