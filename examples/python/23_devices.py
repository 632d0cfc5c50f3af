"""Devices: what this machine has, before any manager is made, and a manager on the one that fits.

You should see a line a device, and then which of them has what the program needs.
"""

import kp

for device in kp.devices():
    extensions = kp.device_extensions(device.index)
    print(f"{device.index}: {device.name}, {device.type}, {device.memory >> 20} MiB, {len(extensions)} extensions")


def wanted(device: kp.Device) -> bool:
    """Any of its properties, limits and features may decide."""
    return device.max_shared_memory >= 16384 and device.max_workgroup_invocations >= 128


fitting = [device for device in kp.devices() if wanted(device)]
with kp.Manager(fitting[0].uuid) as mgr:  # or its index, or a part of its name; without one, $KP_DEVICE or the best
    print("taken:", mgr.device.name, "with", mgr.queue_count, "queue")
