# Default values of a kernel's numbers, and parameters of helpers that are passed by place or by name alone.


def numbers(i: Index, x: Array[f32], gain: f32 = 2.5, shift: i32 = -3, on: bool = True, most: u32 = 4000000000):
    if on and most > 5:
        x[i] = gain * x[i] + f32(shift)


def untyped(i: Index, x: Array[f32], gain=0.5, shift=2, on=True, turn=math.pi):
    if on:
        x[i] = gain * x[i] + f32(shift) * turn


def _put(a, at, /, value, *, scale=2, more):
    a[at] = value * scale + more


def _only(*, x):
    return x


def _place(x, /):
    return x + 1


def places(i: Index, x: Array[i32]):
    _put(x, i, 5, more=1)
    _put(x, i, more=x[i], value=2, scale=_only(x=3))
    x[i] += _place(x[i])
