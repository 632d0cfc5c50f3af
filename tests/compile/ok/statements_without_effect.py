def k(i: Index, b: Array[i32], v: Array[vec3], a: i32):
    """A docstring, and what else may stand on a line of its own."""
    b
    a
    b[i]
    v[i].xy
    "text"
    l = [1, 2]
    l
    l[a & 1]
    b[i] = l[1]
