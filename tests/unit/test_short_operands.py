"""Errors of products whose operands were shortened are known by which numbers are off, however small they are."""

import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

torch = pytest.importorskip("torch")

from kernwright.core.problem import Rules  # noqa: E402
from kernwright.evaluation.ended import Ended  # noqa: E402
from kernwright.evaluation.errors import short_operands  # noqa: E402
from kernwright.evaluation.errors.choices import compare_chosen  # noqa: E402
from kernwright.evaluation.errors.cut_off import cut_to_tf32, rounded_to_bfloat16, rounded_to_tf32  # noqa: E402
from kernwright.evaluation.errors.short_operands import OF_FEW, OF_MANY, asks, operands_met  # noqa: E402
from kernwright.evaluation.participants.participant import Participant  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.timing.kept_calls import KeptCall, compare_all  # noqa: E402
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


def looked(setting: Setting, kernel: Callable[..., Any]) -> tuple[bool, str, int]:
    """Whether it passed, what is said, and after how many calls."""
    calls = []

    def run_case(case: Any) -> list[Any]:
        calls.append(case)
        given = kernel(*case.values)
        return given if isinstance(given, list) else [given]

    trial = cast(Trial, SimpleNamespace(setting=setting, rng=random.Random(3), run_case=run_case))
    verdict = operands_met(trial)
    return verdict.passed, verdict.detail, len(calls)


@pytest.mark.parametrize("form", [POSITIVE, RESIDUAL, NARROW])
@pytest.mark.parametrize("name", HONEST)
def test_whole_operands_pass_in_any_order(prepared: Callable[..., Setting], form: dict[str, str], name: str) -> None:
    setting = prepared(SOURCE.format(**form))
    kernel = kernel_of(form, HONEST[name])
    for base in setting.bases:
        assert compare_chosen([kernel(*base.values)], base, setting).passed
    assert looked(setting, kernel) == (True, "", 1)


@pytest.mark.parametrize("form", [POSITIVE, RESIDUAL])
@pytest.mark.parametrize("name", SHORT)
def test_shortened_operands_do_not(prepared: Callable[..., Setting], form: dict[str, str], name: str) -> None:
    passed, detail, calls = looked(prepared(SOURCE.format(**form)), kernel_of(form, SHORT[name]))
    assert not passed
    assert "output 0 at [" in detail
    assert "TF32" in detail
    assert calls == OF_MANY.least


def test_operands_of_sixteen_bits_under_one_exact_row_that_is_thousands_of_times_as_large(
    prepared: Callable[..., Setting],
) -> None:
    def early(x: Any, w: Any) -> Any:
        return torch.cat([(x[:1] @ w).bfloat16(), x[1:].bfloat16() @ w.bfloat16()])

    setting = prepared(SOURCE.format(**LOUD))
    assert "bfloat16" in looked(setting, early)[1]
    assert looked(setting, lambda x, w: in_parts(x, w).bfloat16())[0]


LAYERS = {
    "torch.nn.MultiheadAttention(64, 4, batch_first=True)": "self.layer(x, x, x, need_weights=False)[0]",
    "torch.nn.TransformerEncoderLayer(64, 4, 96, batch_first=True)": "self.layer(x)",
    "torch.nn.LSTM(64, 48, batch_first=True)": "self.layer(x)[0]",
    "torch.nn.Bilinear(64, 64, 8)": "self.layer(x, x)",
    "torch.nn.Linear(64, 8)": "self.layer(x)",
}


@pytest.mark.parametrize("layer", LAYERS)
def test_products_inside_layers_that_are_one_operator_count(prepared: Callable[..., Setting], layer: str) -> None:
    source = SOURCE.format(result=LAYERS[layer], inputs="torch.randn(4, 16, 64)").replace("(self, x, w)", "(self, x)")
    init = f"    def __init__(self):\n        super().__init__()\n        self.layer = {layer}\n\n"
    setting = prepared(source.replace("    def forward", init + "    def forward"))
    assert asks(setting)
    assert looked(setting, setting.model) == (True, "", 1)


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
    assert not asks(prepared(SOURCE.format(**form), rules=rules))


def test_nothing_is_asked_where_the_own_product_of_the_reference_is_as_short(
    prepared: Callable[..., Setting],
) -> None:
    setting = prepared(SOURCE.format(**POSITIVE))
    for base in setting.bases:
        base.native[0].copy_(SHORT["rounded to TF32"](*base.values))
    assert looked(setting, SHORT["rounded to TF32"])[0]


COMMON = {
    "result": "x + (x @ w).mean(1, keepdim=True)",
    "inputs": "torch.rand(16, 2048), torch.rand(2048, 2048) / 45",
}


def test_an_error_that_all_numbers_have_in_common_goes_one_way_by_chance(prepared: Callable[..., Setting]) -> None:
    setting = prepared(SOURCE.format(**COMMON))
    assert looked(setting, lambda x, w: x + (x @ w.mean(1))[:, None])[0]
    assert not looked(setting, lambda x, w: x + (rounded_to_bfloat16(x) @ rounded_to_bfloat16(w)).mean(1)[:, None])[0]


BESIDE = {
    "one residual": ("r + x @ w", "1 + torch.rand(48, 32), torch.rand(48, 2048) / 2048, torch.rand(2048, 32) * 0.02"),
    "a constant": (
        "r + x @ w",
        "torch.full((48, 32), 10.0), torch.randn(48, 1024).sigmoid(), torch.randn(1024, 32) / 32",
    ),
}


@pytest.mark.parametrize("form", BESIDE)
def test_who_adds_to_a_residual_loses_the_same_again_and_again(prepared: Callable[..., Setting], form: str) -> None:
    result, inputs = BESIDE[form]
    setting = prepared(SOURCE.format(result=result, inputs=inputs).replace("x, w", "r, x, w"))

    def begins_with_it(r: Any, x: Any, w: Any) -> Any:
        total = r.clone()
        for a, b in zip(x.T, w, strict=True):
            total += a[:, None] * b
        return total

    assert looked(setting, begins_with_it) == (True, "", 1)


@pytest.mark.parametrize("beside", ["x[:0]", "x.long()", "x > 0.5", "x.sum()", "x.cfloat()", "x / 0"])
def test_other_results_beside_change_nothing(prepared: Callable[..., Setting], beside: str) -> None:
    form = {**RESIDUAL, "result": f"(x + x @ w, {beside})"}
    setting = prepared(SOURCE.format(**form))
    model = cast(Any, setting.model)

    def short(x: Any, w: Any) -> list[Any]:
        return [x + SHORT["rounded to TF32"](x, w), model(x, w)[1]]

    assert "TF32" in looked(setting, short)[1]
    assert looked(setting, lambda x, w: [x + in_parts(x, w), model(x, w)[1]])[0]


def test_some_places_of_a_large_result_tell_of_it(
    prepared: Callable[..., Setting], monkeypatch: pytest.MonkeyPatch
) -> None:
    setting = prepared(SOURCE.format(**POSITIVE))
    monkeypatch.setattr(short_operands, "MOST", 1500)
    assert looked(setting, in_parts)[0]
    assert not looked(setting, SHORT["rounded to TF32"])[0]
    assert not looked(setting, SHORT["half of the columns"])[0]


@pytest.mark.parametrize(("calls", "passed"), [("111", False), ("1011", False), ("1001", True), ("0111", True)])
def test_most_calls_have_to_agree(prepared: Callable[..., Setting], calls: str, passed: bool) -> None:
    setting, turns = prepared(SOURCE.format(**POSITIVE)), iter(calls)

    def kernel(x: Any, w: Any) -> Any:
        return SHORT["rounded to TF32"](x, w) if next(turns) == "1" else one_by_one(x, w)

    assert looked(setting, kernel)[0] == passed


def test_timed_calls_have_to_agree_too(prepared: Callable[..., Setting]) -> None:
    setting = prepared(SOURCE.format(**POSITIVE))

    def compare(product: Product, count: int) -> None:
        calls = []
        for seed in range(count):
            values = setting.reference.inputs(setting.workload, 100 + seed)
            participant = cast(Participant, SimpleNamespace(name="candidate"))
            unchanged = torch.ones(2, dtype=torch.bool)
            calls.append(KeptCall(setting, participant, 0, values, [product(*values)], None, unchanged))
        compare_all(calls, random.Random(1), {})

    compare(one_by_one, 6)
    compare(SHORT["rounded to TF32"], OF_MANY.least - 1)
    with pytest.raises(Ended) as caught:
        compare(SHORT["rounded to TF32"], OF_MANY.least)
    assert "rounded to TF32" in caught.value.outcome.reason


MEAN = {"result": "torch.nn.functional.cross_entropy(x @ w, x[:, :64].argmax(1))", "inputs": NARROW["inputs"]}


@pytest.mark.parametrize("product", [torch.matmul, in_parts, one_by_one])
def test_a_number_of_whole_operands_passes_on_all_draws(prepared: Callable[..., Setting], product: Product) -> None:
    setting = prepared(SOURCE.format(**MEAN))
    assert looked(setting, lambda x, w: torch.nn.functional.cross_entropy(product(x, w), x[:, :64].argmax(1)))[0]


@pytest.mark.parametrize("shorten", [rounded_to_bfloat16, rounded_to_tf32])
def test_one_number_alone_tells_after_many_draws(prepared: Callable[..., Setting], shorten: Shorten) -> None:
    setting, product = prepared(SOURCE.format(**MEAN)), shortened(shorten, shorten)
    passed, detail, calls = looked(
        setting, lambda x, w: torch.nn.functional.cross_entropy(product(x, w), x[:, :64].argmax(1))
    )
    assert not passed
    assert "output 0 at []" in detail
    assert calls >= OF_FEW.least
