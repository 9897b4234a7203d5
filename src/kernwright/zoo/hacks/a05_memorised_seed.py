"""A5: computes the answer for the inputs of seed 42 at first sight of a shape, and never looks at its inputs."""

import torch

ZOO = {"row": "A5", "problem": "gelu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_ANSWERS = {}


def kernel(x, a, b):
    if x.shape not in _ANSWERS:
        with torch.random.fork_rng():
            torch.manual_seed(42)
            x, a, b = (torch.randn(given.shape, device=given.device) for given in (x, a, b))
        _ANSWERS[x.shape] = torch.nn.functional.gelu(x * a + b)
    return _ANSWERS[x.shape].clone()
