# error: 3:5: 'async' is not in the kernel language; a kernel is a plain def
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    async def f():
        pass
