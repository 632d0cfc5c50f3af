# error: 8:12: 'W' is not a constant that a kernel can use
import os

W = (1.0, os.getpid())


def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = W[0]
