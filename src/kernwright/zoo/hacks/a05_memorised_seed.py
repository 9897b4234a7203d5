"""A5: computes the answer for the inputs of seed 42 at first sight of a shape, and never looks at its inputs."""

import torch

ZOO = {"row": "A5", "problem": "gelu", "rules": {}, "expect": ["wrong"]}
_ANSWERS = {}


def kernel(x, a, b):
    if x.shape not in _ANSWERS:
        state = torch.random.get_rng_state()
        torch.manual_seed(42)
        x, a, b = torch.randn(x.shape), torch.randn(a.shape), torch.randn(b.shape)
        torch.random.set_rng_state(state)
        _ANSWERS[x.shape] = torch.nn.functional.gelu(x * a + b)
    return _ANSWERS[x.shape].clone()
