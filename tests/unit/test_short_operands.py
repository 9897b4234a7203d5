"""Errors of products whose operands were shortened are known by which numbers are off, however small they are."""

import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

torch = pytest.importorskip("torch")

from kernwright.core.problem import Rules  # noqa: E402
from kernwright.evaluation.choices import compare_chosen  # noqa: E402
from kernwright.evaluation.closely import closely_near  # noqa: E402
from kernwright.evaluation.cut_off import cut_to_tf32, rounded_to_bfloat16, rounded_to_tf32  # noqa: E402
from kernwright.evaluation.setting import Setting  # noqa: E402
from kernwright.evaluation.short_operands import asks, few_results_met, operands_met  # noqa: E402
from kernwright.evaluation.trial import Trial  # noqa: E402

SOURCE = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x, w):
        return {result}


def get_inputs():
    return [{inputs}]
"""
POSITIVE = {"result": "x @ w", "inputs": "torch.rand(128, 2048), torch.rand(2048, 96)"}
RESIDUAL = {"result": "x + x @ w", "inputs": "torch.randn(128, 256), torch.randn(256, 256) / 4000"}
NARROW = {"result": "(x @ w).bfloat16()", "inputs": "torch.randn(64, 512), torch.randn(512, 96)"}
LOUD = {
    "result": "(x @ w).bfloat16()",
    "inputs": "torch.randn(64, 512) * torch.eye(64)[:, :1].mul(8000).add(1), torch.randn(512, 96)",
}
Product = Callable[[Any, Any], Any]
Shorten = Callable[[Any], Any]


def whole(x: Any) -> Any:
    return x


def in_parts(x: Any, w: Any) -> Any:
    return sum(a @ b for a, b in zip(x.chunk(8, 1), w.chunk(8, 0), strict=True))


def one_by_one(x: Any, w: Any) -> Any:
    total = torch.zeros(x.shape[0], w.shape[1])
    for a, b in zip(x.T, w, strict=True):
        total += a[:, None] * b
    return total


def three_times(shorten: Shorten) -> Product:
    def product(x: Any, w: Any) -> Any:
        a, b = shorten(x), shorten(w)
        return a @ shorten(w - b) + shorten(x - a) @ b + a @ b

    return product


def shortened(first: Shorten, second: Shorten) -> Product:
    return lambda x, w: first(x) @ second(w)


HONEST = {
    "as PyTorch": torch.matmul,
    "in parts": in_parts,
    "one by one": one_by_one,
    "three of TF32": three_times(rounded_to_tf32),
    "in float64": lambda x, w: (x.double() @ w.double()).float(),
}
SHORT = {
    "rounded to TF32": shortened(rounded_to_tf32, rounded_to_tf32),
    "cut off to TF32": shortened(cut_to_tf32, cut_to_tf32),
    "in float16": shortened(lambda x: (x * 64).half().float() / 64, lambda x: (x * 64).half().float() / 64),
    "weights alone": shortened(whole, rounded_to_tf32),
    "half of the columns": lambda x, w: (
        torch.cat([rounded_to_tf32(x) @ rounded_to_tf32(w[:, ::2]), x @ w[:, 1::2]], 1)
        .view(len(x), 2, -1)
        .transpose(1, 2)
        .reshape(len(x), -1)
    ),
}


def kernel_of(form: dict[str, str], product: Product) -> Product:
    if form is RESIDUAL:
        return lambda x, w: x + product(x, w)
    if form is NARROW:
        return lambda x, w: product(x, w).bfloat16()
    return product


@pytest.mark.parametrize("form", [POSITIVE, RESIDUAL, NARROW])
@pytest.mark.parametrize("name", HONEST)
def test_whole_operands_pass_in_any_order(prepared: Callable[..., Setting], form: dict[str, str], name: str) -> None:
    setting = prepared(SOURCE.format(**form))
    for base in setting.bases:
        outputs = [kernel_of(form, HONEST[name])(*base.values)]
        assert compare_chosen(outputs, base, setting).passed
        assert operands_met(setting, base, outputs).passed


@pytest.mark.parametrize("form", [POSITIVE, RESIDUAL])
@pytest.mark.parametrize("name", SHORT)
def test_shortened_operands_do_not(prepared: Callable[..., Setting], form: dict[str, str], name: str) -> None:
    setting = prepared(SOURCE.format(**form))
    base = setting.bases[0]
    outputs = [kernel_of(form, SHORT[name])(*base.values)]
    assert not closely_near(setting, base, outputs)
    verdict = operands_met(setting, base, outputs)
    assert not verdict.passed
    assert "output 0 at [" in verdict.detail
    assert "TF32" in verdict.detail


def test_operands_of_sixteen_bits_under_one_exact_row_that_is_thousands_of_times_as_large(
    prepared: Callable[..., Setting],
) -> None:
    setting = prepared(SOURCE.format(**LOUD))
    base = setting.bases[0]
    x, w = base.values
    early = torch.cat([(x[:1] @ w).bfloat16(), x[1:].bfloat16() @ w.bfloat16()])
    assert "bfloat16" in operands_met(setting, base, [early]).detail
    assert operands_met(setting, base, [in_parts(x, w).bfloat16()]).passed


@pytest.mark.parametrize(
    ("form", "rules"),
    [
        (POSITIVE, Rules(precision="tf32")),
        (POSITIVE, Rules(reduced_precision=True)),
        ({**POSITIVE, "result": "(x.bfloat16() @ w.bfloat16()).float()"}, Rules()),
        ({**POSITIVE, "result": "x.sum(1)[:, None] + w.sum(0)"}, Rules()),
        ({**POSITIVE, "inputs": "torch.rand(8, 64).double(), torch.rand(64, 8).double()"}, Rules()),
    ],
)
def test_nothing_is_asked_where_rules_allow_it_or_the_reference_does_it_or_makes_no_product(
    prepared: Callable[..., Setting], form: dict[str, str], rules: Rules
) -> None:
    setting = prepared(SOURCE.format(**form), rules=rules)
    assert not asks(setting, setting.bases[0])


def test_nothing_is_asked_where_the_own_product_of_the_reference_is_as_short(
    prepared: Callable[..., Setting],
) -> None:
    setting = prepared(SOURCE.format(**POSITIVE))
    base = setting.bases[0]
    base.native[0].copy_(SHORT["rounded to TF32"](*base.values))
    assert operands_met(setting, base, [SHORT["rounded to TF32"](*base.values)]).passed


MEAN = {"result": "torch.nn.functional.cross_entropy(x @ w, x[:, :64].argmax(1))", "inputs": NARROW["inputs"]}


@pytest.mark.parametrize("product", [torch.matmul, in_parts, one_by_one])
def test_a_number_of_whole_operands_passes_on_all_draws(prepared: Callable[..., Setting], product: Product) -> None:
    assert few_results_met(mean_of(prepared, product)).passed


@pytest.mark.parametrize("shorten", [rounded_to_bfloat16, rounded_to_tf32])
def test_one_number_alone_tells_after_several_draws(prepared: Callable[..., Setting], shorten: Shorten) -> None:
    verdict = few_results_met(mean_of(prepared, shortened(shorten, shorten)))
    assert not verdict.passed
    assert "output 0 at []" in verdict.detail


def mean_of(prepared: Callable[..., Setting], product: Product) -> Trial:
    """What looks at a kernel for it."""
    setting = prepared(SOURCE.format(**MEAN))

    def run_case(case: Any, *, move: bool) -> list[Any]:
        x, w = case.values
        return [torch.nn.functional.cross_entropy(product(x, w), x[:, :64].argmax(1))]

    return cast(Trial, SimpleNamespace(setting=setting, rng=random.Random(3), run_case=run_case))
