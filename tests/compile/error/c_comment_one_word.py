# error: 3:21: there is no 'set' here; a comment starts with '#'
def k(i: Index, a: Array[f32], out: Array[f32]):
    out[i] = 0.0 // set
