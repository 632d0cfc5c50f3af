# error: 5:5: atomic_or works on i32, u32, i64 and u64, but 'p[i].flags' holds u8
class P(Struct):
    flags: u8
def k(i: Index, p: Array[P]):
    atomic_or(p[i].flags, 1)
