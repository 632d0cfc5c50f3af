# error: 3:5: 't' is sampled and written, which no image can be at once; pass it as two parameters
def k(i: Index2, t: ("texture", 0, "2d rgba8"), s: ("sampler", 1, "")):
    t.write(i, t.sample(s, vec2(0.5)))
