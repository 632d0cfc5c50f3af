# error: 3:20: index 3 is out of range: vec3 has 3 elements
def k(i: Index, a: Array[mat3], o: Array[f32]):
    o[i] = a[i][1, 3]
