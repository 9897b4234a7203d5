"""On a GPU: the knowledge packs' samples for one are judged as anybody's candidates, and verified."""

import os
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

import torch

from kernwright import api
from kernwright.core.outcome import timings_of

pytestmark = [
    pytest.mark.device,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU"),
    pytest.mark.timeout(900),
]
SAMPLES = Path(__file__).parents[2] / "src" / "kernwright" / "knowledge" / "packs" / "samples"
FOLDERS = sorted(path.parent for kind in ("cuda", "triton") for path in SAMPLES.glob(f"{kind}-*/candidate.py"))
PLAN = os.environ.get("KERNWRIGHT_SAMPLES_PLAN", "quick")
"""`full` ends in `verified`, and takes some five times as long."""


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_sample_is_measured(folder: Path, home: Path) -> None:
    major, minor = torch.cuda.get_device_capability()
    target = f"cuda:sm_{major}{minor}{'a' if major >= 9 else ''}"
    evaluation = api.judge(folder / "problem.py", folder / "candidate.py", plan=PLAN, target=target, home=home)
    timings = timings_of(evaluation.outcome)
    print(folder.name, evaluation.outcome.kind, timings.speedup if timings else evaluation.outcome.reason)
    assert evaluation.outcome.kind == ("verified" if PLAN == "full" else "measured"), evaluation.outcome.reason
