class Settings(Struct):
    gain: f32
    offset: vec3


def apply(i: Index, x: Array[f32], s: Uniform[Settings]):
    x[i] = s.gain * x[i] + s.offset.y
