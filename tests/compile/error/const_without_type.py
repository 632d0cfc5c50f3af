# error: 2:20: Const needs the type of the number, as in Const[i32]
def k(i: Index, n: Const, a: Array[i32]):
    a[i] = n
