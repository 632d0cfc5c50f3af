# error: 3:5: 't' is a texture, which is read only; declare it Image2D[vec4] to write it
def k(at: Index2, t: Texture2D[vec4]):
    t[at] = vec4(1.0)
