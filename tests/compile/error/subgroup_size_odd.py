# error: 3:5: a subgroup size is a power of two up to 128, not 24
@kp.kernel(local_size=64, subgroup_size=24)
def k(i: Index, a: Array[i32]):
    a[i] = 0
