# error: 5:5: a struct of a kernel has fields alone, as in mass: f32
class P(Struct):
    x: f32

    def length(self):
        return self.x

def k(i: Index, p: Array[P]):
    p[i].x = 1.0
