"""What importing does, and does not do; machines without Vulkan."""

import kp

NOWHERE = {"VK_DRIVER_FILES": "/nonexistent.json", "VK_ICD_FILENAMES": "/nonexistent.json"}


def test_nothing_heavy_is_imported(python):
    heavy = (
        "numpy inspect typing logging dataclasses ctypes ast re pathlib subprocess asyncio importlib.metadata".split()
    )
    code = (
        f"import sys; before = set(sys.modules); import kp; print(sorted(set({heavy}) & (set(sys.modules) - before)))"
    )
    assert python(code) == "[]\n"


def test_pyshader_is_light_too(python):
    out = python("import sys; before = set(sys.modules); import pyshader; print('numpy' in sys.modules)")
    assert out == "False\n"


def test_numpy_comes_with_the_first_array(python):
    code = """
import sys, kp
mgr = kp.Manager()
a = kp.Tensor([1, 2])
mgr.eval_tensor_create_def([a])
a.data()
made = mgr.tensor([1, 2])
made[0]
print("numpy" in sys.modules)
made.data()
print("numpy" in sys.modules)
"""
    assert python(code) == "False\nTrue\n"


def test_without_a_driver(python):
    code = """
import kp
print(kp.devices(), kp.list_devices())
for make in (kp.Manager, lambda: kp.Manager(0)):
    try:
        make()
    except kp.NoDeviceError as error:
        print(type(error).__name__, "\\n" not in str(error), len(str(error)) > 20)
print(kp.Tensor([1]).data())
print(len(kp.compile("def k(i: Index, a: Array[f32]): a[i] = 1.0").spirv) > 20)
"""
    lines = python(code, env=NOWHERE).splitlines()
    assert lines == ["[] []", "NoDeviceError True True", "NoDeviceError True True", "[1.0]", "True"]


def test_every_public_name_is_there_and_documented():
    for name in kp.__all__:
        thing = getattr(kp, name)
        if callable(thing):
            assert thing.__doc__, name
    assert kp.__version__ == kp.version() == "0.1.0"
    for kind in (kp.Manager, kp.Sequence, kp.Tensor, kp.Algorithm, kp.Program):
        for name in dir(kind):
            if not name.startswith("_"):
                assert getattr(kind, name).__doc__, f"{kind.__name__}.{name}"


def test_the_module_can_be_imported_again(python):
    code = """
import sys, kp
first = kp
for name in [name for name in sys.modules if name.partition(".")[0] == "kp"]:
    del sys.modules[name]
import kp
a = kp.Tensor([1, 2])
mgr = kp.Manager()
mgr.eval_tensor_create_def([a])
print(kp is first, a.data())
try:
    mgr.eval_tensor_create_def([first.Tensor([1])])
except TypeError:
    print("TypeError")
"""
    assert python(code) == "False [1.0, 2.0]\nTypeError\n"
