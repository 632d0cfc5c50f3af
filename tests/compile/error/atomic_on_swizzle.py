# error: 3:5: atomic_add works on i32, u32, i64, u64 and f32, but 'p[i].xy' holds vec2
def k(i: Index, p: Array[vec3]):
    atomic_add(p[i].xy, vec2(1.0))
