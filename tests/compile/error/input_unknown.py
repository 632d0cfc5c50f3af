# error: 2:23: there is no input 'GlobalInvocationID'; a kernel has GlobalInvocationId, LocalInvocationId, WorkgroupId, NumWorkgroups and LocalInvocationIndex
def k(index=("input", "GlobalInvocationID", ivec3)):
    pass
