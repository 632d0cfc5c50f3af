def _times(a, b):
    return a * b


def twice(i: Index, x: Array[f32]):  # noqa: F821
    x[i] = _times(2, x[i])


def plus(i: Index, n: f32, x: Array[f32]):  # noqa: F821
    x[i] += n
