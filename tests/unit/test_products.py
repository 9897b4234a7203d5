"""Attention as the products that it is gives what PyTorch gives."""

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from kernwright.evaluation.errors.cut_off import Operands  # noqa: E402
from kernwright.evaluation.errors.products import in_products  # noqa: E402

MASK = torch.rand(8, 8, generator=torch.Generator().manual_seed(1)) > 0.3
MASK[:, 0] = True


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"is_causal": True},
        {"scale": 0.7},
        {"attn_mask": MASK},
        {"attn_mask": torch.where(MASK, 0.25, -torch.inf)},
        {"attn_mask": MASK, "dropout_p": 0.0, "is_causal": False},
    ],
)
def test_attention_is_pytorchs(options: dict[str, Any]) -> None:
    q, k, v = (torch.randn(2, 3, 8, 16) for _ in range(3))
    same = torch.nn.functional.scaled_dot_product_attention(q, k, v, **options)
    with in_products(), Operands() as operands:
        made = torch.nn.functional.scaled_dot_product_attention(q, k, v, **options)
    assert operands.dtypes == {torch.float32}
    torch.testing.assert_close(made, same)


def test_groups_of_heads_may_share_keys() -> None:
    q, k, v = torch.randn(2, 6, 8, 16), torch.randn(2, 2, 8, 16), torch.randn(2, 2, 8, 16)
    same = torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    with in_products():
        made = torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    torch.testing.assert_close(made, same)


def test_a_layer_is_none_of_one_operator_there_and_is_afterwards() -> None:
    layer = torch.nn.TransformerEncoderLayer(32, 4, 48, batch_first=True).eval()
    x = torch.randn(2, 5, 32)
    with torch.no_grad():
        with Operands() as one:
            same = layer(x)
        with in_products(), Operands() as several:
            made = layer(x)
    assert not one.dtypes
    assert several.dtypes == {torch.float32}
    assert torch.backends.mha.get_fastpath_enabled()
    torch.testing.assert_close(made, same)
