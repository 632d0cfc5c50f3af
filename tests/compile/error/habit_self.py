# error: 3:12: there is no 'self.scale' here; a kernel has no object; pass what it needs as parameters
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    x[i] = self.scale
