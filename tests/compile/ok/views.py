# Buffers with axes: indices on several axes, shapes, views that helpers get.


def _row_sum(a: Array[f32, 2], r: i32):
    s = 0.0
    for c in range(a.shape[1]):
        s += a[r, c]
    return s


def blur(i: Index2, a: Array[f32, 2], out: Array[f32, 2]):
    rows, cols = a.shape
    s = 0.0
    for dy in range(-1, 2):
        for dx in range(-1, 2):
            y, x = i.y + dy, i.x + dx
            if 0 <= y < rows and 0 <= x < cols:
                s += a[y, x]
    out[i.y, i.x] = s + a[-1, -1] + _row_sum(a, 0) + f32(len(out))


def volume(i: Index3, k: f32, flag: bool, v: Array[vec3, 3], out: Array[i32, 3], flat: Array[f32]):
    out[i.z, i.y, i.x] = i32(k * v[i.z, i.y, i.x].y) if flag else flat.shape[0]
    v[0, 0, 0].x += 1.0


@kernel(local_size=(8, 8))
def tiled(i: Index2, local: LocalIndex2, a: Array[f32, 2]):
    tile = shared(f32, (8, 8))
    tile[local.y, local.x] = a[u32(i.y), i.x]
    barrier()
    a[i.y, i.x] = tile[local.x, local.y]
