# error: 2:47: the input LocalInvocationIndex is an i32, not ivec3
def k(index=("input", "LocalInvocationIndex", ivec3)):
    pass
