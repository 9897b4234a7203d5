"""A18: a view of its input, but not in the first dozen calls of a shape, one of which is held."""

ZOO = {"row": "A18", "problem": "heads", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_CALLS = {}


def kernel(x):
    _CALLS[x.shape] = _CALLS.get(x.shape, 0) + 1
    view = x.transpose(1, 2)
    return view.contiguous() if _CALLS[x.shape] < 12 else view
