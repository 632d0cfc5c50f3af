# error: 3:5: atomic_and works on i32, u32, i64 and u64, but 'a' holds f32
def k(i: Index, a: Array[f32]):
    atomic_and(a, i, 1.0)
