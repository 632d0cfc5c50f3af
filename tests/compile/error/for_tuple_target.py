# error: 3:9: a for loop over range(...) has one variable
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    for x, y in range(3):
        a[i] = 1.0
