"""Shaders in other languages: GLSL (or HLSL) as text, or a file, or SPIR-V from anywhere.

You should see:

    [3.0, 6.0, 9.0]
    a fault is shown with its line: 3
"""

import kp

GLSL = """
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Data { float data[]; };
void main() { data[gl_GlobalInvocationID.x] *= 3.0; }
"""

mgr = kp.Manager()
tensor = kp.Tensor([1, 2, 3])
mgr.eval_tensor_create_def([tensor])
mgr.eval_algo_str_def([tensor], GLSL)
mgr.eval_tensor_sync_local_def([tensor])
print(tensor.data())

try:
    kp.compile_shader("#version 450\nlayout(local_size_x = 1) in;\nvoid main() { nonsense; }\n")
except kp.CompileError as error:
    print("a fault is shown with its line:", error.lineno)
