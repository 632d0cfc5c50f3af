# error: 3:23: a value stands before the options of a call
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    print(n, sep=" ", n)
