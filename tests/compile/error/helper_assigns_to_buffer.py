# error: 3:5: 'x' is a buffer; assign to an element, as in x[i] = ... (in clear(Array[i32]), called in line 7)
def clear(x):
    x = 0


def k(i: Index, n: Array[i32]):
    clear(n)
