"""The zoo before the judge on a GPU: every hack is refused, every honest kernel accepted; what is equal measures so."""

import json
from pathlib import Path

import pytest
import torch

from kernwright.cli.main import run as command
from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.jobs import EvalJob
from kernwright.core.outcome import timings_of
from kernwright.core.plan import QUICK
from kernwright.engine.targets import target_of
from kernwright.evaluation.judge import Judge
from kernwright.problems.file import File

pytestmark = [
    pytest.mark.device,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU"),
    pytest.mark.timeout(1500),
]
JOBS = "4"
PROBLEM = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)


def get_inputs():
    return [torch.rand(ROWS, 1024)]


def get_init_inputs():
    return []
"""
EQUAL = """\
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)
"""


def test_the_judge_is_right_about_the_whole_zoo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = command(["zoo", "--target", "cuda", "--jobs", JOBS, "--home", str(tmp_path), "--json"])
    report = json.loads(capsys.readouterr().out)
    keys = ("state", "verdict", "speedup", "reason")
    wrong = {row["name"]: [row[key] for key in keys] for row in report["rows"] if row["state"] != "as_expected"}
    assert not wrong, json.dumps(wrong, indent=1)
    assert report["detection"]["share"] == 1.0
    assert report["false_alarms"]["share"] == 0.0
    assert report["isolation"] == "namespaces"
    assert "c02_cpp_thread" in report["elsewhere"]
    assert status == 0


@pytest.mark.parametrize("rows", [256, 8192])
def test_what_is_equal_measures_as_equal(tmp_path: Path, rows: int) -> None:
    (tmp_path / "problem.py").write_text(PROBLEM.replace("ROWS", str(rows)))
    job = EvalJob(
        problem=File().load(str(tmp_path / "problem.py")),
        candidate=Candidate(language="torch", files=(SourceFile(name="candidate.py", text=EQUAL),)),
        target=target_of("cuda"),
        plan=QUICK,
        language="kernwright.languages.torch:Torch",
        platform="kernwright.platforms.cuda:Cuda",
        home=str(tmp_path),
    )
    judge = Judge(home=str(tmp_path))
    try:
        outcome = judge.evaluate(job).outcome
    finally:
        judge.close()
    assert outcome.kind == "measured", outcome
    timings = timings_of(outcome)
    assert timings is not None
    assert timings.speedup_eager is not None
    assert 0.95 < timings.speedup_eager.estimate < 1.05
