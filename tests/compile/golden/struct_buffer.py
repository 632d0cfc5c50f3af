class Particle(Struct):
    position: vec3
    mass: f32


def move(i: Index, particles: Array[Particle], step: f32):
    particles[i].position.x += step * particles[i].mass
