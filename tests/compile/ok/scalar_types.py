# The scalar types beyond f32, i32 and u32: kept, computed with, converted.


def bytes_and_bools(i: Index, a: Array[u8], b: Array[i8], flags: Array[bool], v: Array[bvec3], w: Array[u8vec3]):
    flags[i] = a[i] > 10 and not flags[i]
    v[i] = bvec3(flags[i], v[i].xy)
    v[i].z = True
    w[i] = w[0] + a[i] * 2
    w[i].zx = u8vec2(v[i].xy)
    b[i] = b[i] // 3 % b[0] ** 2 << 1 >> a[i]
    a[i] = u8(b[i]) if any(v[i]) else min(a[i], 7)


def words(i: Index, a: Array[i16], b: Array[u16], out: Array[i32]):
    out[i] = a[i] + b[i] * out[i]
    a[i] += 1
    b[i] //= 7
    out[i] = max(a[i], out[i]) if a[i] < out[i] else b[i]


def wide(i: Index, a: Array[i64], b: Array[u64], x: Array[f64], n: i64):
    b[i] = (b[i] ^ 0xCBF29CE484222325) * 0x100000001B3
    a[i] = -9223372036854775808 // n % a[a[0]] ** 3
    x[i] = a[i] / n + 3 * x[i] // 0.1 % 7 ** 2 + x[i] ** -3
    for k in range(n, 0, -3):
        a[i] += k
    b[i] = b[i] >> n << 63


def halves(i: Index, s: f16, a: Array[f16], v: Array[hvec4], out: Array[f32]):
    a[i] = exp(a[i]) * s + sin(a[i]) // 0.5 - a[i] ** s
    v[i] = v[i] * s + hvec4(s, 1, v[0].xy) % 3
    out[i] = a[i] + out[i] * a[0]
    out[i] += length(v[i]) if isnan(a[i]) else dot(v[i], v[0])


def doubles(i: Index, s: f64, a: Array[f64], v: Array[dvec3], out: Array[f32]):
    a[i] = sqrt(a[i]) + floor(s) + fma(a[i], s, 2) + abs(a[i]) + radians(s) + clamp(s, 0, 1) + mix(s, 2, 0.5)
    v[i] = normalize(v[i]) * s + cross(v[0], v[1]) + f64(out[i])
    out[i] = f32(length(v[i])) + f32(a[i])
    a[i] = f64(exp(f32(a[i]))) + a[i] ** i + a[i] ** 2.0
    q, r = divmod(a[i], s)
    a[i] = q if isinf(r) else r


def pushed(i: Index, a: i8, b: bool, c: u16, d: f16, e: f64, v: u8vec3, w: bvec2, out: Array[f64]):
    out[i] = e + d * 1 + c + a if b and w.x else v.z


def spelled(i: Index, a: Array[np.float16], b: Array[uint8], c: Array["double"], d: Array[np.bool_], v: Array[f64vec2]):
    x: float16 = a[i] + b[i]
    c[i] = np.float64(x) + v[i].x
    d[i] = bool(x)
