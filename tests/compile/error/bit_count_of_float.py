# error: 3:22: bit_count takes integers, but this is f32; its bits are bitcast(u32, x[i])
def k(i: Index, x: Array[f32], n: Array[i32]):
    n[i] = bit_count(x[i])
