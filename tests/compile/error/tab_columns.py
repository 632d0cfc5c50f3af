# error: 4:16: there is no 'banana' here: it is neither a parameter, nor assigned in the kernel, nor a name of the kernel language
def k(i: Index, a: Array[f32]):
	if i > 0:
		a[i] = 1.0 +	banana
