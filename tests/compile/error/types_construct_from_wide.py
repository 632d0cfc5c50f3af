# error: 3:18: a component is f16, but this is f32; write f16(x)
def k(i: Index, v: Array[hvec2], x: f32):
    v[i] = hvec2(x, 1)
