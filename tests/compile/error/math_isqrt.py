# error: 4:12: math.isqrt is not in the kernel language, whose isqrt(x) is one over the square root
import math
def k(i: Index, x: Array[f32]):
    x[i] = math.isqrt(x[i])
