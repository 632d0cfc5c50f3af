# error: 3:9: there is no function 'zeros' in the kernel language; arrays of any length are made outside and passed in as buffers
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    t = np.zeros(4)
