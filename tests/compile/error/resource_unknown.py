# error: 2:10: there is no resource 'bufer'; a parameter is an "input", a "buffer", a "uniform", a "texture" or a "sampler"
def k(x=("bufer", 0, Array(f32))):
    pass
