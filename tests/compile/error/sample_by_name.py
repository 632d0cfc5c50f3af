# error: 3:21: sample takes no names for its arguments
def k(at: Index2, t: Texture2D[vec4], x: Array[vec4]):
    x[0] = t.sample(at=vec2(0.5))
