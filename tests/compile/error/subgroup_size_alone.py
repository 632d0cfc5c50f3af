# error: 3:5: a kernel with a subgroup size has a local size too, as in local_size=32
@kp.kernel(subgroup_size=32)
def k(i: Index, a: Array[i32]):
    a[i] = 0
