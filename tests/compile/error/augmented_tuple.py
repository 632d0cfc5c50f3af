# error: 3:5: '+=' assigns to one name
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    x, y += 1, 2
    b[i] = x
