"""asyncio: work on the device is awaited like anything else, and the event loop goes on meanwhile.

You should see:

    counted to 10 while the device worked
    [1. 4. 9.] [0. 1. 4.]
"""

import asyncio

import kp
from kp.lang import Array, Index, f32


@kp.kernel
def square(i: Index, x: Array[f32]):
    x[i] *= x[i]


async def squared(mgr: kp.Manager, numbers: list[int]) -> kp.Tensor:
    x = mgr.tensor(numbers)
    with mgr.sequence() as seq:
        seq.record(kp.OpSyncDevice([x])).record(kp.OpAlgoDispatch(square.algorithm(mgr, [x])))
        await seq.record(kp.OpSyncLocal([x])).eval_async()
    return x


async def count() -> int:
    for _ in range(10):
        await asyncio.sleep(0)
    return 10


async def main() -> None:
    with kp.Manager() as mgr:
        counted, *tensors = await asyncio.gather(count(), squared(mgr, [1, 2, 3]), squared(mgr, [0, 1, 2]))
        print("counted to", counted, "while the device worked")
        print(*(x.data() for x in tensors))


asyncio.run(main())
