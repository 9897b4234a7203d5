"""Written in PTX, which the driver turns into machine code at the first call."""

import ctypes
import functools

import torch

ZOO = {
    "row": "honest",
    "problem": "bias_relu",
    "platforms": ["cuda"],
    "rules": {"vendor_libraries": "forbidden"},
    "expect": ["measured", "verified"],
}
_PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry bias_relu(.param .u64 px, .param .u64 pb, .param .u64 py, .param .u32 pn, .param .u32 pcols)
{
    .reg .pred %p<2>;
    .reg .f32 %f<5>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [px];
    ld.param.u64 %rd2, [pb];
    ld.param.u64 %rd3, [py];
    ld.param.u32 %r1, [pn];
    ld.param.u32 %r2, [pcols];
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.s32 %r6, %r3, %r4, %r5;
    setp.ge.s32 %p1, %r6, %r1;
    @%p1 bra DONE;
    rem.s32 %r7, %r6, %r2;
    mul.wide.s32 %rd4, %r6, 4;
    mul.wide.s32 %rd5, %r7, 4;
    add.s64 %rd6, %rd1, %rd4;
    add.s64 %rd7, %rd2, %rd5;
    add.s64 %rd8, %rd3, %rd4;
    ld.global.f32 %f1, [%rd6];
    ld.global.f32 %f2, [%rd7];
    add.f32 %f3, %f1, %f2;
    max.f32 %f4, %f3, 0f00000000;
    st.global.f32 [%rd8], %f4;
DONE:
    ret;
}
\x00"""


@functools.cache
def _function():
    from cuda.bindings import driver

    status, module = driver.cuModuleLoadData(_PTX)
    if status:
        raise RuntimeError(f"the driver did not take it: {status}")
    return driver.cuModuleGetFunction(module, b"bias_relu")[1]


def kernel(x, b):
    from cuda.bindings import driver

    y = torch.empty_like(x)
    stream = driver.CUstream(torch.cuda.current_stream().cuda_stream)
    values = (x.data_ptr(), b.data_ptr(), y.data_ptr(), x.numel(), x.shape[1])
    kinds = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int)
    blocks = (x.numel() + 255) // 256
    (status,) = driver.cuLaunchKernel(_function(), blocks, 1, 1, 256, 1, 1, 0, stream, (values, kinds), 0)
    if status:
        raise RuntimeError(f"the launch failed: {status}")
    return y
