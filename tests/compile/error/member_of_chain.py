# error: 3:14: 'in' is not chained with other comparisons; join them with 'and'
def k(i: Index, n: i32, a: Array[i32]):
    if 0 < n in (1, 2):
        a[i] = 1
