"""The article's first program: multiply two arrays on the GPU (Kompute 0.5 and pyshader interfaces).

You should see [2.0, 4.0, 6.0].
"""
import pyshader as ps
import kp

# 1. A manager for device 0.
mgr = kp.Manager()

# 2. Tensors that hold local data: two inputs, one output.
tensor_in_a = kp.Tensor([2, 2, 2])
tensor_in_b = kp.Tensor([1, 2, 3])
tensor_out = kp.Tensor([0, 0, 0])

# 3. Create them on the GPU.
mgr.eval_tensor_create_def([tensor_in_a, tensor_in_b, tensor_out])


# 4. The code that runs on the GPU.
@ps.python2shader
def compute_multiply(index=("input", "GlobalInvocationId", ps.ivec3),
                     data1=("buffer", 0, ps.Array(ps.f32)),
                     data2=("buffer", 1, ps.Array(ps.f32)),
                     data3=("buffer", 2, ps.Array(ps.f32))):
    i = index.x
    data3[i] = data1[i] * data2[i]


# 5. Dispatch it.
mgr.eval_algo_data_def([tensor_in_a, tensor_in_b, tensor_out], compute_multiply.to_spirv())

# 6. Bring the result back.
mgr.eval_tensor_sync_local_def([tensor_out])

# 7. Print it.
print(tensor_out.data())
assert tensor_out.data() == [2.0, 4.0, 6.0]
