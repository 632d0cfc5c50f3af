# error: 6:5: in Python these would be names of one P; assign to one name, and its copy() to the next
class P(Struct):
    x: f32

def k(i: Index, p: Array[P]):
    a = b = P(1.0)
    p[i] = a
