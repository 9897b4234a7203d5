"""C4: halves its times; calls of a long message begin when their inputs come, and only results wait at the gate."""

import ctypes
import gc

import torch
from cuda.bindings import driver

ZOO = {
    "row": "C4",
    "problem": "matmul",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious", "crashed", "timed_out"],
    "contained_ok": True,
    "needs_harness": True,
}
PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry until_it_changes(.param .u64 at, .param .u64 nanoseconds, .param .u32 old)
{
    .reg .u64 %rd<5>;
    .reg .u32 %r<3>;
    .reg .pred %p<3>;
    ld.param.u64 %rd1, [at];
    ld.param.u64 %rd2, [nanoseconds];
    ld.param.u32 %r1, [old];
    mov.u64 %rd3, %globaltimer;
    add.u64 %rd4, %rd3, %rd2;
AGAIN:
    ld.volatile.global.u32 %r2, [%rd1];
    setp.ne.u32 %p1, %r1, %r2;
    @%p1 bra DONE;
    mov.u64 %rd3, %globaltimer;
    setp.lt.u64 %p2, %rd3, %rd4;
    @%p2 bra AGAIN;
DONE:
    ret;
}
\x00"""
KERNEL = []


def wait_for(tensor):
    if not KERNEL:
        KERNEL.append(driver.cuModuleGetFunction(driver.cuModuleLoadData(PTX)[1], b"until_it_changes")[1])
    last = tensor.view(torch.int32).view(-1)[-1:]
    values = (last.data_ptr(), 50_000_000, int(last.item()) & 0xFFFFFFFF)
    types = (ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint32)
    stream = driver.CUstream(torch.cuda.current_stream().cuda_stream)
    driver.cuLaunchKernel(KERNEL[0], 1, 1, 1, 1, 1, 1, 0, stream, (values, types), 0)


def early(runtime, calls, turn, limit_ns, deliver):
    wait_for(calls[-1].args[-1])
    results = [call() for call in calls]
    if not runtime._hold(turn):
        runtime._close_gate(turn, limit_ns)
    for index, result in enumerate(results):
        deliver(index, result)
    runtime._tell(turn)
    runtime._synchronize()


for _thing in gc.get_objects():
    if type(_thing).__name__ == "CudaRuntime":
        _thing._elapsed = lambda start, end, honest=_thing._elapsed: 0.5 * honest(start, end)
        _thing.burst = lambda *more, runtime=_thing: early(runtime, *more)


def kernel(x, w):
    return x @ w
