def _square(x):
    return x * x


def _sum_of_squares(x, y):
    return _square(x) + _square(y)


def _between(x, low=0, high=1):
    return low < x <= high


def _first(values, wanted, count: i32) -> i32:
    for k in range(count):
        if values[k] == wanted:
            return k
    return -1


def _spin(a):
    while True:
        a += 1
        if a > 10:
            return a


def _either(n, a, b):
    if n <= 0:
        return a
    else:
        return b


def _divide(a: i32, b: i32) -> tuple[i32, i32]:
    return a // b, a % b


def _both(a, b):
    return _divide(b=b, a=a)


def _put(buffer, i, value):
    if i >= len(buffer):
        return
    buffer[i] = value


def _turned(v: vec2, angle: f32 = 0) -> vec2:
    v.x += angle
    return v.yx


def _noted(x: "SomeClass", y: object, z: list[int] = 3) -> "Other":
    return x + y + z


def scalars(i: Index, x: Array[f32], n: Array[i32]):
    x[i] = _sum_of_squares(x[i], 2) + _square(0.5)
    n[i] = _sum_of_squares(n[i], 2) + _square(3)


def keywords(i: Index, x: Array[f32], n: Array[i32]):
    if _between(x[i]) or _between(high=8, x=n[i], low=-3):
        n[i] = 0


def early(i: Index, x: Array[f32], n: Array[i32]):
    n[0] = _first(x, 0.5, len(x))
    n[1] = _first(n, 7, count=4)
    n[2] = _spin(n[2])
    x[0] = _either(i, 0, x[1])
    x[1] = _either(i, x[1], 1)


def several(i: Index, n: Array[i32]):
    a, b = _divide(n[i], 3)
    n[i], n[0] = _both(a, b)
    _both(1, 2)


def buffers(i: Index, x: Array[f32], n: Array[i32], v: Array[vec3]):
    _put(x, i, 1)
    _put(n, i, 1)
    _put(v, i, vec3(1))
    _put(n, value=len(x), i=3)


def vectors(i: Index, v: Array[vec2]):
    v[i] = _turned(v[i]) + _turned(angle=0.5, v=v[i])


def hints(i: Index, n: Array[i32], x: Array[f32]):
    n[i] = _noted(n[i], 2)
    x[i] = _noted(x[i], x[0])


def effects(i: Index, n: Array[i32]):
    while _first(n, 0, 3) >= 0 and _between(n[i]):
        _put(n, i, n[i] - 1)
    n[0] = _square(_square(2)) if _between(n[1]) else _spin(1)


def kernels_call_kernels(i: Index, n: Array[i32]):
    several(i, n)


def _fill(a, x):
    for k in range(len(a)):
        a[k] = x


def _fill_row(rows, k, x: f32):
    _fill(rows[k], x)
    _fill(rows[-1], rows[k][0])


def _sum(a: Array[f32]):
    s = 0.0
    for x in a:
        s += x
    return s


def references(i: Index, x: Array[f32], rows: Array[Array(4, f32)]):
    a = [1.0, 2.0, 3.0]
    m = [[1.0, 2.0], [3.0, 4.0]]
    _fill(a, x[i])
    _fill_row(m, i, 3.0)
    _fill_row(rows, 3, a[1])
    _fill(rows[i], 1.0)
    x[i] = _sum(a) + _sum(m[i]) + _sum([1, 2]) + _sum(rows[i]) + _sum(x) + _sum(a.copy())
