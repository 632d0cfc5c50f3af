# error: 2:10: there is no resource 'bufer'; a parameter is an "input" or a "buffer"
def k(x=("bufer", 0, Array(f32))):
    pass
