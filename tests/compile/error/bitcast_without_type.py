# error: 3:20: expected a type such as f32 or vec2 here
def k(i: Index, x: Array[f32], n: Array[u32]):
    n[i] = bitcast(x[i], u32)
