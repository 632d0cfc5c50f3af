# error: 2:26: there is no type 'u16vec5'; did you mean u16vec2?
def k(i: Index, v: Array[u16vec5]):
    v[i] = v[0]
