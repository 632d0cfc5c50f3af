"""Structs: in kernels, in tensors, as push constants; the same numbers as NumPy's, and errors that name the field."""

import kp
import numpy as np
import pytest
from kp.lang import Array, Index, dot, f32, i32, vec2, vec3


class Box(kp.Struct):
    low: vec3
    high: vec3


class Particle(kp.Struct):
    """A point that moves."""

    position: vec3
    velocity: vec2
    mass: f32
    box: Box
    ids: Array(3, i32)


def energy(p: Particle) -> f32:
    return 0.5 * p.mass * dot(p.velocity, p.velocity)


def moved(p, dt):
    q = p.copy()
    q.position += vec3(q.velocity, 0.0) * dt
    return q


@kp.kernel
def work(i: Index, ps: Array[Particle], out: Array[f32], box: Box):
    p = ps[i]
    out[i] = energy(p) + box.low.x
    ps[i] = moved(p, 0.5)
    ps[i].position.x += 1.0
    ps[i].box.low.xy = p.velocity
    ps[i].ids[i % 3] = 4
    for k in ps[i].ids:
        out[i] += f32(k)
    made: Particle = Particle(
        velocity=vec2(1, 2), position=vec3(0.0), mass=2, box=Box(vec3(1.0), box.high), ids=[1, 2, 3]
    )
    if i > 3:
        ps[i] = made


def particles(count: int) -> np.ndarray:
    ps = np.zeros(count, Particle.dtype)
    ps["velocity"] = (1, 2)
    ps["mass"] = np.arange(count)
    ps["position"] = np.arange(3 * count).reshape(count, 3)
    return ps


def expected(ps, box_low_x, box_high):
    ps, out = ps.copy(), np.zeros(len(ps), np.float32)
    for i, p in enumerate(ps):
        out[i] = 0.5 * p["mass"] * 5 + box_low_x
        p["position"][:2] += p["velocity"] * np.float32(0.5)
        p["position"][0] += 1
        p["box"]["low"][:2] = p["velocity"]
        p["ids"][i % 3] = 4
        out[i] += p["ids"].sum()
        if i > 3:
            ps[i] = ((0, 0, 0), (1, 2), 2, ((1, 1, 1), box_high), (1, 2, 3))
    return ps, out


@pytest.mark.parametrize(
    "box", [Box((1, 2, 3), (4, 5, 6)), {"low": (1, 2, 3), "high": [4, 5, 6]}, ((1, 2, 3), np.arange(4, 7))]
)
def test_a_call(box):
    ps, out = particles(6), np.zeros(6, np.float32)
    wanted, sums = expected(ps, 1, (4, 5, 6))
    work(ps, out, box)
    assert ps.tobytes() == wanted.tobytes()
    assert out.tolist() == sums.tolist()


def test_tensors(mgr):
    ps, out = particles(6), np.zeros(6, np.float32)
    wanted, sums = expected(ps, 1, (4, 5, 6))
    tensor, results = mgr.tensor(ps), mgr.tensor(out)
    void = np.zeros(1, Box.dtype)[0]
    void["low"], void["high"] = (1, 2, 3), (4, 5, 6)
    algorithm = work.algorithm(mgr, [tensor, results], box=void)
    seq = mgr.sequence().record(kp.OpSyncDevice([tensor, results]))
    seq.record(kp.OpAlgoDispatch(algorithm)).record(kp.OpSyncLocal([tensor, results])).eval()
    assert tensor.dtype == Particle.dtype
    assert tensor.data().dtype == Particle.dtype
    assert tensor.data().tobytes() == wanted.tobytes()
    assert results.data().tolist() == sums.tolist()
