# error: 3:21: sample takes a sampler here, but this is 2d f32
def k(i: Index, t: ("texture", 0, "2d f32"), x: ("buffer", 1, Array(vec4))):
    x[i] = t.sample(t, vec2(0.5))
