# error: 3:9: there is no 'q' here: it is neither a parameter, nor assigned in the kernel, nor a name of the kernel language
def k(i: Index, a: Array[f32]):
	a[i] = q
