# error: 4:12: 't' is sampled and written, which no image can be at once; pass it as two parameters
def k(i: Index2, t: ("texture", 0, "2d rgba8"), s: ("sampler", 1, ""), x: ("buffer", 2, Array(vec4))):
    t.write(i, vec4(0.0))
    x[0] = t.sample(s, vec2(0.5))
