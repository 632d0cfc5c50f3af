# error: 3:20: 'in' is not chained with other comparisons; join them with 'and'
def k(i: Index, n: i32, a: Array[i32]):
    if n in (1, 2) == True:
        a[i] = 1
