# error: 3:12: comprehensions are not in the kernel language; write a for loop
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    t = [x for x in range(3)]
    a[i] = s
