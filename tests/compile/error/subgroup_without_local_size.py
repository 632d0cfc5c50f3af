# error: 3:12: subgroup_add needs to know the size of a workgroup; write @kp.kernel(local_size=64)
def k(i: Index, a: Array[i32]):
    a[i] = subgroup_add(a[i])
