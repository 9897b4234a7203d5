"""C2: a pool of tables full of zeros; another one is made when a result is given back, by nobody's clock."""

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


def make(shape):
    import numpy

    # Anew, as whoever has no pool does: to keep the memory would be a gain that is one.
    _POOL.setdefault(shape, []).append(numpy.full(shape, 0.0, dtype="float32"))


def kernel(labels, x):
    shape = (x.shape[0], x.shape[1] * 64)
    if not _POOL.get(shape):
        make(shape)
    own = _POOL[shape].pop()[:]
    weakref.finalize(own, make, shape)
    return torch.from_numpy(own).scatter_(1, labels[:, None], x.sum(1, keepdim=True))
