"""A product of matrices by tiles: a workgroup brings a tile of each into shared memory, where every number is used 16 times.

The sizes are specialization constants, so that the driver knows them when it compiles the loops. You should see

    [[22. 28.]
     [49. 64.]]
    the same as NumPy: True
"""

import kp
import numpy as np
from kp.lang import Array, Const, Index2, LocalIndex2, barrier, f32, i32, shared

TILE = 16


@kp.kernel(local_size=(TILE, TILE))
def matmul(
    at: Index2,
    t: LocalIndex2,
    rows: Const[i32],
    inner: Const[i32],
    columns: Const[i32],
    a: Array[f32],
    b: Array[f32],
    c: Array[f32],
):
    tile_a = shared(f32, (TILE, TILE + 1))  # one more, so that a column lies in different banks
    tile_b = shared(f32, (TILE, TILE + 1))
    total = 0.0
    for start in range(0, inner, TILE):
        # Invocations beyond the edge bring zeros: they must not stay away, for the barrier waits for them.
        tile_a[t.y, t.x] = a[inner * at.y + start + t.x] if at.y < rows and start + t.x < inner else 0.0
        tile_b[t.y, t.x] = b[columns * (start + t.y) + at.x] if start + t.y < inner and at.x < columns else 0.0
        barrier()
        for k in range(TILE):
            total += tile_a[t.y, k] * tile_b[k, t.x]
        barrier()
    if at.y < rows and at.x < columns:
        c[columns * at.y + at.x] = total


def product(a, b):
    (rows, inner), columns = a.shape, b.shape[1]
    c = np.zeros((rows, columns), dtype=np.float32)
    matmul(rows, inner, columns, a, b, c, extent=(columns, rows))  # rounded up to whole tiles
    return c


print(product(np.float32([[1, 2, 3], [4, 5, 6]]), np.float32([[1, 2], [3, 4], [5, 6]])))

random = np.random.default_rng(1)
a = random.integers(-8, 8, (50, 70)).astype(np.float32)  # whole numbers: exact in any order of the sums
b = random.integers(-8, 8, (70, 40)).astype(np.float32)
same = np.array_equal(product(a, b), a @ b)
print("the same as NumPy:", same)
assert same
