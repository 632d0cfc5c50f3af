# error: 3:5: 'a[i].T' cannot be assigned to; assign to a row of 'a[i]', or an element
def k(i: Index, a: Array[mat2], v: Array[vec2]):
    a[i].T[0] = v[i]
