# error: 2:20: there is no type 'List'; a buffer is Array[f32]
def k(i: Index, x: List[float]):
    x[i] = 1
