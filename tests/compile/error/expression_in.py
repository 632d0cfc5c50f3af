# error: 3:13: 'in' takes a tuple or a list of numbers, as in x in (1, 2); go over 'a' in a for loop
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    if n in a:
        a[i] = s
