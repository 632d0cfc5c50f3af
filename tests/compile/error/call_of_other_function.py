# error: 7:12: kernels cannot call other functions of the source yet, such as f
def f(x: f32):
    return x


def k(i: Index, a: Array[f32]):
    a[i] = f(1.0)
