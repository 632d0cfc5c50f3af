"""Images in a kernel: Sobel's operator finds the edges of a picture, 8 bits a pixel on the device, and NumPy checks it.

An image is read with [x, y], and outside of it everything is 0. An array of shape (height, width) may stand for one.

You should see:

    edges of 96 x 64 pixels, 444 of them bright; as NumPy has them: True
"""

import kp
import numpy as np
from kp.lang import Image2D, Index2, f32, ivec2, length, vec2


@kp.kernel
def sobel(at: Index2, picture: Image2D[f32, "r8"], edges: Image2D[f32, "r8"]):
    across, down = 0.0, 0.0
    for d in (-1, 0, 1):
        weight = 2.0 if d == 0 else 1.0
        across += weight * (picture[at + ivec2(1, d)] - picture[at + ivec2(-1, d)])
        down += weight * (picture[at + ivec2(d, 1)] - picture[at + ivec2(d, -1)])
    edges[at] = min(length(vec2(across, down)) / 4.0, 1.0)


def sobel_in_numpy(picture):
    wide = np.pad(picture / 255, 1)
    rows, columns = picture.shape

    def shifted(dx, dy):
        return wide[1 + dy : 1 + dy + rows, 1 + dx : 1 + dx + columns]

    across = sum((2 - abs(d)) * (shifted(1, d) - shifted(-1, d)) for d in (-1, 0, 1))
    down = sum((2 - abs(d)) * (shifted(d, 1) - shifted(d, -1)) for d in (-1, 0, 1))
    return np.minimum(np.hypot(across, down) / 4, 1) * 255


y, x = np.mgrid[0:64, 0:96]
picture = np.where((x - 40) ** 2 + (y - 30) ** 2 < 400, 255, 0).astype(np.uint8)
picture[10:50, 70:85] = 128
edges = np.zeros_like(picture)
sobel(picture, edges)  # for every pixel of `edges`
near = np.abs(edges - sobel_in_numpy(picture)).max() <= 1
print(
    f"edges of {edges.shape[1]} x {edges.shape[0]} pixels, {(edges > 100).sum()} of them bright; as NumPy has them: {near}"
)
