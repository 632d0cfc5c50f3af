# error: 2:45: the input GlobalInvocationId is an ivec3, not vec3
def k(index=("input", "GlobalInvocationId", vec3), x=("buffer", 0, Array(f32))):
    pass
