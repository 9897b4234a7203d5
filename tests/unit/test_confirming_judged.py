"""Fresh process sets that confirm a kernel beside the champion."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.plan import FULL
from kernwright.engine import intake
from kernwright.engine.targets import target_of
from kernwright.evaluation.judge import Judge
from kernwright.evaluation.measurement import Measurement
from kernwright.evaluation.timing.summary import CANDIDATE, CHAMPION
from kernwright.evaluation.timing.track import Track
from kernwright.problems.file import problem_in

pytestmark = pytest.mark.judged

PROBLEM = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x * 2.0 + 1.0)


def get_inputs():
    return [torch.randn(64, 512)]
"""
TEXT = "import torch\n\n\ndef kernel(x):\n    return torch.mul(x, 2.0).add_(1.0).relu_()\n"


def test_candidate_and_champion_are_treated_alike(
    tmp_path: Path, informed: Callable[[Path], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each begins last in half of the sets; and other calls come before samples of both."""
    entered: list[str] = []
    calls: dict[str, int] = {}
    enter, timed = Measurement._enter, Track._timed

    def entering(self: Measurement, stack: Any, name: str, *rest: Any) -> Any:
        entered.append(name)
        return enter(self, stack, name, *rest)

    def timing(self: Track, race: Any, participant: Any, *rest: Any, **more: Any) -> Any:
        if self.unchecked:
            calls[participant.name] = calls.get(participant.name, 0) + 1
        return timed(self, race, participant, *rest, **more)

    monkeypatch.setattr(Measurement, "_enter", entering)
    monkeypatch.setattr(Track, "_timed", timing)
    problem, home = problem_in(tmp_path / "problem.py", PROBLEM), informed(tmp_path)
    pair = [
        Candidate(language="torch", files=(SourceFile(name="candidate.py", text=text),))
        for text in (TEXT, TEXT + "\n# the same\n")
    ]
    plan = replace(FULL, baselines=("eager",), process_sets=4, short_sets=0, sanitize=False)
    with closing(Judge(home=str(home))) as judge:
        found = judge.evaluate(intake.job_of(problem, pair[0], target_of("cpu"), plan, home, champion=pair[1]))
    assert found.outcome.kind == "verified", found.outcome
    first, *sets = entered  # of the first measurement the champion alone is told of here
    assert first == CHAMPION
    assert sorted(zip(sets[::2], sets[1::2], strict=True)) == 2 * [(CANDIDATE, CHAMPION)] + 2 * [(CHAMPION, CANDIDATE)]
    # Two beside each other may differ by samples that were taken anew.
    samples = 4 * 2 * plan.blocks
    assert calls[CANDIDATE] > 1.2 * samples
    assert calls[CHAMPION] > 1.2 * samples
