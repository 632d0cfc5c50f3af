"""An image: a shader blurs it, reading through a sampler that repeats the edge, and writing a storage image.

You should see:

    [[ 0  0  0  0  0]
     [ 0 28 28 28  0]
     [ 0 28 28 28  0]
     [ 0 28 28 28  0]
     [ 0  0  0  0  0]]
"""

import kp
import numpy as np

BLUR = """
#version 450
layout(binding = 0) uniform sampler2D image;
layout(binding = 1, rgba8) uniform writeonly image2D blurred;
void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    vec4 sum = vec4(0);
    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++)
            sum += texture(image, (vec2(at + ivec2(x, y)) + 0.5) / vec2(imageSize(blurred)));
    imageStore(blurred, at, sum / 9.0);
}
"""

pixels = np.zeros((5, 5, 4), dtype=np.uint8)
pixels[2, 2] = 255

mgr = kp.Manager()
image = mgr.image_t(pixels, 5, 5, 4, normalized=True)
blurred = mgr.image_t(np.zeros_like(pixels), 5, 5, 4, normalized=True)
blur = mgr.algorithm([image, blurred], kp.compile_shader(BLUR), workgroup=(5, 5, 1))
(mgr.sequence()
    .record(kp.OpSyncDevice([image]))
    .record(kp.OpAlgoDispatch(blur))
    .record(kp.OpSyncLocal([blurred]))
    .eval())  # fmt: skip
print(np.asarray(blurred)[:, :, 0])
