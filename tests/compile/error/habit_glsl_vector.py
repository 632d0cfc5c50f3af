# error: 3:9: there is no function 'float4' in the kernel language; write vec4(...)
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    v = float4(1, 2, 3, 4)
