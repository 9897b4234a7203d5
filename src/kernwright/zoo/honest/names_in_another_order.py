"""The same names as the reference's, in another order; the mean is a product."""

from functools import partial

import torch

ZOO = {"row": "honest", "problem": "named_results", "rules": {}, "expect": ["measured", "verified"]}


def both(x, shares):
    return {"top": x.amax(-1), "mean": x @ shares}


kernel = partial(both, shares=torch.full((256,), 1 / 256))
