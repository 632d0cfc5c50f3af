@kp.kernel(local_size=256)
def total(t: LocalIndex, g: GroupIndex, i: Index, n: LocalSize, x: Array[f32], out: Array[f32]):
    part = shared(f32, n)
    part[t] = x[i] if i < len(x) else 0.0
    barrier()
    step = n // 2
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        barrier()
        step //= 2
    if t == 0:
        out[g] = part[0]

@kp.kernel(local_size=(16, 16))
def matmul(at: Index2, l: LocalIndex2, n: i32, a: Array[f32], b: Array[f32], c: Array[f32]):
    ta = shared(f32, (16, 17))
    tb = shared(f32, (16, 17))
    sum = 0.0
    for k in range(0, n, 16):
        ta[l.y, l.x] = a[at.y * n + k + l.x]
        tb[l.y, l.x] = b[(k + l.y) * n + at.x]
        barrier()
        for j in range(16):
            sum += ta[l.y, j] * tb[j, l.x]
        barrier()
    c[at.y * n + at.x] = sum

def histogram(i: Index, x: Array[u32], bins: Array[u32]):
    atomic_add(bins, x[i], 1)

def fsum(i: Index, x: Array[f32], out: Array[f32]):
    atomic_add(out, 0, x[i])
    atomic_max(out, 1, x[i])
    old = atomic_min(out, 2, x[i])
    if old > 5.0:
        atomic_exchange(out, 3, old)
        atomic_compare_exchange(out, 3, 0.0, old)

@kp.kernel(local_size=64)
def sub(i: Index, x: Array[i32], out: Array[i32]):
    out[i] = subgroup_add(x[i]) + subgroup_exclusive_max(x[i]) + subgroup_size() + subgroup_lane() + subgroup_shuffle_xor(x[i], 1)
    if subgroup_elect() and subgroup_any(x[i] > 0):
        out[0] = i32(subgroup_ballot(x[i] > 1).x)
    out[i] += subgroup_broadcast(x[i], 0) + subgroup_broadcast(x[i], x[0]) + subgroup_shuffle_up(x[i], 1) + subgroup_broadcast_first(x[i])

@kp.kernel(local_size=64)
def spec(i: Index, t: LocalIndex, n: Const[i32], flag: Const[bool], scale: Const[f32] = 2.5, x: Array[f32]=("buffer", 3, Array(f32))):
    m = shared(f32, (n, 4))
    m[t, 1] = scale
    barrier()
    if flag:
        x[i] = m[t, 1] + f32(len(m)) + m[-1, -1]
    q = shared(vec3, 5)
    q[t].x = 1.0
    p = shared(i32, 8)
    atomic_add(p, t, 5)
    f = shared(f32, 8)
    atomic_add(f, t, 5.0)
    x[i] += f[t]

def _halve(s, t, n):
    while n > 0:
        if t < n:
            s[t] += s[t + n]
        barrier()
        n //= 2

def _bump(a, i):
    return atomic_add(a, i, 1.0)

@kp.kernel(local_size=64)
def with_helpers(i: Index, t: LocalIndex, x: Array[f32]):
    s = shared(f32, 64)
    s[t] = x[i]
    barrier()
    _halve(s, t, 32)
    _bump(s, 3)
    x[i] = s[0] + _bump(x, 5)


@kp.kernel(local_size=64)
def names_alone(t: LocalIndex, x: Array[f32]):
    m = shared(f32, (4, 4))
    x
    m
    x[t]
    m[1, 2]
    t

@kp.kernel(local_size=64)
def both_memories(i: Index, t: LocalIndex, x: Array[f32], out: Array[f32]):
    s = shared(f32, 2)
    atomic_exchange(s, 0, 0.0)
    barrier()
    x[i] = atomic_sub(s, t, x[i])
    atomic_add(out, 0, atomic_exchange(out, 1, s[0]))
