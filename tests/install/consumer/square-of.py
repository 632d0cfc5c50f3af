def square(i: Index, x: Array[f32]):  # noqa: F821
    x[i] = x[i] * x[i]
