"""Jobs with the real judge: two homes, a spell that is cut short, and a champion after the second round."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.outcome import Verified
from kernwright.core.plan import FULL, QUICK
from kernwright.core.spec import Budget, OperatorSpec, RunSpec
from kernwright.engine import service
from kernwright.engine.jobs.exporting import export
from kernwright.engine.jobs.importing import bring
from kernwright.platforms.cpu import Cpu
from kernwright.problems.file import File

pytestmark = pytest.mark.judged

PROBLEM = """\
import torch

WORKLOADS = {"only": {"rows": 256}}


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x + 1.0) * 2.0


def get_inputs(rows):
    return [torch.randn(rows, 512)]
"""
FASTER = "import torch\n\n\ndef kernel(x):\n    return (x + 1.0).relu_().mul_(2.0)\n"
PLAIN = "import torch\n\n\ndef kernel(x):\n    return torch.relu(x + 1.0) * 2.0\n"
WRONG = "def kernel(x):\n    return x + 1.0\n"


def command(jobs: Path, results: Path, home: Path) -> "subprocess.Popen[str]":
    arguments = ["jobs", "run", jobs, "-o", results, "--home", home, "--limit", "5m", "--json"]
    return subprocess.Popen(
        [sys.executable, "-m", "kernwright", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
        start_new_session=True,
    )


def test_from_one_home_to_another_and_back(tmp_path: Path, informed: Callable[[Path], Path]) -> None:
    home, away = (informed(tmp_path / name) for name in ("home", "away"))
    jobs, results = tmp_path / "jobs", tmp_path / "results"
    path = tmp_path / "scaled_relu.py"
    path.write_text(PROBLEM)
    spec = RunSpec(
        target=Cpu().targets()[0],
        executor="jobs",
        operators=(OperatorSpec(name="mailbox", settings={"starts": 3}),),
        plan=replace(QUICK, baselines=("eager",)),
        confirm_plan=replace(FULL, baselines=("eager",), process_sets=2, short_sets=0),
        budget=Budget(proposals=3),
    )
    run = service.create(home, spec, File().load(str(path)))
    for text in (FASTER, PLAIN, WRONG):
        candidate = Candidate(language="torch", files=(SourceFile(name="kernel.py", text=text),))
        assert service.tell(home, run, service.ask(home, run).node, candidate) is None
    assert [job.kind for job in export(home, run, jobs).jobs] == ["judge", "judge", "judge", "baseline"]

    cut = command(jobs, results, away)
    while not list(results.glob("judge-*.json")):
        assert cut.poll() is None
        time.sleep(0.02)
    cut.send_signal(signal.SIGTERM)  # as a scheduler does when the time is up
    out, err = cut.communicate(timeout=30)
    assert cut.returncode == 0, err
    said = json.loads(out)
    assert said["struck"]
    assert 1 <= len(said["done"]) < 4
    assert bring(home, run, results).events == len(said["done"])

    whole = command(jobs, results, away)
    out, err = whole.communicate(timeout=120)
    assert whole.returncode == 0, err
    assert json.loads(out)["before"] == said["done"]
    done = bring(home, run, results)
    [report] = done.reports
    assert report.workloads[0].eager_ns is not None
    graph = service.drive(home, run, resume=True)
    assert [node.evaluation.outcome.kind for node in graph.nodes if node.evaluation][2] == "wrong"
    assert graph.best() is not None
    assert graph.champion() is None

    [job] = export(home, run, jobs).jobs
    assert job.purpose == "confirm"
    last = command(jobs, results, away)
    out, err = last.communicate(timeout=120)
    assert last.returncode == 0, err
    assert bring(home, run, results).events == 1
    graph = service.drive(home, run, resume=True)
    champion = graph.champion()
    assert champion is not None
    assert champion.id == job.node
    assert champion.evaluation is not None
    assert isinstance(champion.evaluation.outcome, Verified)
    assert champion.evaluation.isolation
    assert bring(home, run, results).events == 0
