"""Memory, semaphores and Vulkan's handles that kp shares with others: other managers, processes, libraries."""

import ctypes
import os
import pickle
import socket
import subprocess
import sys

import kp
import numpy as np
import pytest

COUNT = 1000

CHILD = """
import array, os, pickle, socket, sys
import kp, numpy as np
link = socket.socket(fileno=int(sys.argv[1]))
data, fds, _, _ = socket.recv_fds(link, 4096, 1)
memory = kp.ExternalMemory((fds[0], *pickle.loads(data)[1:]))
mgr = kp.Manager()
x = mgr.import_tensor(memory, 1000, np.uint32)
os.close(fds[0])
mgr.sequence().eval(kp.OpSyncLocal([x]))
assert (x.data() == np.arange(1000, dtype=np.uint32)).all()
x.data()[:] *= 3
mgr.sequence().eval(kp.OpSyncDevice([x]))
"""


@pytest.fixture
def shared(mgr):
    """An exportable tensor with 0, 1, 2 ... on the device; skips where the device has none, after a look at its words."""
    try:
        x = mgr.exportable(COUNT, "uint32")
    except kp.UnsupportedError as error:
        assert "lacks VK_KHR_external_memory_fd" in str(error)
        pytest.skip(str(error))
    x.data()[:] = np.arange(COUNT)
    mgr.sequence().eval(kp.OpSyncDevice([x]))
    return x


def test_two_managers_have_one_memory(mgr, shared):
    memory = shared.export()
    assert (memory.handle, memory.device_uuid) == ("opaque_fd", mgr.device.uuid)
    other = kp.Manager()
    y = other.import_tensor(memory, (10, 100), np.uint32)
    os.close(memory.fd)
    other.sequence().eval(kp.OpSyncLocal([y]))
    assert (np.asarray(y) == np.arange(COUNT).reshape(10, 100)).all()
    y.data()[...] = 7
    other.sequence().eval(kp.OpSyncDevice([y]))
    mgr.sequence().eval(kp.OpSyncLocal([shared]))
    assert (shared.data() == 7).all()
    shared.destroy()  # the other side keeps the memory
    other.sequence().eval(kp.OpSyncLocal([y]))
    assert (np.asarray(y) == 7).all()


def test_two_processes_have_one_memory(mgr, shared):
    memory = shared.export()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        child = subprocess.Popen([sys.executable, "-c", CHILD, str(theirs.fileno())], pass_fds=[theirs.fileno()])
        socket.send_fds(ours, [pickle.dumps(tuple(memory))], [memory.fd])
        os.close(memory.fd)
        assert child.wait(60) == 0
    mgr.sequence().eval(kp.OpSyncLocal([shared]))
    assert (shared.data() == 3 * np.arange(COUNT, dtype=np.uint32)).all()


def test_a_view_says_where_it_lies(mgr, shared):
    whole, part = shared.export(), shared[256:300].export()
    assert (part.offset - whole.offset, part.size) == (1024, whole.size)
    y = mgr.import_tensor(part, 44, "uint32")
    for memory in (whole, part):
        os.close(memory.fd)
    mgr.sequence().eval(kp.OpSyncLocal([y]))
    assert y.data()[0] == 256


def test_wrong_memory_is_refused(mgr, shared):
    memory = shared.export()
    other_device = kp.ExternalMemory((*memory[:6], "0" * 31 + "1", *memory[7:]))
    with pytest.raises(ValueError, match="the memory is of the device 0*1, the manager's is "):
        mgr.import_tensor(other_device, COUNT, "uint32")
    with pytest.raises(ValueError, match=r"the buffer needs \d+ bytes from 0 on, the memory has \d+"):
        mgr.import_tensor(memory, 10 * COUNT, "uint32")
    with pytest.raises(ValueError, match="file descriptor -1: Bad file descriptor"):
        mgr.import_tensor(kp.ExternalMemory((-1, *memory[1:])), COUNT, "uint32")
    with pytest.raises(ValueError, match="'nonsense' is none of opaque_fd, dma_buf"):
        mgr.import_tensor(kp.ExternalMemory((memory.fd, "nonsense", *memory[2:])), COUNT, "uint32")
    with pytest.raises(ValueError, match="'xyz' is not a UUID"):
        mgr.import_tensor(kp.ExternalMemory((*memory[:7], "xyz", *memory[8:])), COUNT, "uint32")
    with pytest.raises(ValueError, match="memory: 'buffer' is none of tensor, image, unknown"):
        mgr.import_tensor(kp.ExternalMemory((*memory[:8], "buffer", None)), COUNT, "uint32")
    assert (memory.kind, memory.image) == ("tensor", None)
    with pytest.raises(TypeError, match="image 'image': the memory is that of a tensor"):
        mgr.import_image(memory, 10, 10, 1)
    with pytest.raises(TypeError, match=r"memory: must be a kp.ExternalMemory, not <class 'tuple'>"):
        mgr.import_tensor(tuple(memory), COUNT, "uint32")
    os.close(memory.fd)
    with pytest.raises(kp.StateError, match="was not made to be exported"):
        mgr.tensor([1]).export()
    with pytest.raises(kp.StateError, match="has no device memory; call"):
        kp.Tensor([1.0]).export()
    with pytest.raises(ValueError, match="handle: 'socket' is none of opaque_fd, dma_buf"):
        mgr.exportable(3, handle="socket")


def test_two_managers_have_one_image(mgr):
    pixels = np.arange(48, dtype=np.uint8).reshape(3, 4, 4)
    try:
        x = mgr.image_t(pixels, 4, 3, 4, normalized=True, exported=True)
    except kp.UnsupportedError as error:
        assert "VK_KHR_external_memory_fd" in str(error)
        return
    mgr.sequence().eval(kp.OpSyncDevice([x]))
    memory = x.export()
    assert (memory.handle, memory.offset, memory.dedicated) == ("opaque_fd", 0, True)
    other = kp.Manager()
    assert (memory.kind, memory.image) == ("image", ("u8", True, 4, 4, 3, 0))
    is_of = "the memory is that of one of 4 x 3 pixels of 4 normalized u8"
    for form in (
        (3, 4, 4, "uint8", True),
        (4, 3, 4, "uint8", False),
        (4, 3, 1, "uint32", False),
        (12, 1, 4, "uint8", True),
    ):
        with pytest.raises(ValueError, match=f"image 'image' is to be .*, {is_of}"):
            other.import_image(memory, *form[:4], normalized=form[4])
    with pytest.raises(
        TypeError, match="tensor 'tensor': the memory is that of an image, of 4 x 3 pixels of 4 normalized u8"
    ):
        other.import_tensor(memory, 48, np.uint8)
    unknown = kp.ExternalMemory((*memory[:8], "unknown", None))
    with pytest.raises(ValueError, match="the image needs"):
        other.import_image(unknown, 400, 300, 4, np.uint8)
    for image in (
        None,
        ("u8", True, 4, 4),
        ("u9", True, 4, 4, 3, 0),
        ("u8", True, -1, 4, 3, 0),
        ("u8", True, 2**40, 4, 3, 0),
    ):
        with pytest.raises((TypeError, ValueError), match="memory: "):
            other.import_image(kp.ExternalMemory((*memory[:9], image)), 4, 3, 4, "uint8", normalized=True)
    with pytest.raises(ValueError, match="num_channels: must be 1 to 4, not 0"):
        other.import_image(memory, 4, 3, 0)
    y = other.import_image(memory, 4, 3, 4, "uint8", normalized=True, filter="linear")
    os.close(memory.fd)
    assert (y.normalized, y.filter, y.shape) == (True, "linear", (3, 4, 4))
    other.sequence().eval(kp.OpSyncLocal([y]))
    assert (np.asarray(y) == pixels).all()
    y.data()[:] = 9
    other.sequence().eval(kp.OpSyncDevice([y]))
    mgr.sequence().eval(kp.OpSyncLocal([x]))
    assert (x.data() == 9).all()
    for plain in (y, mgr.image(None, 4, 4, 1)):
        with pytest.raises(kp.StateError, match="was not made to be exported"):
            plain.export()
    x.destroy()
    with pytest.raises(kp.StateError, match="the image is destroyed"):
        x.export()


def test_a_timeline_goes_between_host_and_device(mgr):
    go, done = mgr.semaphore(), mgr.semaphore(10)
    x = mgr.tensor([1, 2, 3])
    seq = mgr.sequence().record(kp.OpSyncDevice([x])).record(kp.OpMult([x, x, x])).record(kp.OpSyncLocal([x]))
    assert seq.submit(waits=[(go, 1)], signals=[(done, 11)]) is seq
    assert seq.is_running()
    with pytest.raises(TimeoutError, match="did not reach 11 within 1000 ns"):
        done.wait(11, 1000)
    assert done.value == 10
    go.signal(1)
    done.wait(11)
    seq.eval_await()
    assert list(x.data()) == [1, 4, 9]
    with pytest.raises(ValueError, match="its value is 11, which cannot become 11"):
        done.signal(11)
    with pytest.raises(ValueError, match="the value of semaphore '.*' is 11, which cannot become 2$"):
        seq.submit(signals=[(done, 2)])
    seq.submit(signals=[(done, 12)]).eval_await()
    done.wait(12)  # Mesa's drivers signal the fence first, and the semaphore a little later
    assert done.value == 12


def test_semaphores_are_checked(mgr):
    binary, timeline = mgr.semaphore(binary=True), mgr.semaphore(1)
    assert (binary.binary, timeline.binary) == (True, False)
    seq = mgr.sequence()
    for wrong in ([timeline], [(timeline,)], [3], [(3, 4)]):
        with pytest.raises(TypeError, match=r"waits: must be tuples of a kp.Semaphore and a value, or binary"):
            seq.submit(wrong)
    with pytest.raises(ValueError, match=r"signals: must be from 0 to 2\*\*64 - 1"):
        seq.submit(signals=[(timeline, -1)])
    with pytest.raises(ValueError, match="waits: at most 64, not 65"):
        seq.submit([binary] * 65)
    with pytest.raises(TypeError, match="is binary: the host cannot see it"):
        print(binary.value)
    with pytest.raises(kp.StateError, match="was not made to be exported"):
        timeline.export_fd()
    with pytest.raises(ValueError, match="belongs to another manager"):
        seq.submit([(kp.Manager().semaphore(), 1)])
    with pytest.raises(ValueError, match=r"signals\[0\] and signals\[1\] are one semaphore"):
        seq.submit(signals=[(timeline, 5), (timeline, 6)])
    with pytest.raises(ValueError, match=r"waits\[0\] and waits\[1\] are one binary semaphore"):
        seq.submit([binary, binary])
    with pytest.raises(ValueError, match="cannot become 9 after a wait for 9"):  # or it would never begin
        seq.submit([(timeline, 9)], [(timeline, 9)])
    assert not seq.is_running()
    seq.submit([(timeline, 0), (timeline, 1)], [(timeline, 2)]).eval_await()
    seq.submit(signals=[binary]).eval_await()  # no ops, and work all the same
    seq.submit(waits=[binary]).eval_await()
    timeline.destroy()
    with pytest.raises(kp.StateError, match="the semaphore is destroyed"):
        print(timeline.value)
    with pytest.raises(kp.StateError, match="the semaphore is destroyed"):
        seq.submit([(timeline, 1)])
    mgr.destroy()
    with pytest.raises(kp.StateError):
        binary.export_fd()


def test_semaphores_are_shared_or_the_extension_named(mgr):
    try:
        ours = mgr.semaphore(binary=True, exported="opaque_fd")  # or True
    except kp.UnsupportedError as error:
        assert "lacks VK_KHR_external_semaphore_fd" in str(error)
        return
    other = kp.Manager()
    fd = ours.export_fd()
    theirs = other.import_semaphore(fd, binary=True)
    os.close(fd)
    for _ in range(3):
        first = mgr.sequence().submit(signals=[ours])
        other.sequence().submit(waits=[theirs]).eval_await()
        first.eval_await()


def test_sync_files_are_signals_or_the_lack_is_named(mgr):
    """No CPU driver has them; tests/gpu/test_external.c tries them behind a layer that does."""
    other = kp.Manager()
    with pytest.raises(ValueError, match="exported: 'dma_buf' is none of opaque_fd, sync_fd"):
        mgr.semaphore(exported="dma_buf")
    with pytest.raises(ValueError, match="handle: 'x' is none of opaque_fd, sync_fd"):
        mgr.import_semaphore(-1, handle="x")
    try:
        ours = mgr.semaphore(exported="sync_fd")
    except kp.UnsupportedError as error:
        assert "VK_KHR_external_semaphore_fd" in str(error)
        with pytest.raises(kp.UnsupportedError, match="VK_KHR_external_semaphore_fd"):
            other.import_semaphore(-1, handle="sync_fd")
        return
    assert ours.binary
    with pytest.raises(kp.StateError, match="has no signal to export"):
        ours.export_fd()
    for _ in range(3):
        first = mgr.sequence().submit(signals=[ours])
        fd = ours.export_fd()
        theirs = other.import_semaphore(fd, handle="sync_fd")
        assert theirs.binary
        if fd != -1:
            os.close(fd)
        other.sequence().submit(waits=[theirs]).eval_await()
        first.eval_await()


# ----------------------------------------------------------------------------------------------------------------------
# Vulkan's handles
# ----------------------------------------------------------------------------------------------------------------------


def test_a_manager_on_the_device_of_another(mgr):
    """As a library that has a Vulkan device of its own would hand it over: by numbers."""
    handles = mgr.vulkan()
    assert handles["queues"] and all(queue and family >= 0 for queue, family in handles["queues"])
    adopted = kp.Manager.from_vulkan(**handles, label="adopted")
    assert type(adopted) is kp.Manager
    assert (adopted.device.name, adopted.device.float64) == (mgr.device.name, mgr.device.float64)
    x = adopted.tensor([1, 2, 3])
    adopted.sequence().record(kp.OpSyncDevice([x])).record(kp.OpMult([x, x, x])).record(kp.OpSyncLocal([x])).eval()
    assert list(x.data()) == [1, 4, 9]
    adopted.destroy()
    y = mgr.tensor([2])  # and it goes on
    mgr.sequence().record(kp.OpSyncDevice([y])).record(kp.OpMult([y, y, y])).record(kp.OpSyncLocal([y])).eval()
    assert list(y.data()) == [4]


def test_what_is_not_enabled_is_not_used(mgr):
    adopted = kp.Manager.from_vulkan(**(mgr.vulkan() | {"features": 0, "extensions": ()}))
    assert not (adopted.device.float64 or adopted.device.int64 or adopted.device.float16)
    program = kp.compile("def k(i: Index, x: Array[i64]):\n    x[i] = x[i] + 1\n")
    with pytest.raises(kp.UnsupportedError, match="shaderInt64"):
        adopted.algorithm([adopted.zeros(3, "int64")], program)


def test_bad_handles_are_refused(mgr):
    handles = mgr.vulkan()
    for name in ("instance", "physical_device", "device"):
        with pytest.raises(ValueError, match=f"{name} is VK_NULL_HANDLE"):
            kp.Manager.from_vulkan(**(handles | {name: 0}))
    with pytest.raises(ValueError, match="there are no queues"):
        kp.Manager.from_vulkan(**(handles | {"queues": []}))
    with pytest.raises(ValueError, match="there is no queue family 99"):
        kp.Manager.from_vulkan(**(handles | {"queues": [(handles["queues"][0][0], 99)]}))
    with pytest.raises(TypeError, match="queues: must be tuples of a handle and a family"):
        kp.Manager.from_vulkan(**(handles | {"queues": [(1, 2, 3)]}))
    with pytest.raises(ValueError, match=r"is 1.0; 1.1 is needed"):
        kp.Manager.from_vulkan(**(handles | {"api_version": 1 << 22}))


def test_the_handles_are_vulkans(mgr):
    """The device answers to its numbers: vkGetBufferMemoryRequirements knows the tensor's buffer."""
    handles, x = mgr.vulkan(), mgr.tensor([0] * 100)
    get = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(handles["get_instance_proc_addr"])
    requirements = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p)(
        get(handles["instance"], b"vkGetBufferMemoryRequirements")
    )
    needs = (ctypes.c_uint64 * 3)()
    buffer = x.vulkan()
    requirements(handles["device"], buffer["buffer"], needs)
    assert needs[0] >= buffer["size"] == 400
    assert buffer["memory"] and buffer["memory_offset"] % 4 == 0
    assert x[64:80].vulkan()["memory_offset"] == buffer["memory_offset"] + 256
    assert mgr.semaphore().vulkan()
    image = mgr.image([0.0] * 6, 3, 2, 1).vulkan()
    assert image["image"] and image["view"] and image["layout"] == 1  # VK_IMAGE_LAYOUT_GENERAL


def test_a_pipe_is_no_memory():
    mgr = kp.Manager()
    try:
        memory = mgr.exportable(3).export()
    except kp.UnsupportedError:
        return
    reader, writer = os.pipe()
    with pytest.raises(ValueError, match=f"the file descriptor {reader} is a pipe, not memory"):
        mgr.import_tensor(kp.ExternalMemory((reader, *memory[1:])), 3)
    for fd in (reader, writer, memory.fd):
        os.close(fd)
