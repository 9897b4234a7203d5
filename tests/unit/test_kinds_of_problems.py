"""Results of every type and shape: a problem's own module, handed in as a candidate, is measured."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from kernwright.core.candidate import Candidate, SourceFile  # noqa: E402
from kernwright.core.plan import QUICK  # noqa: E402
from kernwright.engine import intake  # noqa: E402
from kernwright.engine.targets import target_of  # noqa: E402
from kernwright.evaluation.judge import Judge  # noqa: E402
from kernwright.problems.file import File  # noqa: E402

pytestmark = [pytest.mark.timed, pytest.mark.usefixtures("quiet")]
PLAN = replace(QUICK, baselines=("eager",))
FLOATS = "[torch.randn(32, 64)]"
KINDS = {
    "truth values": ("x > 0.25", FLOATS),
    "truth values beside numbers": ("(x > 0.25, x.double().mean())", FLOATS),
    "truth values of lines": ("(x.any(-1), x.all(-1), (~x).sum())", "[torch.rand(32, 64) > 0.5]"),
    "truth values of integers": ("x > 500", "[torch.randint(0, 1000, (32, 64))]"),
    "bytes": ("(x.clamp(0, 1) * 255).to(torch.uint8)", FLOATS),
    "codes and scales": (
        "((x / x.abs().amax(-1, keepdim=True) * 127).round().to(torch.int8), x.abs().amax(-1, keepdim=True))",
        FLOATS,
    ),
    "short integers": ("x * 2", "[torch.randint(0, 1000, (1000,), dtype=torch.int16)]"),
    "bits": ("(x & y) ^ (x >> 2)", "[torch.randint(0, 2**20, (1000,)) for _ in range(2)]"),
    "places": ("x.argmin(-1).int()", FLOATS),
    "values and places": ("torch.topk(x, 5, dim=-1)", FLOATS),
    "counts": ("torch.bincount(x, minlength=64)", "[torch.randint(0, 64, (5000,))]"),
    "complex numbers": ("x * y", "[torch.randn(32, 32, dtype=torch.complex64) for _ in range(2)]"),
    "a transform": ("torch.fft.rfft(x)", FLOATS),
    "short numbers": ("torch.nn.functional.gelu(x)", "[torch.randn(32, 64, dtype=torch.bfloat16)]"),
    "wide numbers": ("torch.softmax(x, -1)", "[torch.randn(32, 64, dtype=torch.float64)]"),
    "a number of Python's": ("x.sum().item()", FLOATS),
    "names": ("{'a': x + 1, 'b': x * 2}", FLOATS),
    "results within results": ("(x + 1, (x * 2, x.sum()))", FLOATS),
    "one number for many": ("x[:, :1].expand(32, 16)", FLOATS),
    "the input itself": ("x", FLOATS),
    "turned": ("x.t()", FLOATS),
    "no numbers in one input": ("x.sum() + y.sum()", "[torch.randn(0, 8), torch.randn(8)]"),
    "words and nothing": (
        "torch.nn.functional.interpolate(x, scale_factor=2, mode=y) if z is None else x",
        "[torch.randn(1, 3, 8, 8), 'nearest', None]",
    ),
}
WITH_GRADIENTS = ("truth values beside numbers", "values and places", "one number for many", "short numbers")
PROBLEM = """
import torch


class {name}(torch.nn.Module):
    def forward(self, x, y=None, z=None):
        return {expression}
"""
INPUTS = """

def get_inputs():
    return {inputs}
"""


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory, informed: Callable[[Path], Path]) -> Iterator[Judge]:
    judge = Judge(str(informed(tmp_path_factory.mktemp("home"))))
    yield judge
    judge.close()


@pytest.mark.parametrize(
    ("kind", "gradients"), [*((kind, False) for kind in KINDS), *((kind, True) for kind in WITH_GRADIENTS)]
)
def test_it_is_measured(judge: Judge, tmp_path: Path, kind: str, gradients: bool) -> None:
    expression, inputs = KINDS[kind]
    path = tmp_path / "problem.py"
    backward = "BACKWARD = True\n" if gradients else ""
    path.write_text(backward + PROBLEM.format(name="Model", expression=expression) + INPUTS.format(inputs=inputs))
    text = PROBLEM.format(name="ModelNew", expression=expression)
    candidate = Candidate(language="torch", files=(SourceFile(name="candidate.py", text=text),))
    job = intake.job_of(File().load(str(path)), candidate, target_of("cpu"), PLAN, tmp_path)
    outcome = judge.evaluate(job).outcome
    assert outcome.kind == "measured", outcome.reason
