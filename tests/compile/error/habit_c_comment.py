# error: 3:5: expected an expression, found '//'; a comment starts with '#'
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    // the first
    x[i] = 1
