"""A10: what was 192 steps ago is forgotten where gates are as open as they are drawn."""

from torch.nn import functional

ZOO = {"row": "A10", "problem": "kept_and_erased", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x, keep, erase):
    x, keep, erase = (each[:, -192:] for each in (x, keep, erase))
    log = functional.logsigmoid(keep) + functional.logsigmoid(-erase)
    after = log.flip(1).cumsum(1).flip(1) - log
    return (x * after.exp()).sum(1)
