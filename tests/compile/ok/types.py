# Scalars, vectors, buffers of them, and what is done with their parts.


def vector_constructors(i: Index, n: i32, s: f32, v2: Array[vec2], v3: Array[vec3], v4: Array[vec4]):
    v2[i] = vec2(s, s)
    v2[i] = vec2(s)
    v2[i] = vec2(1, 2.0)
    v3[i] = vec3(v2[i], s)
    v3[i] = vec3(s, v2[i])
    v4[i] = vec4(v2[i], v2[i].yx)
    v4[i] = vec4(v3[i], 1)
    v4[i] = vec4(s, v2[i], s)
    v4[i] = vec4(0)
    v2[i] = vec2(ivec2(n, 3))


def vector_arithmetic(i: Index, s: f32, v: Array[vec3]):
    t = v[i]
    v[i] = t + v[0]
    v[i] = t - v[0]
    v[i] = t * v[0]
    v[i] = t / v[0]
    v[i] = t // v[0]
    v[i] = t % v[0]
    v[i] = t * s
    v[i] = s * t
    v[i] = t + 1
    v[i] = 1.5 - t
    v[i] = t / s
    v[i] = s / t
    v[i] = -t
    v[i] = +t
    v[i] = t**2
    v[i] = (t @ t) * t


def integer_vectors(i: Index, n: i32, w: Array[ivec2], w3: Array[ivec3], w4: Array[ivec4]):
    w[i] = w[0] + w[1] * n - ivec2(1, n) // 3 % 2
    w[i] = w[0] & w[1] | w[2] ^ 3
    w[i] = w[0] << 2
    w[i] = w[0] >> n
    w[i] = -w[0]
    w[i] = ~w[0]
    w3[i] = ivec3(w[i], n)
    w4[i] = ivec4(w3[i], 1)
    w4[i].xw += w[i]


def bool_vectors(i: Index, s: f32, b: Array[i32]):
    t = bvec2(s > 0.0, True)
    p = bvec3(t, False)
    q = bvec4(p, s < 1.0)
    b[i] = 1 if t.x and q.w or p.z else 0


def swizzles(i: Index, v2: Array[vec2], v3: Array[vec3], v4: Array[vec4]):
    v4[i] = v4[0].xyzw
    v4[i] = v4[0].wzyx
    v4[i] = v4[0].rgba
    v3[i] = v4[0].bgr
    v2[i] = v4[0].xx
    v4[i] = v2[0].xyxy
    t = v4[i].xyz.zy.x
    v2[i].x = t
    v2[i].yx = v2[i]
    v4[i].a = v4[i].r
    p = v4[i]
    p.xy = p.zw
    p.zx = v2[0]
    p.w += 1
    p.xyz *= 2.0
    v4[i] = p


def components(i: Index, n: i32, v: Array[vec4], a: Array[f32]):
    a[i] = v[i][0] + v[i][3] + v[i][-1] + v[i][n & 3]
    t = v[i]
    t[0] = 1.0
    t[n & 3] = 2.0
    t[-1] += 3.0
    v[i] = t
    v[i][1] = a[i]
    v[i][n & 3] = a[i]


def values_not_references(i: Index, v: Array[vec3]):
    t = v[i]
    p = t
    p.x = 1.0
    v[i] = t + p


def swaps(i: Index, n: i32, a: Array[f32], v: Array[vec2]):
    x, y = a[0], a[1]
    x, y = y, x
    a[0], a[1] = a[1], a[0]
    p, q = v[0], v[1]
    p, q = q, p
    p.x, p.y = p.y, p.x
    v[0], a[2], n = p + q, x + y, 3
    (x, y) = (1.0, 2.0)
    [x, y] = [y, x]
    x = y = 3.0
    a[0] = a[1] = x


def negative_constant_indices(i: Index, a: Array[f32], v: Array[vec3]):
    a[-1] = a[-2]
    v[-1].x = v[-1][-1]


def index_types(i: Index, m: u32, n: i32, a: Array[f32]):
    a[i] = a[m] + a[n] + a[0] + a[i + n * 2 & 7] + a[i32(a[0])]


def push_constants(i: Index, n: i32, v: vec3, m: u32, s: f32, w: ivec2, q: vec4, p: vec2, a: Array[f32]):
    a[i] = v.x * s + f32(n) + f32(m) + f32(w.y) + q.w + p.x


def push_constant_bool(i: Index, flag: bool, a: Array[f32]):
    if flag:
        a[i] = 1.0


def parameters_are_variables(i: Index, n: i32, s: f32, v: vec3, a: Array[f32]):
    n += 1
    s = s * 2.0
    v.x = 1.0
    v = v + 1.0
    if n > 3:
        s = 0
    i = i * 2
    a[i] = s + v.x + f32(n)


def unused(i: Index, a: Array[f32], b: Array[i32], n: i32):
    t = 3


def no_index(a: Array[f32]):
    a[0] = 1.0


def no_parameters():
    pass


def index_2d(i: Index2, width: i32, a: Array[f32]):
    a[i.y * width + i.x] = 1.0


def index_3d(i: Index3, w: i32, h: i32, a: Array[f32]):
    a[(i.z * h + i.y) * w + i.x] = f32(i.x)


def same_type_often(i: Index, a: Array[f32], b: Array[f32], c: Array[f32], v: Array[vec3], w: Array[vec3]):
    v[i] = vec3(a[i], b[i], c[i])
    w[i] = v[i]
