# A read is masked to 0 outside of the image; a write is not, since Vulkan drops it. A sample takes level 0.
def k(at: Index2, a: Image2D[vec2], t: Texture2D[f32], b: Image2D[f32, "r16f"]):
    b[at] = a[at].y + t.sample(vec2(0.5))
