"""What a worker does before it has an evaluator."""

import io
from typing import Any

import pytest

from kernwright.core.spec import JUDGE
from kernwright.engine.executors import wire, worker
from kernwright.evaluation.participants import launch


@pytest.mark.parametrize(("evaluator", "begun"), [(JUDGE, 1), ("kernwright.testing.null:Null", 0)])
def test_the_judges_launcher_starts_before_the_judge_does(
    evaluator: str, begun: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both import PyTorch, each in a process of its own: one after the other takes twice as long."""
    begins = list[bool]()
    monkeypatch.setattr(launch, "begin", lambda: begins.append(True))
    monkeypatch.setattr("kernwright.evaluation.memory.hold_to_available", lambda: None)
    jobs: Any = io.BytesIO(wire.framed(wire.Begin(evaluator=evaluator, home="home")))
    worker._serve(jobs, io.BytesIO())  # type: ignore[arg-type]
    assert len(begins) == begun
