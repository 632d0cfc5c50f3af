# error: 4:25: subgroup_add takes numbers, but this is bool
@kp.kernel(local_size=64)
def k(i: Index, a: Array[i32]):
    a[i] = subgroup_add(a[i] > 0)
