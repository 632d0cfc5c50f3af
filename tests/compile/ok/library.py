# Python's math module, as far as no instruction does it.
def of_floats(i: Index, a: Array[f32], v: Array[vec3], h: Array[hvec2], d: Array[f64], b: Array[i32]):
    a[i] = cbrt(a[i]) + expm1(a[i]) + log1p(a[i]) + erf(a[i]) + erfc(a[i]) + gamma(a[i]) + lgamma(a[i])
    v[i] = math.hypot(v[i], 1.0) + math.fmod(v[i], v[0]) + math.remainder(v[i], 2) + math.copysign(v[i], -1)
    h[i] = nextafter(h[i], h[0]) + ulp(h[i]) + erf(h[i]) + hypot(h[i])
    d[i] = nextafter(d[i], 0.0) + ulp(d[i]) + hypot(d[i], d[0], a[i], 1, 2) + dist(dvec2(d[i]), dvec2(d[0], 1))
    m, e = frexp(d[i])
    d[i] = ldexp(m, e + 1)
    w, k = math.frexp(v[i])
    v[i] = ldexp(w, k) + ldexp(a[i], k) + ldexp(w, 2)
    while dist(v[i], v[0]) > 1.0 or not isclose(a[i], a[0], rel_tol=1e-5, abs_tol=a[1]):
        a[i] += prod(v[i])
    b[i] = 1 if any(isclose(v[i], 0.0, abs_tol=0.1)) else 0


def of_integers(i: Index, b: Array[i32], u: Array[u8], w: Array[i64], v: Array[ivec3]):
    b[i] = gcd(b[i], 12) + lcm(b[i], 4, b[0]) + gcd(b[i]) + factorial(b[i]) + comb(b[i], 3) + perm(b[i]) + perm(b[i], 2)
    u[i] = gcd(u[i], u[0]) + comb(u[i], 2)
    w[i] = lcm(w[i], b[i]) + prod(v[i])
    v[i] = gcd(v[i], 6) + factorial(v[i])


def literals(i: Index, a: Array[f32], b: Array[i32]):
    a[i] = hypot(3, 4) + erf(0.5) + copysign(1, -0.0) + nextafter(1, 2)
    b[i] = math.lcm(4, 6) + comb(10, 3)
