"""A kernel that keeps the device busy for a given time: host work is hidden behind it. Both halves of the platform."""

import base64
import ctypes
import os

from cuda.bindings import driver

VARIABLE = "KERNWRIGHT_SPIN"
"""Environment variable in which runners are told the kernel, compiled."""
_PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry spin(.param .u64 nanoseconds)
{
    .reg .u64 %rd<4>;
    .reg .pred %p<2>;
    ld.param.u64 %rd1, [nanoseconds];
    mov.u64 %rd2, %globaltimer;
    add.u64 %rd3, %rd2, %rd1;
AGAIN:
    mov.u64 %rd2, %globaltimer;
    setp.lt.u64 %p1, %rd2, %rd3;
    @%p1 bra AGAIN;
    ret;
}
\x00"""


def compiled() -> str:
    """For the current device, as text for the variable; empty where the driver's linker does not work."""
    status, state = driver.cuLinkCreate(0, [], [])
    if status != driver.CUresult.CUDA_SUCCESS:
        return ""
    try:
        kind = driver.CUjitInputType.CU_JIT_INPUT_PTX
        if driver.cuLinkAddData(state, kind, _PTX, len(_PTX), b"spin", 0, [], [])[0] != driver.CUresult.CUDA_SUCCESS:
            return ""
        status, address, size = driver.cuLinkComplete(state)
        if status != driver.CUresult.CUDA_SUCCESS:
            return ""
        return base64.b64encode(ctypes.string_at(address, size)).decode()
    finally:
        driver.cuLinkDestroy(state)


def told() -> bytes:
    """What the variable holds, else text that the driver compiles."""
    return base64.b64decode(os.environ.get(VARIABLE, "")) or _PTX
