# error: 4:9: in Python this would be a second name of what is in 'm', which a kernel has not; go over range(len(m))
def k(i: Index, x: Array[i32]):
    m = [[1, 2], [3, i]]
    for row in m:
        x[i] += row[0]
