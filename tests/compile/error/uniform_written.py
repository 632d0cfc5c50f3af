# error: 6:5: 's' is a uniform, which kernels only read; write to a buffer, Array[...]
class S(Struct):
    x: f32

def k(i: Index, s: Uniform[S]):
    s.x = 1.0
