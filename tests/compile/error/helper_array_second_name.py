# error: 3:9: in Python this would be a second name of the array 'a', which a kernel has not; write a.copy() (in f(Array(2, i32)), called in line 9)
def f(a):
    b = a
    b[0] = 1


def k(i: Index, x: Array[i32]):
    a = [1, x[i]]
    f(a)
