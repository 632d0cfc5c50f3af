# error: 3:21: expected the end of the statement, found 'first'; a comment starts with '#'
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    x[i] = 1 // the first
