# error: 3:9: this string has no end
def k(i: Index, a: Array[f32]):
    t = "one
    two"
