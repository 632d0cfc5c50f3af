# error: 2:20: there is no type 'ndarray'; a buffer is Array[f32]
def k(i: Index, x: np.ndarray):
    x[i] = 1
