# error: 2:28: a uniform has at most 65536 bytes, but Array(20000, f32) has 80000; pass a buffer, Array[...]
def k(i: Index, s: Uniform[Array(20000, f32)]):
    pass
