# error: 3:5: only a local variable takes a type
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    a[i]: f32 = 1.0
