"""A kernel that keeps the device busy until a word in the host's memory says to go on, or until a time is over.

Host work is hidden behind it. One block reads the host's word and passes it on in the device's own memory, where the
others look. Both halves of the platform.
"""

import base64
import ctypes
import os

from cuda.bindings import driver

VARIABLE = "KERNWRIGHT_GATE"
"""Environment variable in which runners are told the kernel, compiled."""
_PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry gate(.param .u64 nanoseconds, .param .u64 told, .param .u64 relay, .param .u32 turn)
{
    .reg .u64 %rd<6>;
    .reg .u32 %r<5>;
    .reg .pred %p<5>;
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra OPEN;
    ld.param.u64 %rd1, [nanoseconds];
    ld.param.u64 %rd2, [told];
    ld.param.u64 %rd3, [relay];
    ld.param.u32 %r2, [turn];
    mov.u64 %rd4, %globaltimer;
    add.u64 %rd5, %rd4, %rd1;
    mov.u32 %r3, %ctaid.x;
    setp.ne.u32 %p2, %r3, 0;
    @%p2 bra FOLLOW;
LEAD:
    ld.volatile.global.u32 %r4, [%rd2];
    setp.eq.u32 %p3, %r4, %r2;
    @%p3 bra TELL;
    mov.u64 %rd4, %globaltimer;
    setp.lt.u64 %p4, %rd4, %rd5;
    @%p4 bra LEAD;
TELL:
    st.volatile.global.u32 [%rd3], %r2;
    bra OPEN;
FOLLOW:
    ld.volatile.global.u32 %r4, [%rd3];
    setp.eq.u32 %p3, %r4, %r2;
    @%p3 bra OPEN;
    mov.u64 %rd4, %globaltimer;
    setp.lt.u64 %p4, %rd4, %rd5;
    @%p4 bra FOLLOW;
OPEN:
    bar.sync 0;
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
        if driver.cuLinkAddData(state, kind, _PTX, len(_PTX), b"gate", 0, [], [])[0] != driver.CUresult.CUDA_SUCCESS:
            return ""
        status, address, size = driver.cuLinkComplete(state)
        if status != driver.CUresult.CUDA_SUCCESS:
            return ""
        return base64.b64encode(ctypes.string_at(address, size)).decode()
    finally:
        driver.cuLinkDestroy(state)


PARAMETERS = ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint32
"""Of what the kernel is given: the limit in nanoseconds, where the host's word and its relay lie, and the turn."""


def told() -> bytes:
    """What the variable holds, else text that the driver compiles."""
    return base64.b64decode(os.environ.get(VARIABLE, "")) or _PTX
