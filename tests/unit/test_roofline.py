"""What a reference computes, counted without running it, and where that puts a call under the roofs."""

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from kernwright.core.problem import Problem, Workload  # noqa: E402
from kernwright.core.profile import Profile  # noqa: E402
from kernwright.evaluation.problem.reference import Reference  # noqa: E402
from kernwright.evaluation.roofline import Work, roofline, work_of  # noqa: E402
from kernwright.search.diagnosis import diagnose  # noqa: E402

GATE = Path(__file__).parents[2] / "examples" / "rmsnorm_gate.py"
SOURCE = """
import torch
class Model(torch.nn.Module):
    def forward(self, x, y):
        return BODY
def get_inputs():
    return [torch.rand(64, 32) * 2 - 1, torch.rand(64, 32)]
"""
EACH = 64 * 32
PEAKS = {"bytes_per_s": 1e12, "float32": 1e13}


def work(body: str, source: str = SOURCE, params: dict[str, int] | None = None) -> Work:
    load = Workload(name="w", params=params or {})
    reference = Reference(Problem(name="p", source=source.replace("BODY", body), workloads=(load,)))
    try:
        return work_of(reference, load)
    finally:
        reference.close()


def test_elementwise_work_and_reductions_are_counted() -> None:
    rows, cols = 1024, 2048
    found = work("", GATE.read_text(), {"rows": rows, "cols": cols})
    assert found.flops == 7 * rows * cols + 2 * rows  # one number a row has its epsilon and its root
    assert roofline(found, {})["intensity"] == pytest.approx(0.35, rel=0.01)


@pytest.mark.parametrize(
    ("body", "operations"),
    [
        ("(x.exp() + y).sum()", 3 * EACH),
        ("torch.softmax(x, -1)", EACH),
        ("torch.cumsum(x, -1)", EACH),
        ("x + y[:, :1]", EACH),
        ("torch.cat([x, y.flip(0)]).t().contiguous()", 0),
        ("torch.zeros_like(x).copy_(y)", 0),
        ("x @ y.t()", 2 * EACH * 64),
        ("torch.relu(x @ y.t())", 2 * EACH * 64 + 64 * 64),
    ],
)
def test_one_operation_an_element_and_operator(body: str, operations: int) -> None:
    assert work(body).flops == operations  # what get_inputs() computes is no part of the call


def test_products_alone_stand_against_the_peak() -> None:
    alone, long = work("x + y"), work("x" + ".sin()" * 200)
    for found in (alone, long):
        counters = roofline(found, PEAKS, time_ns=10.0)
        assert counters["reach"] == 0
        assert "compute_roof" not in counters
    assert roofline(long, PEAKS)["intensity"] > roofline(long, PEAKS)["ridge"] / 2
    idle = {"tensor_busy": 0.0, "tensor_instructions": 0.0}
    diagnosis = diagnose(Profile(counters={**roofline(long, PEAKS, time_ns=10.0), **idle}))
    assert diagnosis is None or not {"compute", "tensor-cores-idle"} & set(diagnosis.bottlenecks)


def test_a_product_is_held_against_the_peak_without_what_follows_it() -> None:
    plain, more = work("x @ y.t()"), work("torch.relu(x @ y.t())")
    assert more.products == plain.products == 2 * EACH * 64
    assert roofline(more, PEAKS, 1e3)["compute_roof"] == roofline(plain, PEAKS, 1e3)["compute_roof"]
