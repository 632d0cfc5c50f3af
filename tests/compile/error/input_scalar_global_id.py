# error: 2:45: the input GlobalInvocationId is an ivec3, not i32
def k(index=("input", "GlobalInvocationId", i32), x=("buffer", 0, Array(f32))):
    pass
