# The standard library, on scalars and on vectors, under each of its names.


def one_argument(i: Index, a: Array[f32]):
    t = a[i]
    a[i] = abs(t) + sign(t) + floor(t) + ceil(t) + trunc(t) + round(t) + round_even(t) + fract(t)
    a[i] = radians(t) + degrees(t) + sin(t) + cos(t) + tan(t) + asin(t) + acos(t) + atan(t)
    a[i] = sinh(t) + cosh(t) + tanh(t) + asinh(t) + acosh(t) + atanh(t)
    a[i] = exp(t) + log(t) + exp2(t) + log2(t) + sqrt(t) + isqrt(t)


def on_vectors(i: Index, v: Array[vec3]):
    t = v[i]
    v[i] = abs(t) + sign(t) + floor(t) + ceil(t) + trunc(t) + round(t) + round_even(t) + fract(t)
    v[i] = radians(t) + degrees(t) + sin(t) + cos(t) + tan(t) + asin(t) + acos(t) + atan(t)
    v[i] = sinh(t) + cosh(t) + tanh(t) + asinh(t) + acosh(t) + atanh(t)
    v[i] = exp(t) + log(t) + exp2(t) + log2(t) + sqrt(t) + isqrt(t)
    v[i] = min(t, v[0]) + max(t, v[0]) + clamp(t, v[0], v[1]) + pow(t, v[0]) + atan2(t, v[0])
    v[i] = mix(t, v[0], v[1]) + step(t, v[0]) + smooth_step(t, v[0], v[1])


def several_arguments(i: Index, s: f32, a: Array[f32]):
    t = a[i]
    a[i] = atan2(t, s) + pow(t, s) + min(t, s) + max(t, s) + clamp(t, 0.0, s) + mix(t, s, 0.5) + step(t, s)
    a[i] = smooth_step(0.0, 1.0, t) + nmin(t, s) + nmax(t, s) + nclamp(t, 0.0, 1.0) + fma(t, s, 1.0)


def geometry(i: Index, a: Array[f32], v: Array[vec3], w: Array[vec2]):
    t, p = v[i], v[0]
    a[i] = length(t) + distance(t, p) + length(w[i]) + dot(t, p) + t @ p
    v[i] = cross(t, p) + normalize(t) + face_forward(t, p, p) + reflect(t, p)
    w[i] = normalize(w[i])


def of_integers(i: Index, n: i32, m: u32, b: Array[i32], u: Array[u32]):
    b[i] = abs(b[i]) + sign(b[i]) + min(b[i], n) + max(n, 3) + clamp(n, 0, b[i])
    u[i] = min(u[i], m) + max(m, 3) + clamp(m, 0, u[i])


def through_modules(i: Index, a: Array[f32]):
    a[i] = math.exp(a[i]) + stdlib.exp(a[i]) + ps.stdlib.exp(a[i]) + math.sqrt(2.0)
    a[i] = math.pi * a[i]


def float_tests(i: Index, a: Array[f32], b: Array[i32]):
    b[i] = 1 if isnan(a[i]) else 0
    b[i] += 2 if isinf(a[i]) else 0
    b[i] += 4 if a[i] != a[i] else 0
