class Box(Struct):
    low: vec3
    high: vec3


class Particle(kp.Struct):
    """A point that moves."""

    position: vec3
    velocity: vec2
    mass: f32
    box: Box
    ids: Array(3, i32)


class Node(Struct):
    value: f32
    near: Array(40, i32)


def _energy(p: Particle) -> f32:
    return 0.5 * p.mass * dot(p.velocity, p.velocity)


def _moved(p, dt):
    q = p.copy()
    q.position += vec3(q.velocity, 0.0) * dt
    return q


def _both(p):
    return p.mass, p.box


def read(i: Index, ps: Array[Particle], out: Array[f32]):
    out[i] = ps[i].mass + ps[i].position.y + ps[i].box.low[1] + f32(ps[-1].ids[i % 3])


def write(i: Index, ps: Array[Particle]):
    ps[i].mass = 2
    ps[i].position = vec3(1.0)
    ps[i].box.low.xz = ps[i].velocity
    ps[i].ids[i] += 1
    ps[i].velocity[i % 2] *= 0.5


def whole(i: Index, ps: Array[Particle], s: Box, out: Array[f32]):
    p = _moved(ps[i], 0.5)
    ps[i] = p
    mass, box = _both(p)
    ps[i + 1].box = box
    made: Particle = Particle(velocity=vec2(1, 2), position=vec3(0), mass=2, box=Box(vec3(1), s.high), ids=[1, 2, 3])
    made.box.low.x = mass
    ps[i + 2] = made.copy() if i > 3 else Particle()
    out[i] = _energy(p)
    for q in ps:
        out[i] += q.mass
    for k in ps[i].ids:
        out[i] += f32(k)


def large(i: Index, nodes: Array[Node], out: Array[f32]):
    n = nodes[i].copy()
    for k in range(40):
        n.near[k] = k
    nodes[i] = n
    m = nodes[i + 1]
    nodes[i + 2] = m
    out[i] = m.value + f32(m.near[i])


def local_array(i: Index, ps: Array[Particle], out: Array[f32]):
    two = [ps[i].copy(), ps[i + 1].copy()]
    two[0].mass = 1.0
    out[i] = two[i % 2].mass


def written_out(x=("buffer", 0, Array(Struct(position=vec2, age=f32))), y=("buffer", 1, Struct(a=i32, b=vec4)), i=("input", "GlobalInvocationId", ivec3)):
    x[i.x].age += y.b.w
    y.a = 3


def small(i: Index, x: Array[Struct(a=u8, b=f16, c=bool, d=i16, e=f64, f=u64, g=Array(3, bool))]):
    x[i].a += 1
    x[i].b = f16(2.0)
    x[i].c = not x[i].g[1]
    x[i].d -= 1
    x[i].e *= 2.0
    x[i].f += 1


@kernel(local_size=64)
def shared_structs(i: Index, t: LocalIndex, ps: Array[Particle], out: Array[f32]):
    tile = shared(Particle, 64)
    tile[t] = ps[i]
    barrier()
    out[i] = tile[63 - t].mass


def view(i: Index2, ps: Array[Box, 2]):
    ps[i.y, i.x].low = ps[0, 0].high


class Settings(Struct):
    dt: f32
    gravity: vec3
    weights: Array(3, f32)
    on: bool
    half: f16
    wide: f64
    big: i64
    small: i8


def _scaled(s: Settings, w):
    return s.dt * w


def uniforms(i: Index, x: Array[f32], s: Uniform[Settings], v: Uniform[vec3], n: Uniform[i32], t: Uniform[Array(5, vec2)]):
    g = s.gravity
    w = s.weights.copy()
    x[i] = s.dt + g.y + s.weights[i % 3] + v.z + f32(n) + t[i % 5].y + dot(g, v) + w[i % 3] + _scaled(s, 2.0)


def small_uniform(i: Index, x: Array[f32], s: Uniform[Settings]):
    x[i] = f32(s.half) + f32(s.wide) + f32(s.big) + f32(s.small) + (1.0 if s.on else 2.0)


def pyshader_uniform(x=("buffer", 0, Array(f32)), s=("uniform", 1, Struct(a=f32, b=vec4)), m=("uniform", (0, 2), vec4), i=("input", "GlobalInvocationId", ivec3)):
    x[i.x] = s.a * s.b.w + m.x


class View(Struct):
    m: mat4
    scale: f32
    n: mat2x3
    several: Array(2, mat2)


def matrices(i: Index, x: Array[vec4], view: Uniform[View], views: Array[View]):
    x[i] = view.m @ x[i] * view.scale + view.several[i % 2][1].x
    views[i].m[1].x = 2.0
    views[i].n = view.n * 2.0
    views[i].several[i % 2] = view.several[0]
    m = views[i].m
    x[i] += m[i % 4]
