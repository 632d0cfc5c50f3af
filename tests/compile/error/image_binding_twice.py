# error: 2:48: 'a' and 'b' have the same binding 0
def k(i: Index2, a: ("texture", 0, "2d r32f"), b: ("buffer", 0, Array(f32))):
    pass
