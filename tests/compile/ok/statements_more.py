WEIGHTS = (0.25, 0.5, 0.25)
OFFSETS = ((-1, 0), (1, 0), (0, -1), (0, 1))
SHIFT = 3
HEX, NAMES = 0xFF_FF, "text"


def _weighted(values, i, weights):
    total = 0.0
    for k in range(len(weights)):
        total += values[i + k] * weights[k]
    return total


def _swap(a, b):
    return b, a


def nested_unpacking(i: Index, n: Array[i32], v: Array[vec2]):
    (a, b), c = (n[i], 2), 3
    [d, (e, f)] = a, _swap(b, c)
    (g, h), (k, m) = _swap(a, f), _swap(d, e)
    (n[0], n[1]), n[2] = _swap(g, h), k + m
    p, (q, r) = 1.5, v[i]
    v[i] = vec2(q * p, r)
    a, b = c, d = 7, n[3]
    n[4], n[5] = a + c, b + d
    (s, t), u = (n[6], n[7]), n[0]
    n[6], n[7] = t + u, s


def swaps(i: Index, n: Array[i32]):
    a, b, c = n[0], n[1], n[2]
    a, b, c = c, a, b
    n[0], n[1], n[2] = a, b, c
    n[3], n[4] = n[4], n[3]
    a = b = c
    n[5] = a + b


def constant_tuples(i: Index, x: Array[f32], n: Array[i32]):
    a, b, c = WEIGHTS
    x[0] = a + b + c + WEIGHTS[-1] + WEIGHTS[i] + len(WEIGHTS)
    x[1] = _weighted(x, 2, WEIGHTS)
    n[0] = OFFSETS[2][1] + OFFSETS[i][0] + OFFSETS[i][i] + OFFSETS[1][i]
    row, column = OFFSETS[n[1] % 4]
    n[2] = row * 10 + column


def loops_over_tuples(i: Index, x: Array[f32], n: Array[i32]):
    for w in WEIGHTS:
        if w > 0.4:
            continue
        x[i] += w
    else:
        x[1] = 1
    for dx, dy in OFFSETS:
        n[1 + dx + 2 * (1 + dy)] += dx - 2 * dy
        if n[0] > 100:
            break
    for k in OFFSETS[1]:
        n[7] += k


def asserts(i: Index, n: Array[i32]):
    assert n[i] > 0
    assert 0 < n[i] < 2**31 - 1, "out of range"
    n[i] += 1


def globals_named(i: Index, n: Array[i32]):
    """A docstring,
    of two lines."""
    global SHIFT, WEIGHTS
    n[i] = n[i] << SHIFT
    n[1] = 0b1_01 + 0o17 + 0xDEAD_BEE + 1_000


def ranges(i: Index, n: Array[i32], start: i32, step: i32):
    total = 0
    for k in range(10, -10, -3):
        total += k
    for k in range(start, -start, -step):
        total = total * 3 + k
    for k in range(3, 2):
        total += 1000
    for k in range(-start, start, step):
        if k == 1:
            continue
        total -= k
    else:
        total += 1
    while total > 100:
        total //= 2
        if total % 7 == 5:
            break
    else:
        total = -total
    n[i] = total
    pass


def annotated(i: Index, n: Array[i32], x: Array[f32]):
    a: f32 = 0
    b: i32
    b = 2
    a += 1
    a *= a + 0.5 if x[i] > 1 else 2.0
    x[i] = a
    b <<= 3
    b ^= 5
    b |= 0x10
    b &= ~1
    b //= 3
    b %= 7
    b **= 2
    n[i] = b if 0 < b <= n[i] != 3 else -b
