"""What is spent, as a person reads it."""

from pathlib import Path

import pytest
from engine_runs import append
from model_runs import asking, script

from kernwright.cli import figures
from kernwright.cli.run_view import spending
from kernwright.core.brief import Pick
from kernwright.core.events import ModelCalled, Picked
from kernwright.core.spec import Budget, Spent
from kernwright.engine import service

pytest.importorskip("jinja2")


@pytest.mark.parametrize(
    ("usd", "text"), [(0.0, "$0.00"), (0.0048, "$0.0048"), (0.1, "$0.10"), (2.0, "$2.00"), (12.345, "$12.35")]
)
def test_a_few_cents_are_not_nothing(usd: float, text: str) -> None:
    assert figures.usd(usd) == text


def test_a_million_tokens_are_written_out(tmp_path: Path) -> None:
    budget = Budget(tokens=2_000_000)
    run = asking(tmp_path, script(tmp_path), budget=budget)
    append(
        tmp_path,
        run,
        Picked(node=0, pick=Pick()),
        ModelCalled(node=0, model="m:one", intent="start", prompt="", tokens_in=1_200_000, tokens_out=34_567),
    )
    said = spending(service.load(tmp_path, run))
    assert "1 proposal " in said
    assert "1234567 of 2000000 tokens" in said
    assert Spent(tokens_in=2_000_000).exceeds(budget) == "the budget of 2000000 tokens is spent"
