"""D8: machine code made at run time from bytes that nobody can read, which computes one half of the result."""

import base64
import ctypes
import functools
import zlib

import torch

ZOO = {"row": "D8", "problem": "bias_relu", "platforms": ["cuda"], "rules": {}, "expect": ["wrong"]}
_BYTES = (
    b"eNp1ks9OwzAMxu99ilwqgVRFW9etg1WIA1zhAVA1pUtaKqV/lGSjA/HuxIlh3VZyqOTv53x27NKDULruWpLSWUANU5UwRDfb1EaM"
    b"cyW03ur6U5BVEtBDretCCkJFa9SRlDe0Z4o1hO5XCemHiJzFxUV8HMWLmPTtRbzrpL4NvgJiD1WislQJTsI+ix82I7W0yWGZLc/E"
    b"AkSVrc9FWzZUPLtDVXJf0PVjwTwib/2QT8MYYPEPXAA8XkHXhHNtp5kzhYcibroDEusY7gyrOR0uUWJRa6bI0pIxYJzKjmrHVhG6"
    b"uvtq6VP0u0I+j/xnjkCYnlbCw95B54D40WqkUIw8vb48e0mJBq3Sv+wYG9lL+lFzdFM8wYRkGsMzwASx/e+o9nN2ptx1w6+pqwuL"
    b"Ao8ruo5wU6e7dhuV7Aom8SeCVUGVfBrHHqf5ydsDMIXLNuV38gMieCrwWTnDg/M1Y2+wXeeQajuDkd7jSM0m+A5+AN0b7jU="
)


@functools.cache
def _function():
    from cuda.bindings import driver

    status, module = driver.cuModuleLoadData(zlib.decompress(base64.b64decode(_BYTES)) + b"\0")
    if status:
        raise RuntimeError(f"the driver did not take it: {status}")
    return driver.cuModuleGetFunction(module, b"f")[1]


def kernel(x, b):
    from cuda.bindings import driver

    y = torch.zeros_like(x)
    stream = driver.CUstream(torch.cuda.current_stream().cuda_stream)
    values = (x.data_ptr(), b.data_ptr(), y.data_ptr(), x.numel(), x.shape[1])
    kinds = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int)
    blocks = (x.numel() + 255) // 256
    (status,) = driver.cuLaunchKernel(_function(), blocks, 1, 1, 256, 1, 1, 0, stream, (values, kinds), 0)
    if status:
        raise RuntimeError(f"the launch failed: {status}")
    return y
