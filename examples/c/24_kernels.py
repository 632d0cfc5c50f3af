"""What 24_ahead_of_time.c runs; kp_add_kernels has it compiled when that is built."""


def scale(i: Index, by: f32, x: Array[f32]):
    x[i] *= by


def above(i: Index, limit: f32, x: Array[f32], found: Array[u32]):
    if x[i] > limit:
        atomic_add(found[0], 1)
