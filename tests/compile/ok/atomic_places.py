# Atomics on what is inside of an element: fields, components, elements of arrays and matrices, in buffers and in shared memory.
class Cell(Struct):
    count: u32
    mass: f32
    at: vec3
    velocity: vec2
    parts: Array(3, f32)
    turn: mat2
    ends: Array(2, ivec2)

class Grid(Struct):
    total: f32
    cells: Array(4, Cell)

def fields(i: Index, cells: Array[Cell], out: Array[f32]):
    atomic_add(cells[i].count, 1)
    atomic_max(cells[i].count, 5)
    out[i] = atomic_add(cells[i].mass, 0.5)
    atomic_sub(cells[i].at.y, out[i])
    atomic_add(cells[i].at[i], 1.0)
    atomic_min(cells[i].velocity.x, 2.0)
    atomic_exchange(cells[i].parts[1], 2.0)
    atomic_add(cells[i].parts, i, 1.0)
    atomic_add(cells[i].turn[1, 0], 1.0)
    atomic_or(cells[i].ends[i].y, 4)
    atomic_compare_exchange(cells[-1].mass, 0.0, 1.0)
    out[i] += cells[i].at.x + cells[i].velocity[i] + cells[i].turn[0, 0] + cells[i].parts[2] + f32(cells[i].ends[0].x)
    cells[i] = Cell()
    one = cells[i].copy()
    cells[i + 1] = one
    cells[i].turn = 2.0 * one.turn

def only_added(i: Index, grids: Array[Grid], m: Array[mat3], v: Array[vec4], w: Array[vec3], h: Array[Array(3, vec2)]):
    atomic_add(grids[i].total, 1.0)
    atomic_sub(grids[i].cells[i].at.z, 1.0)
    atomic_add(m[i][1, 2], 1.0)
    atomic_add(v[i].w, 1.0)
    atomic_add(v[i][i], 1.0)
    atomic_add(w[i].x, atomic_add(w[i], i, 1.0))
    atomic_add(h[i][1].y, 1.0)
    m[i] = m[0] + m[1]
    v[i] += v[1]
    w[i] = w[0] + vec3(h[i][0], 0.0)
    grids[i].cells[0] = grids[i].cells[1]
    grids[i] = grids[0]

def views(at: Index2, a: Array[f32, 2], n: Array[i32, 3], v: Array[vec2, 2]):
    atomic_add(a[at.y, at.x], 1.0)
    atomic_add(a, (at.y, -1), 1.0)
    atomic_xor(n[0, at.y, at.x], 3)
    atomic_max(v[at.y, at.x].y, 1.0)

@kp.kernel(local_size=(8, 4))
def in_shared_memory(i: Index, t: LocalIndex2, x: Array[f32]):
    cells = shared(Cell, 8)
    tile = shared(f32, (4, 8))
    v = shared(vec3, 8)
    m = shared(mat2, 2)
    rows = shared(Array(3, vec2), 4)
    atomic_add(rows[t.x][1].y, 1.0)
    atomic_add(rows[t.x][t.y][0], rows[0][1].x)
    atomic_add(cells[t.x].count, 1)
    atomic_max(cells[t.x].mass, x[i])
    atomic_add(cells[t.x].at.x, x[i])
    atomic_add(cells[t.x].turn[1, 1], x[i])
    atomic_add(tile[t.y, t.x], x[i])
    atomic_exchange(tile, (t.y, t.x), x[i])
    atomic_sub(v[t.x].y, x[i])
    atomic_sub(m[0][0, 1], x[i])
    barrier()
    cells[0] = cells[1]
    cells[t.y].turn = m[1]
    v[t.x] += v[0]
    x[i] = cells[t.x].mass + f32(cells[t.x].ends[0].x) + tile[t.y, t.x] + v[t.x].x + m[0][0, 1]

def _bump(row, x):
    atomic_add(row[1], x)
    return atomic_sub(row, 0, x)

def _count(cells, i):
    return atomic_add(cells[i].count, 1)

def helpers(i: Index, rows: Array[Array(3, f32)], cells: Array[Cell], one=("buffer", 5, u32), grid=("buffer", 6, Grid)):
    rows[i][2] = _bump(rows[i], 1.0)
    rows[_count(cells, i)][0] += 1.0
    atomic_add(one, 1)
    atomic_min(grid.cells[i].velocity.y, 1.0)
    atomic_add(grid.total, 1.0)
