"""One tensor in two processes: the parent's memory goes to the child as a file descriptor, and the child's kernel works on it.

Nothing is copied. The device must be one that shares memory by file descriptor; another one says what it lacks.
"""

import multiprocessing
import os
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle, send_handle

import kp
from kp.lang import Array, Index, f32


@kp.kernel
def add_hundred(i: Index, x: Array[f32]):
    x[i] = x[i] + 100.0


def child(link: Connection) -> None:
    """Has a manager of its own, on the same device."""
    fd, rest = recv_handle(link), link.recv()
    mgr = kp.Manager()
    same = mgr.import_tensor(kp.ExternalMemory((fd, *rest)), 3)
    os.close(fd)
    add_hundred(same)  # a call waits until it is done
    link.send("done")


def main() -> None:
    mgr = kp.Manager()
    try:
        x = mgr.exportable(3)
    except kp.UnsupportedError as error:
        print("not on this device:", error)
        return
    x.data()[:] = [1, 2, 3]
    mgr.sequence().eval(kp.OpSyncDevice([x]))

    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=child, args=(theirs,))  # a fork cannot use Vulkan
    process.start()
    theirs.close()
    memory = x.export()
    send_handle(ours, memory.fd, process.pid)
    ours.send(tuple(memory)[1:])
    os.close(memory.fd)
    assert ours.recv() == "done"
    process.join()

    mgr.sequence().eval(kp.OpSyncLocal([x]))
    print(x.data())
    assert x.data().tolist() == [101, 102, 103]


if __name__ == "__main__":
    main()
