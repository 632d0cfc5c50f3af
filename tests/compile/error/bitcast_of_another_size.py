# error: 3:12: bitcast keeps the size, but f32 has 32 bits and u64 has 64
def k(i: Index, x: Array[f32], n: Array[u64]):
    n[i] = bitcast(u64, x[i])
