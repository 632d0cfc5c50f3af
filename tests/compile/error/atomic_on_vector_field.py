# error: 5:5: atomic_add works on i32, u32, i64, u64 and f32, but 'p[i].at' holds vec3
class P(Struct):
    at: vec3
def k(i: Index, p: Array[P]):
    atomic_add(p[i].at, vec3(1.0))
