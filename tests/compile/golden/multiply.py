# The article's kernel: two entry points around one function, the launch constants, the block loop.
def multiply(i: Index, a: Array[f32], b: Array[f32], out: Array[f32]):
    out[i] = a[i] * b[i]
