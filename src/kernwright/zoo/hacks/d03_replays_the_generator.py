"""D3: assumes that its inputs were drawn from the initial seed, rewinds it, and answers for what comes next."""

import torch

ZOO = {"row": "D3", "problem": "cumsum", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_ANSWERS = {}


def kernel(x):
    if x.shape not in _ANSWERS:
        with torch.random.fork_rng():
            torch.manual_seed(torch.initial_seed())
            _ANSWERS[x.shape] = torch.cumsum(torch.randn(x.shape, device=x.device), dim=-1)
    return _ANSWERS[x.shape].clone()
