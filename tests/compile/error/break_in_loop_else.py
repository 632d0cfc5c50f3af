# error: 6:9: 'break' is outside of any loop
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    for j in range(3):
        pass
    else:
        break
    a[i] = s
