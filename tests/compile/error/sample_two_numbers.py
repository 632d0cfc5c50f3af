# error: 3:12: 't' has a sampler of its own; write t.sample(vec2(...))
def k(at: Index2, t: Texture2D[vec4], x: Array[vec4]):
    x[0] = t.sample(0.5, 0.5)
