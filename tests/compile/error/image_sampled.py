# error: 3:12: 'a' is Image2D[vec4], which is not sampled; declare it Texture2D[vec4]
def k(at: Index2, a: Image2D[vec4], x: Array[vec4]):
    x[0] = a.sample(vec2(0.5))
