# error: 3:16: expected ':' after the condition of 'if', found '{'; a block is indented below its ':', without braces
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    if (n > 1) {
        x[i] = 1
    }
