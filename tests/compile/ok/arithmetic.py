# Every operator on every type that has it.


def integers(i: Index, n: i32, b: Array[i32]):
    t = b[i]
    b[i] = t + n
    b[i] = t - n
    b[i] = t * n
    b[i] = t // n
    b[i] = t % n
    b[i] = t**2
    b[i] = t**n
    b[i] = t & n
    b[i] = t | n
    b[i] = t ^ n
    b[i] = t << n
    b[i] = t >> n
    b[i] = -t
    b[i] = +t
    b[i] = ~t
    b[i] = - - ~ - +t


def unsigned(i: Index, m: u32, u: Array[u32]):
    t = u[i]
    u[i] = t + m
    u[i] = t - m
    u[i] = t * m
    u[i] = t // m
    u[i] = t % m
    u[i] = t**3
    u[i] = t**m
    u[i] = t & m
    u[i] = t | m
    u[i] = t ^ m
    u[i] = t << m
    u[i] = t >> m
    u[i] = t << 3
    u[i] = t >> i
    u[i] = -t
    u[i] = ~t


def floats(i: Index, s: f32, a: Array[f32]):
    t = a[i]
    a[i] = t + s
    a[i] = t - s
    a[i] = t * s
    a[i] = t / s
    a[i] = t // s
    a[i] = t % s
    a[i] = t**2
    a[i] = t**-2
    a[i] = t**0.5
    a[i] = t**s
    a[i] = -t
    a[i] = +t


def true_division(i: Index, n: i32, m: u32, a: Array[f32]):
    a[i] = n / 2
    a[i] = 1 / n
    a[i] = n / n
    a[i] = m / 3
    a[i] = 7 / 2


def augmented(i: Index, n: i32, m: u32, s: f32, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3]):
    a[i] += s
    a[i] -= s
    a[i] *= s
    a[i] /= s
    a[i] //= s
    a[i] %= s
    a[i] **= 2
    b[i] += n
    b[i] -= n
    b[i] *= n
    b[i] //= n
    b[i] %= n
    b[i] **= 2
    b[i] &= n
    b[i] |= n
    b[i] ^= n
    b[i] <<= n
    b[i] >>= n
    u[i] += m
    u[i] >>= 3
    v[i] += v[i]
    v[i] *= s
    v[i].x += s
    v[i].yz *= 2.0


def comparisons(i: Index, n: i32, m: u32, s: f32, b: Array[i32]):
    if n < 3 and n <= 3 and n == 3 or n != 3 or n >= 3 or n > 3:
        b[i] = 1
    if m < 3 and m <= 3 and m == 3 or m != 3 or m >= 3 or m > 3:
        b[i] = 2
    if s < 3 and s <= 3.0 and s == 3 or s != 3 or s >= 3 or s > 3:
        b[i] = 3
    if (n > 3) == (s > 1.0) or (n > 2) != (s < 2.0):
        b[i] = 4


def chained(i: Index, n: i32, s: f32, b: Array[i32]):
    if 0 < n < 10:
        b[i] = 1
    if 0.0 < s < 1:
        b[i] = 2
    if 1 < 233 < 10:
        b[i] = 3
    if 0 <= b[i] < n == 4 != i > 2:
        b[i] = 4
    t = 0 < s <= 1.0
    if t:
        b[i] = 5


def booleans(i: Index, n: i32, b: Array[i32]):
    p = n > 3
    q = not p
    r = p and q or not (p or q)
    p = p & q
    p = p | r
    p ^= q
    b[i] = 1 if p else 0
    b[i] += 1 if p == q else 2
    b[i] += i32(p)


def short_circuit(i: Index, n: i32, b: Array[i32], a: Array[f32]):
    if i > 0 and b[i - 1] != 0:
        a[i] = 1.0
    if i == 0 or b[i - 1] == 0:
        a[i] = 2.0
    t = i > 0 and (b[i - 1] > 2 or i > 5 and b[i - 5] > 2)
    a[i] = 3.0 if t and a[i] > 1.0 else a[0]


def conditional_expressions(i: Index, n: i32, s: f32, a: Array[f32], v: Array[vec2]):
    a[i] = s if n > 0 else 0.0
    a[i] = 1 if n > 0 else s
    a[i] = s if n > 0 else -s if n < -5 else 2.0
    v[i] = v[i] if n > 0 else vec2(s, 0)
    n = 3 if s > 0.0 else n


def casts(i: Index, n: i32, m: u32, s: f32, a: Array[f32], b: Array[i32], u: Array[u32]):
    a[i] = f32(n) + f32(m) + f32(s) + f32(3) + f32(2.5) + f32(s > 1.0)
    b[i] = i32(n) + i32(m) + i32(s) + i32(3) + i32(2.5) + i32(s > 1.0)
    u[i] = u32(n) + u32(m) + u32(s) + u32(3) + u32(2.5) + u32(s > 1.0)
    if bool(n) and bool(m) and bool(s) or bool(1):
        a[i] = float(n)
        b[i] = int(s)


def literals(i: Index, a: Array[f32], b: Array[i32], u: Array[u32]):
    b[i] = 0 + 1_000_000 + 0x7F_FF + 0b1010 + 0o17 + 00
    b[i] = -2147483648
    b[i] = 2147483647
    u[i] = 4294967295
    u[i] = 0xFFFF_FFFF
    a[i] = 0.5 + 0.5e3 + 0.5e-3 + 5E+2 + 1_0.0_1 + 0e0 + 5.0
    a[i] = .5
    a[i] = 5.
    a[i] = 3
    a[i] = -3
    a[i] = 16777216
    a[i] = 3.4028234e38


def literals_adapt(i: Index, n: i32, m: u32, s: f32, a: Array[f32], u: Array[u32]):
    x: f32 = 0
    x = 1
    x += 2
    x = s * 2 + 1
    x = 2 * s - 1
    y: u32 = 3
    y = m + 1
    y = 5 & m
    a[i] = x
    u[i] = y
    a[i] = max(s, 0)
    a[i] = clamp(s, 0, 1)


def constants_fold(i: Index, a: Array[f32], b: Array[i32]):
    b[i] = -7 // 2 + 7 // -2 + -7 % 3 + 7 % -3 + 2**10 + (1 << 20) + (-9 >> 1) + ~7 + (6 & 3 | 8 ^ 1)
    a[i] = 7 / 2 + 2**-1 + 2.0**0.5 - -1.5
    if 1 < 2 and not False or 1 == 2:
        b[i] = 1


def precedence(i: Index, n: i32, a: Array[f32], b: Array[i32]):
    b[i] = 2 + 3 * n - -n**2 // 3 % 4 << 1 & 7 | 8 ^ 2
    b[i] = -(n**2)
    a[i] = -2.0**2 * 2 ** 3 ** 2
    if not n == 3 and n < 2 or n > 5 and n | 2 == 2:
        b[i] = 3
