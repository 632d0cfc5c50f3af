# error: 4:25: subgroup_and takes integers, but this is f32
@kp.kernel(local_size=64)
def k(i: Index, a: Array[f32]):
    a[i] = subgroup_and(a[i])
