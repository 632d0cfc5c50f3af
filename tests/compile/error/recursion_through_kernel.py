# error: 3:5: recursion is not in the kernel language: k calls helper, which calls k (in helper(Array[i32]), called in line 7)
def helper(n):
    k(n, n)


def k(i: Index, n: Array[i32]):
    helper(n)
