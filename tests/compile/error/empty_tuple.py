# error: 3:5: there is nothing to assign to
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    () = ()
