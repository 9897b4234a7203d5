"""The precision rule, set alike in the judge's process and in every runner."""

import warnings

import torch

NARROW = {"float16": torch.float16, "bfloat16": torch.bfloat16}
"""Rules that name a dtype: modules and floating inputs are cast to it, on every side."""


def cast_of(precision: str) -> str | None:
    """Name of the dtype that modules and floating inputs are cast to under this rule."""
    return precision if precision in NARROW else None


def pin(precision: str) -> None:
    """Have PyTorch's own float32 arithmetic use TF32 where the rule is `tf32`, and nowhere else."""
    tf32 = precision == "tf32"
    torch.set_float32_matmul_precision("high" if tf32 else "highest")
    with warnings.catch_warnings():  # newer versions prefer another spelling, which older ones lack
        warnings.simplefilter("ignore")
        torch.backends.cudnn.allow_tf32 = tf32
