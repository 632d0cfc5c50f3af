# error: 3:10: print gives no value; it is a statement of its own
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    b[i]=print(n)
