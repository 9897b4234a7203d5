"""A14: calls cuBLAS through ctypes, where no profile of PyTorch's operators sees it."""

import ctypes
import functools

import torch

ZOO = {
    "row": "A14",
    "problem": "matmul",
    "platforms": ["cuda"],
    "rules": {"vendor_libraries": "forbidden"},
    "expect": ["wrong", "suspicious"],
}
_ONE, _NOTHING = ctypes.c_float(1.0), ctypes.c_float(0.0)


@functools.cache
def _sgemm():
    with open("/proc/self/maps") as maps:
        path = next(line.split()[-1] for line in maps if "libcublas.so" in line)
    return ctypes.CDLL(path).cublasSgemm_v2


def kernel(x, w):
    (m, k), n = x.shape, w.shape[1]
    y = torch.empty(m, n, device=x.device)
    handle = ctypes.c_void_p(torch.cuda.current_blas_handle())
    right, left, out = (ctypes.c_void_p(tensor.data_ptr()) for tensor in (w, x, y))
    one, nothing = ctypes.byref(_ONE), ctypes.byref(_NOTHING)
    _sgemm()(handle, 0, 0, n, m, k, one, right, n, left, k, nothing, out, n)
    return y
