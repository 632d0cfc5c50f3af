# error: 3:11: characters by name are not in the kernel language; write the character itself
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    print("\N{BULLET}")
