# error: 5:9: the loop goes over 'p', which cannot be another array from here on
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    p = [1, 2]
    for x in p:
        p = [x, x]
    b[i] = p[0]
