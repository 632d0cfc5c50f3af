# Images and textures.
def copy(at: Index2, a: Image2D[f32], b: Image2D[f32]):
    b[at] = a[at]

def two_numbers(at: Index2, a: Image2D[vec4, "rgba8"], b: Image2D[vec4, "rgba16f"]):
    b[at.x, at.y] = a[at.x + 1, at.y]
    b[0, 1] = vec4(1.0)

def turned(at: Index2, a: Image2D[f32], b: Image2D[f32]):
    b[at.yx] = a[at]
    b[ivec2(at.y, at.x)] = 1

def every_axis(i: Index3, a: Image1D[f32], b: Image2D[i32], c: Image3D[uvec4], d: Texture1D[vec2], e: Texture2D[ivec4],
               f: Texture3D[vec3], out: Array[f32]):
    a[i.x] = a[i.x + 1] + d[i.x].y
    b[i.xy] = b[i.x, i.y] + e[i.xy].z
    c[i] = c[i.x, i.y, i.z] + uvec4(1)
    out[0] = f[i].z + f.sample(vec3(0.5)).x + d.sample(0.25).x

def formats(i: Index, a: Image1D[f32, "r16f"], b: Image1D[vec2], c: Image1D[f32, "r8"], d: Image1D[vec4, "rgba8snorm"],
            e: Image1D[u32, "r8ui"], f: Image1D[ivec2, "rg16i"], g: Image1D[vec4, "rgba8unorm"], h: Image1D[u32, 'r32ui']):
    a[i] = b[i].y
    b[i] = vec2(a[i], c[i])
    c[i] = d[i].w
    d[i] = g[i]
    e[i] = h[i]
    f[i] = ivec2(7)
    g[i] = d[i]
    h[i] = e[i]

def sizes(at: Index2, line: Image1D[f32], a: Image2D[f32], cloud: Image3D[f32], t: Texture2D[f32], out: Array[i32]):
    width, height = a.size
    out[0] = width * height
    out[1] = line.size + line.width
    out[2] = cloud.size.z + cloud.depth
    out[3] = a.width + a.height + t.size.x + t.height
    size = t.size
    out[4] = size.y

def changed(at: Index2, a: Image2D[f32], b: Image2D[vec4]):
    a[at] += 1.0
    a[at] *= a[at.x, 0]
    b[at] = b[at].bgra
    a[at], a[0, 0] = a[0, 0], a[at]
    r, g, _, _ = b[at]
    a[at] = r if r > g else b[at][2]
    a[at]

def sampled(at: Index2, t: Texture2D[vec4], out: Image2D[vec4]):
    place = (vec2(at) + 0.5) / vec2(out.size)
    out[at] = t.sample(place) + sample(t, place)

def _gray(image, at):
    return dot(image[at].rgb, vec3(0.25, 0.5, 0.25))

def _put(image, at, value):
    image[at] = value

def _typed(image: Image2D[f32], at: ivec2) -> f32:
    return image[at]

def helpers(at: Index2, a: Image2D[vec4, "rgba8"], b: Image2D[f32]):
    _put(b, at, _gray(a, at) + _typed(b, at))

def functions(at: Index2, a: Image2D[f32], b: Image2D[f32]):
    write(b, at, read(a, at))
    b.write(at, a.read(at))
    imageStore(b, at, imageLoad(a, at))
    b.write((at.x, at.y), a.read((0, 1)))

def in_quotes(at: "Index2", a: "Image2D['f32']", b: "Image2D[vec4, 'rgba8']"):
    b[at] = vec4(a[at])

def only_size(at: Index2, a: Image2D[f32], out: Array[i32]):
    out[0] = a.width

def unused(at: Index2, a: Image2D[f32], t: Texture2D[f32]):
    pass

def names_of_axes(at: Index2, a: Image2D[f32], m: Array[f32, 2]):
    x, y = at.x, at.y
    a[x, y] = m[y, x]
    a[x, x] = m[y, y]

def neighbours(at: Index2, a: Image2D[f32], b: Image2D[f32]):
    total = 0.0
    for dy in range(-1, 2):
        for dx in range(-1, 2):
            total += a[at + ivec2(dx, dy)]
    b[at] = total / 9.0

def in_groups(at: Index2, a: Image2D[f32], b: Image2D[f32]):
    b[at] = a[at]

# pyshader's
def compute_shader_tex_add(
    index: ("input", "GlobalInvocationId", ivec3),
    tex1: ("texture", 0, "2d rg16i"),
    tex2: ("texture", 1, "2d r32f"),
):
    val = tex1.read(index.xy).xy
    val2 = vec2(val)
    tex2.write(index.xy, vec4(val2.x + val2.y, 0.0, 0.0, 0.0))

def compute_shader_colorswap(
    index: ("input", "GlobalInvocationId", ivec3),
    tex1: ("texture", 0, "2d rgba8ui"),
    tex2: ("texture", (0, 1), "2d rgba8ui"),
):
    color = tex1.read(index.xy)
    color = ivec4(color.x + index.x, color.y + 1, color.z * 2, color.a)
    stdlib.write(tex2, index.xy, color.bgra)

def compute_shader_sample(
    index: (RES_INPUT, "GlobalInvocationId", ivec3),
    tex: (RES_TEXTURE, 0, "2d f32"),
    sampler: (RES_SAMPLER, 1, ""),
    line: ("texture", 2, "1d i32"),
    cube: ("texture", 3, "3d r16i"),
    out: ("buffer", 4, Array(vec4)),
):
    out[0] = tex.sample(sampler, vec2(0.5, 0.5)) + vec4(line.sample(sampler, 0.5))
    out[1] = vec4(stdlib.sample(cube, sampler, vec3(0.0))) + tex.read(index.xy) + vec4(cube.read(index))

def sampled_as_the_types_say(
    i: Index,
    a: Texture1D[f32, "nearest", "clamp_to_border", "unnormalized"],
    b: Texture2D[vec4, "mirrored_repeat", "linear"],
    c: Texture3D[ivec2, "repeat"],
    d: Texture2D[vec4],
    out: Array[f32],
):
    out[i] = a.sample(f32(i) + 0.5) + b.sample(vec2(0.5)).x + f32(c.sample(vec3(0.5)).y) + d.sample(vec2(1.5)).w
