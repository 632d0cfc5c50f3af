# error: 3:12: 't' has no sampler of its own; write t.sample(sampler, ...)
def k(i: Index, t: ("texture", 0, "2d f32"), x: ("buffer", 1, Array(vec4))):
    x[i] = t.sample(vec2(0.5))
