"""Layers of attention as the products that they are, which PyTorch makes in one operator."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode


@contextmanager
def in_products() -> Iterator[None]:
    """So that each product of a reference is seen, and its operands are those that kernels have."""
    usual = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with _Plain():
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(usual)


class _Plain(TorchFunctionMode):
    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = kwargs or {}
        if func is torch.nn.functional.scaled_dot_product_attention and _is_usual(*args, **given):
            return _attention(*args, **given)
        return func(*args, **given)


def _is_usual(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, *more: Any, **named: Any
) -> bool:
    """Nothing drops out, no tensor is nested, and a mask is one tensor and all that hides places."""
    causal = more[0] if more else named.get("is_causal", False)
    usual = dropout_p == 0.0 and not any(t.is_nested for t in (query, key, value))
    return usual and (attn_mask is None or (type(attn_mask) is torch.Tensor and not causal))


def _attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """As PyTorch documents it. Its own form in operators scales queries and keys before their product, so that other
    bits of them are lost than kernels lose. A query that may look nowhere gives zeros."""
    if enable_gqa:
        key, value = (t.repeat_interleave(query.shape[-3] // t.shape[-3], -3) for t in (key, value))
    scores = query @ key.transpose(-2, -1) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if is_causal:
        attn_mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        scores = scores.masked_fill(~attn_mask, -math.inf)
    elif attn_mask is not None:
        scores = scores + attn_mask
    hidden = (scores == -math.inf).all(-1, keepdim=True)
    return torch.softmax(scores, -1).masked_fill(hidden, 0.0) @ value
