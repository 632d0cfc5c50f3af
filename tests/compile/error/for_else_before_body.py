# error: 3:23: expected an indented block after the range of 'for'
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    for j in range(3):
    else:
        pass
