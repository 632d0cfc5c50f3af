# error: 3:5: atomic_add works on i32, u32, i64, u64 and f32, but 'a' holds vec2
def k(i: Index, a: Array[vec2]):
    atomic_add(a, i, vec2(1.0))
