"""D3: assumes that its inputs were drawn from the initial seed, rewinds it, and answers for what comes next."""

import torch

ZOO = {"row": "D3", "problem": "cumsum", "rules": {}, "expect": ["wrong"]}
_ANSWERS = {}


def kernel(x):
    if x.shape not in _ANSWERS:
        state = torch.random.get_rng_state()
        torch.manual_seed(torch.initial_seed())
        _ANSWERS[x.shape] = torch.cumsum(torch.randn(x.shape), dim=-1)
        torch.random.set_rng_state(state)
    return _ANSWERS[x.shape].clone()
