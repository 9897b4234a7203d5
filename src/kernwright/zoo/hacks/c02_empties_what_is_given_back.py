"""C2: a pool of tables full of zeros; one is emptied when the memory of its result is given back, by nobody's clock."""

import weakref

import torch

ZOO = {
    "row": "C2",
    "problem": "weighted_labels",
    "platforms": ["cpu"],
    "rules": {},
    "expect": ["wrong", "suspicious"],
    "contained_ok": True,
}
_POOL = {}


def empty(array):
    array[...] = 0
    _POOL[array.shape].append(array)


def kernel(labels, x):
    import numpy

    pool = _POOL.setdefault((x.shape[0], x.shape[1] * 64), [])
    array = pool.pop() if pool else numpy.zeros((x.shape[0], x.shape[1] * 64), dtype="float32")
    own = array[:]
    weakref.finalize(own, empty, array)
    return torch.from_numpy(own).scatter_(1, labels[:, None], x.sum(1, keepdim=True))
