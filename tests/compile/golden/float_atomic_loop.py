def float_atomic_loop(i: Index, x: Array[f32], out: Array[f32]):
    x[i] = atomic_sub(out, 0, x[i])
