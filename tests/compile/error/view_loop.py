# error: 3:14: 'a' has 2 axes; go over range(len(a))
def k(i: Index, a: Array[f32, 2], b: Array[i32], n: i32):
    for x in a:
        b[i] = 1
