# error: 2:20: Uniform needs the type of what it holds, as in Uniform[Settings] or Uniform[vec4]
def k(i: Index, s: Uniform):
    pass
