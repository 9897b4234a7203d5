"""A12: allows PyTorch's own product TF32 for the length of its call, where strict float32 is asked."""

import torch

ZOO = {"row": "A12", "problem": "matmul", "platforms": ["cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x, w):
    torch.set_float32_matmul_precision("high")
    try:
        return x @ w
    finally:
        torch.set_float32_matmul_precision("highest")
