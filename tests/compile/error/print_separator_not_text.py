# error: 3:18: the 'sep' of print is a text in quotes
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    print(n, sep=n)
