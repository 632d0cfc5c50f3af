# error: 3:21: sample takes a place from 0 to 1 as a vec2, but this is ivec2; t.read(...) gives a pixel
def k(at: Index2, t: Texture2D[vec4], x: Array[vec4]):
    x[0] = t.sample(at)
