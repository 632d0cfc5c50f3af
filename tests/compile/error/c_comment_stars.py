# error: 3:19: expected an expression, found '*'; a comment starts with '#'
def k(i: Index, a: Array[f32], out: Array[f32]):
    out[i] = 1.0 /* hi */
