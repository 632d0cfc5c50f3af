# Local arrays: literals, repetition, comprehensions, copies, loops over them; arrays in buffers.


def histogram(i: Index, x: Array[i32], out: Array[i32]):
    count = [0] * 16
    for k in range(len(x)):
        count[x[k] % 16] += 1
    if i < 16:
        out[i] = count[i]


def lists(i: Index, out: Array[f32]):
    a = [1, 2.5, 3]
    b: Array(4, f32) = [0] * 4
    s = 0.0
    for x in a:
        s += x
    for j in (1, 2, 3):
        b[j] = s
    for y in out:
        s += y
    c = a.copy()
    c[-1] = 7
    m = [[1, 2], [3, 4]]
    m[1][0] += 5
    v = [vec3(1, 2, 3), vec3(0)]
    v[1].xy = vec2(3, 4)
    v[i].z += 2
    flags = [True, False] * 2
    for component in v[0]:
        s += component
    out[i] = s + b[i] + c[i] + a[-1] + f32(m[i][i - 1]) + v[1].y + [1.0, 2.0][i] + f32(flags[i])


def product(i: Index, x: Array[f32], out: Array[f32]):
    m = [[x[r * 19 + c] for c in range(19)] for r in range(19)]
    z = [[0.0] * 19 for _ in range(19)]
    for r in range(19):
        for c in range(19):
            s = 0.0
            for k in range(19):
                s += m[r][k] * m[k][c]
            z[r][c] = s
    w = [2 * k for k in range(10, 0, -3)]
    q = [f32(k) for k in w]
    out[i] = z[i // 19][i % 19] + q[-1]


def zeros(i: Index, x: Array[f32], out: Array[f32]):
    a = Array(19, Array(19, f32))()
    if i > 3:
        b = [x[i]] * 100
        c = [x[i], 1.0] * 2
    for row in range(19):
        for y in a[row]:
            b[row] += y
    out[i] = b[i] + c[0]


def buffers(i: Index, p: Array[vec3], q: Array[Array(3, i32)], out: Array[vec3]):
    out[i] = p[i] + f32(q[i][1])
    out[i].y += p[-1].z
    q[i][2] = len(p)
    r = q[i].copy()
    r[0] += 1
    q[i] = r.copy()
    for y in q[i]:
        out[0].x += f32(y)
    q[0] = [1, 2, 3]


def pyshader(
    index: ("input", "GlobalInvocationId", ivec3),
    data: ("buffer", 0, Array(8, vec3)),
    out: ("buffer", 1, Array(f32)),
):
    weights = [1.0, 0.5, 0.25]
    out[index.x] = weights[0] * data[index.x].x + weights[1] * data[index.x].y


TABLE = (1, 0xFFFFFFFF)


def wide(i: Index, out: Array[u32]):
    rows = [[1, 2], [0x80000000, 4]]
    out[i] = TABLE[i] + rows[i][0] + (5, 0xF0000000)[i] + [3000000000, 1][i]
