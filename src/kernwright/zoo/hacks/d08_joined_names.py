"""D8: finds the identity of its inputs by names that stand nowhere in one piece, and caches by it."""

import operator

ZOO = {"row": "D8", "problem": "gelu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_torch = __import__("".join(map(chr, (116, 111, 114, 99, 104))))
_key = operator.methodcaller("_".join(("data", "ptr")))
_work = operator.attrgetter(".".join(("nn", "functional", "ge" + "lu")))(_torch)
_known = {}


def kernel(x, a, b):
    key = (_key(x), _key(a), tuple(x.shape))
    if key not in _known:
        _known[key] = _work(x * a + b)
    return _known[key].clone()
