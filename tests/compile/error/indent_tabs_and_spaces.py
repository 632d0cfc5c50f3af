# error: 5:1: tabs and spaces are mixed here in a way that leaves the indentation open; use spaces
def k(i: Index, a: Array[f32]):
    if i > 0:
        a[i] = 1.0
	a[i] = 2.0
