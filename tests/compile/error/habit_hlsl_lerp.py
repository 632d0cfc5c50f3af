# error: 3:12: there is no function 'lerp' in the kernel language; write mix(x, y, t)
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    x[i] = lerp(x[i], 1.0, 0.5)
