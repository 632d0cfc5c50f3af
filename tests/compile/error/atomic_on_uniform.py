# error: 5:16: 's' is a uniform, which kernels only read; write to a buffer, Array[...]
class S(Struct):
    n: i32
def k(i: Index, s: Uniform[S]):
    atomic_add(s.n, 1)
