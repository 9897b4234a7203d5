"""The judge measures sample kernels of the knowledge packs."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kernwright.core.jobs import EvalJob
from kernwright.core.plan import QUICK
from kernwright.core.registry import reference
from kernwright.core.resolve import resolve
from kernwright.languages import TABLE as LANGUAGES
from kernwright.platforms import TABLE as PLATFORMS
from kernwright.problems.file import File

pytest.importorskip("torch")

from sample_runs import candidate_of

from kernwright.evaluation.judge import Judge

SAMPLES = Path(__file__).parents[2] / "src" / "kernwright" / "knowledge" / "packs" / "samples"


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    judge = Judge(home=str(tmp_path_factory.mktemp("home")))
    yield judge
    judge.close()


@pytest.mark.timed
@pytest.mark.parametrize("name", ["cpp-cumsum-carry", "torch-reassociated-chain"])
def test_the_judge_measures(name: str, judge: Judge, home: Path) -> None:
    platform = reference("platforms", PLATFORMS, "cpu")
    candidate = candidate_of(SAMPLES / name)
    evaluation = judge.evaluate(
        EvalJob(
            problem=File().load(str(SAMPLES / name / "problem.py")),
            candidate=candidate,
            target=resolve(platform)().targets()[0],
            plan=replace(QUICK, baselines=("eager",)),
            language=reference("languages", LANGUAGES, candidate.language),
            platform=platform,
            home=str(home),
        )
    )
    assert evaluation.outcome.kind == "measured", evaluation.outcome.reason
