# error: 3:5: 't' is 2d f32, which is read only; give its format, as in "2d rgba8", to write it
def k(i: Index2, t: ("texture", 0, "2d f32")):
    t.write(i, vec4(0.0))
