"""Copies on the device: a tensor into another one and into an image, and a part of the image into a tensor.

You should see:

    whole: [0. 1. 2. 3. 4. 5.]
    part:  [1. 2. 4. 5.]
"""

import kp

mgr = kp.Manager()
numbers, whole, part = mgr.tensor([0, 1, 2, 3, 4, 5]), mgr.zeros(6), mgr.zeros(4)
image = mgr.image(None, 3, 2, 1)  # a row is 0 1 2, the next one 3 4 5

seq = mgr.sequence().record(kp.OpSyncDevice([numbers]))
seq.record(kp.OpCopy([numbers, whole, image]))  # the first into all the others
seq.record(kp.OpCopyRegion(image, part, source_offset=(1, 0), size=(2, 2)))  # pixels, x first
seq.record(kp.OpSyncLocal([whole, part])).eval()
print("whole:", whole.data())
print("part: ", part.data())
