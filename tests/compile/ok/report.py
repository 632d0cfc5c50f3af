# What kernels tell the host: asserts, prints, and, with --checked, faults.


def asserts(i: Index, b: Array[i32], n: u32):
    assert n
    assert b[i] < 100 and b[i + 1] != 3, "too large: 100%"
    assert (i >= 0), ("a text " 'of two')
    while b[i] > 3:
        assert b[0] == 1, r"raw \d" """ and
long"""
        b[i] -= 1
    else:
        assert True


def prints(i: Index, a: Array[f32], v: Array[ivec3], n: u32, flag: bool):
    print()
    print("text alone, 100%")
    print(i, a[i], v[i], n, flag, a[i] > 1.0, 3, 0.5, True)
    print("x =", a[i], sep="", end="; ")
    print(v[i].zy, sep=None, end=None)
    print("a\tb\n\x41\u00e9\U0001F600\101\q" "c", 'd', end="")
    if a[i] > 1.0 or a[i] < -1.0:
        print("branch", vec2(a[i]))
        return
    for k in range(3):
        print(k)


def prints_without_buffers(i: Index):
    print(i)


def prints_wide(i: Index, d: Array[f64], h: Array[f16], l: Array[i64], m: Array[u64], c: Array[i8], s: Array[u16]):
    print(d[i], h[i], l[i], m[i], c[i], s[i], f64vec2(d[i], 1.0))


def _half(x: i32, d: i32):
    return x // d


def _pair(b: Array[i32], j: i32):
    assert j != 5, "five"
    return b[j], _half(b[j], b[j + 1])


def _show(x: i32):
    print("shown", x)


def helpers(i: Index, b: Array[i32]):
    p, q = _pair(b, i)
    if _half(p, q) > 3 or b[p] % b[q] > 2:
        _show(_half(q, 2))
    b[i] = p - q


def faults(i: Index, j: u32, f: Array[f32], v: Array[vec3], w: Array[vec4], n: ivec2, b: Array[ivec2]):
    x = w[i]
    x[j] = f[j] + v[i][j]
    x.zx = v[j].xy
    v[i][j] += 1.0
    w[j] = x
    f[-1] = x[i % 4]
    b[i] //= n
    b[i] = b[j] % n if f[i] > 0.0 else b[j]


def wide_index(b: Array[i32], i: Index, j: Array[i64], k: Array[u64]):
    b[j[i]] = b[k[i]] // b[0]
