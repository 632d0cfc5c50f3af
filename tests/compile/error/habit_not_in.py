# error: 3:17: 'not in' takes a tuple or a list here; write a <= x < b
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    if n not in range(1, 2):
        x[i] = 1
