"""Structs in a kernel: bodies that attract each other, in a NumPy structured array, and NumPy checks the same step.

A struct is a class with annotations. Its dtype makes arrays of it, and what does not change from step to step is a uniform.

You should see:

    100 bodies after 10 steps; as NumPy has them: True
"""

import kp
import numpy as np
from kp.lang import Array, Index, Uniform, dot, f32, sqrt, vec3


class Body(kp.Struct):
    position: vec3
    velocity: vec3
    mass: f32


class Settings(kp.Struct):
    step: f32
    gravity: f32
    softening: f32


def pull(a: vec3, b: Body, softening: f32):
    away = b.position - a
    distance = dot(away, away) + softening
    return away * (b.mass / (distance * sqrt(distance)))


@kp.kernel
def move(i: Index, bodies: Array[Body], moved: Array[Body], s: Uniform[Settings]):
    body = bodies[i].copy()  # without copy() it would be the element itself in Python
    force = vec3(0.0)
    for other in bodies:
        force += pull(body.position, other, s.softening)
    body.velocity += s.gravity * s.step * force
    body.position += s.step * body.velocity
    moved[i] = body


def move_in_numpy(bodies, s):
    away = bodies["position"][None] - bodies["position"][:, None]
    distance = (away**2).sum(2) + s.softening
    force = (away * (bodies["mass"] / distance**1.5)[..., None]).sum(1)
    bodies["velocity"] += s.gravity * s.step * force
    bodies["position"] += s.step * bodies["velocity"]


rng = np.random.default_rng(3)
bodies = np.zeros(100, Body.dtype)
bodies["position"] = rng.standard_normal((100, 3))
bodies["mass"] = rng.uniform(0.5, 2, 100)
settings = Settings(step=0.01, gravity=0.5, softening=0.1)

mgr = kp.Manager()
here, there = mgr.tensor(bodies), mgr.tensor(bodies)  # what is read and what is written, by turns
constants = mgr.tensor(np.array([(0.01, 0.5, 0.1)], Settings.dtype))
mgr.sequence().record(kp.OpSyncDevice([here, constants])).eval()
for _ in range(10):
    move(here, there, constants)
    here, there = there, here
mgr.sequence().record(kp.OpSyncLocal([here])).eval()

for _ in range(10):
    move_in_numpy(bodies, settings)
close = all(np.allclose(here.data()[name], bodies[name], atol=1e-3) for name in ("position", "velocity"))
print(f"{len(bodies)} bodies after 10 steps; as NumPy has them: {close}")
