# error: 4:9: this line is indented more than the block that it is in
def k(i: Index, a: Array[f32]):
    a[i] = 1.0
        a[i] = 2.0
