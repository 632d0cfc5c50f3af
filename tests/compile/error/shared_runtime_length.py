# error: 4:21: the length of shared memory is an integer constant or a Const[i32]
@kp.kernel(local_size=64)
def k(i: Index, n: i32, a: Array[f32]):
    m = shared(f32, n)
