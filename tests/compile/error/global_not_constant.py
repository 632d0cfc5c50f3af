# error: 8:12: 'X' is not a constant that a kernel can use
import os

X = os.getpid()


def k(i: Index, a: Array[f32]):
    a[i] = X
