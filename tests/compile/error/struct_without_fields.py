# error: 2:26: Struct needs its fields, as in Struct(position=vec3, mass=f32)
def k(i: Index, p: Array[Struct]):
    pass
