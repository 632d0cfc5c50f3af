# error: 3:7: there is no function 'get_global_id' in the kernel language; the index is a parameter, i: Index
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    x[get_global_id(0)] = 1
