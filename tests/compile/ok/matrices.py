# Matrices: rows and elements, arithmetic, products, constructors; in buffers, variables, helpers and push constants.

TURN = ((0, -1), (1, 0))


def _scaled(m, by: f32):
    m[0, 0] += 1
    return m * by


def _both(m: mat3) -> tuple[mat3, vec3]:
    return transpose(m), m[0]


def elements(i: Index, a: Array[mat4], v: Array[vec4], o: Array[f32]):
    m = a[i]
    m[1, 2] = 3.0
    m[i][2] += 1.0
    m[0] = v[i]
    m[i].xy = vec2(1, 2)
    a[i][i] = m[-1]
    a[0][1, i] = m[i, i]
    for row in a[i]:
        o[i] += row @ row
    o[i] += f32(len(m)) + a[i].T[1].z


def arithmetic(i: Index, a: Array[mat3], b: Array[mat3x2], s: f32):
    m = 2 * a[i] + a[i] * a[0] - s
    m /= s
    m = -m if s > 0 else m - 1 / (a[i] + 100)
    a[i] = m
    b[i] += 1
    b[i] *= b[0]


def products(i: Index, a: Array[mat3], b: Array[mat3x2], v: Array[vec3], w: Array[vec2]):
    m = a[i] @ a[i].T
    m @= a[0]
    w[i] = b[i] @ v[i]
    v[i] = w[i] @ b[i] + m @ v[i] + v[i] @ m
    b[i] = b[i] @ m
    a[i] = transpose(b[i]) @ b[i]


def inverses(i: Index, a: Array[mat2], b: Array[mat3], c: Array[mat4], o: Array[f32]):
    a[i] = matrix_inverse(a[i] + 9 * eye(2))
    b[i] = inverse(b[i] + 9 * eye(3))
    c[i] = matrix_inverse(c[i] + 9 * eye(4))
    o[i] = determinant(a[i]) + determinant(b[i]) * determinant(c[i])


def constructors(i: Index, x: Array[f32], o: Array[mat2], q: Array[mat3x2]):
    v = vec2(x[0], 2)
    o[i] = mat2(v, v.yx) + mat2([[1, 2], [x[1], 4]]) + mat2([1, x[2]], v) + mat2(1, 0.5, x[3], 0) + mat2(TURN)
    q[i] = mat3x2(1, 2, 3, 4, 5, 6) + mat3x2(vec3(1), (x[0], 1, 2))


def helpers(i: Index, a: Array[mat3], m: mat3, n: mat2, k: mat2x4):
    rows = [n, n * 2, mat2(TURN)]
    t, first = _both(_scaled(a[i], rows[i % 3][0, 1]))
    rows[1][i % 2] = first.xy
    a[i] = t @ m * determinant(rows[1]) + k[3, 1]
