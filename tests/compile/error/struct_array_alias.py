# error: 6:9: in Python this would be a second name of the array 'p[i].x', which a kernel has not; write p[i].x.copy()
class P(Struct):
    x: Array(3, f32)

def k(i: Index, p: Array[P], y: Array[f32]):
    a = p[i].x
    y[i] = a[0]
