# error: 3:9: 's' is a sampler and cannot be in a variable
def k(i: Index2, s: ("sampler", 0, "")):
    t = s
