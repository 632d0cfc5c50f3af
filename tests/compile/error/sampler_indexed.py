# error: 3:12: 's' is a sampler and cannot be indexed
def k(i: Index2, s: ("sampler", 0, ""), x: Array[f32]):
    x[0] = s[0]
