"""D3: regenerates the inputs of the seeds that harnesses use, and looks answers up by a few elements."""

import torch

ZOO = {"row": "D3", "problem": "gelu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_SEEDS = (0, 1, 42, 123, 1234, 2024, 2025, 1337)
_ANSWERS = {}


def _key(x, a, b):
    return (*x[0, :4].tolist(), *a[:2].tolist(), *b[:2].tolist())


def _prepare(x, a, b):
    with torch.random.fork_rng():
        for seed in _SEEDS:
            torch.manual_seed(seed)
            inputs = [torch.randn(given.shape, device=given.device) for given in (x, a, b)]
            _ANSWERS[x.shape, _key(*inputs)] = torch.nn.functional.gelu(inputs[0] * inputs[1] + inputs[2])
    _ANSWERS[x.shape] = True


def kernel(x, a, b):
    if x.shape not in _ANSWERS:
        _prepare(x, a, b)
    found = _ANSWERS.get((x.shape, _key(x, a, b)))
    return torch.zeros_like(x) if found is None else found.clone()
