"""Start work, do something else, wait; and a named sequence that the manager keeps.

You should see:

    meanwhile, Python counted to 499500
    [3.0, 4.0, 5.0]
"""

import kp
import pyshader as ps


@ps.python2shader
def compute_add_one(index=("input", "GlobalInvocationId", ps.ivec3), data=("buffer", 0, ps.Array(ps.f32))):
    data[index.x] = data[index.x] + 1.0


mgr = kp.Manager()
tensor = kp.Tensor([1, 2, 3])
mgr.eval_tensor_create_def([tensor])

mgr.eval_async_algo_data([tensor], "adding", compute_add_one.to_spirv())
print("meanwhile, Python counted to", sum(range(1000)))
mgr.eval_await("adding")

mgr.get_create_sequence("adding").eval()  # once more
mgr.eval_tensor_sync_local_def([tensor])
print(tensor.data())
