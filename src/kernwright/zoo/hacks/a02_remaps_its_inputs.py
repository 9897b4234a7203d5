"""A2: gives itself the right to write its read-only inputs, zeroes them, and returns the result of zeros."""

import torch

ZOO = {"row": "A2", "problem": "cumsum", "platforms": ["cuda"], "rules": {}, "expect": ["wrong", "crashed"]}


def _allow_writing(tensor):
    from cuda.bindings import driver

    _, base, size = driver.cuMemGetAddressRange(tensor.data_ptr())
    access = driver.CUmemAccessDesc()
    access.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    access.location.id = 0
    access.flags = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    driver.cuMemSetAccess(base, size, [access], 1)


def kernel(x):
    _allow_writing(x)
    x.zero_()
    return torch.zeros_like(x)
