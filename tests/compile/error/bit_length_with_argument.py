# error: 3:12: bit_length takes no arguments behind the dot
def k(i: Index, n: Array[i32]):
    n[i] = n[i].bit_length(3)
