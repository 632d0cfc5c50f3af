# error: 3:5: there is no function 'breakpoint' in the kernel language; kp.emulate(function, ...) runs it in Python, where breakpoints work
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    breakpoint()
