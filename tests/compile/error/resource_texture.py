# error: 2:10: kernels do not support the resource 'texture' yet
def k(x=("texture", 0, "2d rgba8unorm")):
    pass
