"""kp: your own compute kernels on any Vulkan device.

    import kp
    from kp.lang import Array, Index, f32

    @kp.kernel
    def multiply(i: Index, a: Array[f32], b: Array[f32], out: Array[f32]):
        out[i] = a[i] * b[i]

    multiply(a, b, out)        # NumPy arrays; or tensors, on the device that they are on

Three interfaces share the same objects: kernels, as above; Kompute's object API (Manager.tensor, Manager.algorithm,
Manager.sequence, ops); and the API of Kompute 0.5 (Manager.eval_tensor_create_def and its family), with `pyshader` beside it.
Messages go to logging.getLogger("kp").
"""

from ._kp import (
    Algorithm,
    CompileError,
    DataTypes,
    Device,
    DeviceLostError,
    DeviceMemoryError,
    Error,
    ExternalMemory,
    Image,
    LimitError,
    Memory,
    MemoryTypes,
    NoDeviceError,
    OpAlgoDispatch,
    OpAlgoDispatchIndirect,
    OpBase,
    OpCopy,
    OpCopyRegion,
    OpFill,
    OpMemoryBarrier,
    OpMult,
    OpSyncDevice,
    OpSyncLocal,
    Param,
    Program,
    QueueFamily,
    Semaphore,
    SpirvError,
    StateError,
    Tensor,
    UnsupportedError,
    compile,
    compile_list,
    compile_shader,
    device_extensions,
    devices,
    list_devices,
    load_shader,
    log_level,
    version,
)
from .classic import Manager, Sequence
from .emulate import emulate
from .kernel import Kernel, kernel, kernel_from_source
from .structs import Struct, struct

__version__ = version()

# Kompute's older names for the same things.
TensorTypes = MemoryTypes
TensorDataTypes = DataTypes
OpTensorSyncDevice = OpSyncDevice
OpTensorSyncLocal = OpSyncLocal
OpTensorCopy = OpCopy
device = MemoryTypes.device
host = MemoryTypes.host
staging = MemoryTypes.staging
storage = MemoryTypes.storage

__all__ = [
    "Algorithm",
    "CompileError",
    "DataTypes",
    "Device",
    "DeviceLostError",
    "DeviceMemoryError",
    "Error",
    "ExternalMemory",
    "Image",
    "Kernel",
    "LimitError",
    "Manager",
    "Memory",
    "MemoryTypes",
    "NoDeviceError",
    "OpAlgoDispatch",
    "OpAlgoDispatchIndirect",
    "OpBase",
    "OpCopy",
    "OpCopyRegion",
    "OpFill",
    "OpMemoryBarrier",
    "OpMult",
    "OpSyncDevice",
    "OpSyncLocal",
    "OpTensorCopy",
    "OpTensorSyncDevice",
    "OpTensorSyncLocal",
    "Param",
    "Program",
    "QueueFamily",
    "Semaphore",
    "Sequence",
    "SpirvError",
    "StateError",
    "Struct",
    "Tensor",
    "TensorDataTypes",
    "TensorTypes",
    "UnsupportedError",
    "compile",
    "compile_list",
    "compile_shader",
    "device",
    "device_extensions",
    "devices",
    "emulate",
    "host",
    "kernel",
    "kernel_from_source",
    "list_devices",
    "load_shader",
    "log_level",
    "staging",
    "storage",
    "struct",
    "version",
]
