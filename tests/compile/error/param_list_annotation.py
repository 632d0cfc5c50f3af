# error: 2:20: expected a type such as f32 or vec2 here
def k(i: Index, x: [f32]):
    pass
