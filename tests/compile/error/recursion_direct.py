# error: 5:16: recursion is not in the kernel language: fact calls itself (in fact(i32), called in line 9)
def fact(n):
    if n < 2:
        return 1
    return n * fact(n - 1)


def k(i: Index, n: Array[i32]):
    n[i] = fact(n[i])
