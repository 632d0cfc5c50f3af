# The forms that pyshader's users wrote: tuples as defaults or annotations, types as objects or strings, with and without ps.
import pyshader as ps
from pyshader import python2shader, Array, RES_BUFFER, RES_INPUT, f32, ivec3, vec2


@ps.python2shader
def compute_multiply(index=("input", "GlobalInvocationId", ps.ivec3),
                     data1=("buffer", 0, ps.Array(ps.f32)),
                     data2=("buffer", 1, ps.Array(ps.f32)),
                     data3=("buffer", 2, ps.Array(ps.f32))):
    i = index.x
    data3[i] = data1[i] * data2[i]


@python2shader
def compute_annotations(index: ("input", "GlobalInvocationId", ivec3), data: ("buffer", 0, Array(f32))):
    data[index.x] = 1.0


@ps.python2shader
def compute_strings(index=("input", "GlobalInvocationId", "ivec3"), data=("buffer", 0, "Array(f32)")):
    data[index.x] = 1.0


def compute_string_annotations(index: "('input', 'GlobalInvocationId', ivec3)", data: "('buffer', 0, Array(vec2))"):
    data[index.x] = vec2(1.0, 2.0)


def compute_resource_names(index=(RES_INPUT, "GlobalInvocationId", ivec3), data=(ps.RES_BUFFER, 0, Array(f32))):
    data[index.x] = 1.0


def compute_set_and_binding(index=("input", "GlobalInvocationId", ivec3),
                            first=("buffer", (0, 3), Array(f32)),
                            second=("buffer", (1, 0), Array(f32))):
    second[index.x] = first[index.x]


def compute_inputs(gid=("input", "GlobalInvocationId", ivec3),
                   lid=("input", "LocalInvocationId", ivec3),
                   wid=("input", "WorkgroupId", ivec3),
                   count=("input", "NumWorkgroups", ivec3),
                   lindex=("input", "LocalInvocationIndex", i32),
                   data=("buffer", 0, Array(i32))):
    data[gid.x] = lid.x + wid.y + count.z + lindex


def compute_same_input_twice(a=("input", "GlobalInvocationId", ivec3),
                             b=("input", "GlobalInvocationId", ivec3),
                             data=("buffer", 0, Array(i32))):
    data[a.x] = b.y


def compute_copy_and_color(index: ("input", "GlobalInvocationId", ivec3),
                           data1: ("buffer", 0, Array(i32)),
                           color: ("buffer", 1, Array(vec4))):
    a = data1[index.x]
    x = f32(index.x)
    color[index.x] = vec4(x, x + 1.0, f32(a), 1.0)
    color[index.x].rgb = color[index.x].bgr
    r = color[index.x].r
    for i in range(10):
        if i == a:
            break
        r += stdlib.sqrt(r) if r > 0.0 else math.sin(r)
    color[index.x].a = r


def compute_fixed_array(index=("input", "GlobalInvocationId", ivec3), data=("buffer", 0, Array(10, i32))):
    data[index.x] = data[-1]


def compute_no_index(data=("buffer", 0, Array(f32))):
    data[0] = 1.0
