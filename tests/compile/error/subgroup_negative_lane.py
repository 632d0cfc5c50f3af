# error: 4:37: the number of a lane is not negative
@kp.kernel(local_size=64)
def k(i: Index, a: Array[i32]):
    a[i] = subgroup_broadcast(a[i], -1)
