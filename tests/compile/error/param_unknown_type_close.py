# error: 2:20: there is no type 'Aray'; did you mean Array?
def k(i: Index, x: Aray[f32]):
    pass
