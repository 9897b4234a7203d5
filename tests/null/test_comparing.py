"""Comparisons: the same for all, resumable, honest about what is missing."""

import csv
import json
import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli_runs import PROBLEM, Kernwright
from engine_runs import scripted
from model_runs import LLM, reply, script

from kernwright.core.errors import UserError
from kernwright.core.spec import Budget
from kernwright.engine import comparing, intake, landscape, service
from kernwright.engine.bench import Unwatched
from kernwright.engine.comparing_cells import Cell, Row
from kernwright.engine.comparing_report import figure, markdown, summary_of, tied
from kernwright.store.sql import SqlStore


class Told:
    """Counts; interrupts before the search of this number."""

    watch = Unwatched()

    def __init__(self, stop: int = 0) -> None:
        self.begun: list[Cell] = []
        self._stop = stop

    def begins(self, number: int, total: int, cell: Cell) -> None:
        if self._stop and len(self.begun) + 1 == self._stop:
            raise KeyboardInterrupt
        self.begun.append(cell)

    def ended(self, row: Row) -> None:
        pass


def on_landscape(home: Path, **changes: Any) -> comparing.Asked:
    plain: dict[str, Any] = {
        "home": home, "name": "it", "methods": ("kernwright", "best-of-n"), "problems": ("plain/0", "linked/0"),
        "seeds": 2, "settings": {"budget": Budget(proposals=12)}, "out": home / "out", "rules": {},
        "on_landscape": True,
    }  # fmt: skip
    return comparing.Asked(**plain | changes)


def on_runs(home: Path, problem: Path, **changes: Any) -> comparing.Asked:
    """Real runs whose judge judges nothing."""
    operator = scripted(
        "SPEEDUP = 1.3", "WRONG = True", "SPEEDUP = 2.5", "N = {node}", forever=True, intents="start,improve"
    )
    settings = {
        "target": intake.here()[0], "operators": (operator,), "executor": "inline", "budget": Budget(proposals=4),
        "evaluator": "kernwright.testing.null:NullEvaluator",
    }  # fmt: skip
    return on_landscape(
        home,
        methods=("refine", "best-of-n"),
        problems=(str(problem),),
        settings=settings,
        on_landscape=False,
        **changes,
    )


@pytest.fixture
def problem(tmp_path: Path) -> Path:
    path = tmp_path / "plus.py"
    path.write_text(PROBLEM)
    return path


def row(method: str, problem: str, seed: int, speedup: float | None, **changes: Any) -> Row:
    return Row(method=method, problem=problem, seed=seed, settings="", proposals=10, speedup=speedup, **changes)


def test_a_comparison_on_the_landscape_is_the_same_every_time_and_done_once(tmp_path: Path) -> None:
    first, second = Told(), Told()
    report = comparing.compare(on_landscape(tmp_path), first)
    again = comparing.compare(on_landscape(tmp_path), second)
    assert len(first.begun) == 8
    assert second.begun == []
    assert again == report
    assert comparing.compare(on_landscape(tmp_path / "elsewhere"), Told()).rows == report.rows
    assert all(each.proposals == 12 for each in report.rows)


def test_what_models_read_and_wrote_is_in_the_report(tmp_path: Path, problem: Path) -> None:
    pytest.importorskip("jinja2")
    said = [reply(f"SPEEDUP = 1.{n}", f"idea {n}") for n in range(1, 5)]
    asked = on_runs(tmp_path, problem, seeds=1)
    report = comparing.compare(
        replace(asked, settings={**asked.settings, "operators": (LLM,), "models": (script(tmp_path, *said),)}), Told()
    )
    for each in report.rows:
        assert each.reason == ""
        assert each.proposals == 4
        assert each.tokens_in is not None
        assert each.tokens_in > 4 * 500
        assert each.tokens_out == sum(len(text.encode()) // 4 + 1 for text in said)
    assert f"{report.summaries[0].tokens_in:.0f}" in (tmp_path / "out" / "compare.md").read_text()


def test_ctrl_c_keeps_what_is_finished_and_the_next_call_does_the_rest(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        comparing.compare(on_landscape(tmp_path), Told(stop=4))
    kept = json.loads((tmp_path / "out" / "compare.json").read_text())
    assert (len(kept["rows"]), kept["missing"]) == (3, 5)
    assert "5 searches are still to be done" in (tmp_path / "out" / "compare.md").read_text()
    told = Told()
    assert comparing.compare(on_landscape(tmp_path), told).missing == 0
    assert len(told.begun) == 5


def test_more_seeds_and_another_budget_are_searched_anew_only_where_that_is_needed(tmp_path: Path) -> None:
    comparing.compare(on_landscape(tmp_path), Told())
    more, other = Told(), Told()
    comparing.compare(on_landscape(tmp_path, seeds=3), more)
    assert {cell.seed for cell in more.begun} == {2}
    comparing.compare(on_landscape(tmp_path, settings={"budget": Budget(proposals=5)}), other)
    assert len(other.begun) == 8


def test_runs_are_compared_and_gone_on_with(tmp_path: Path, problem: Path) -> None:
    asked = on_runs(tmp_path / "home", problem)
    with pytest.raises(KeyboardInterrupt):
        comparing.compare(asked, Told(stop=3))
    told = Told()
    report = comparing.compare(asked, told)
    assert len(told.begun) == 2
    assert [(r.method, r.seed, r.proposals, r.reason) for r in report.rows] == [
        ("refine", 0, 4, ""), ("best-of-n", 0, 4, ""), ("refine", 1, 4, ""), ("best-of-n", 1, 4, "")
    ]  # fmt: skip
    independent = next(r for r in report.rows if r.method == "best-of-n")
    assert independent.speedup == 2.5
    assert (independent.to_first, independent.to_second, independent.built, independent.correct) == (1, 3, 4, 3)
    with (tmp_path / "home" / "out" / "compare.csv").open() as file:
        assert [line["run"] for line in csv.DictReader(file)] == [r.run for r in report.rows]
    store = SqlStore(tmp_path / "home")
    assert len(store.runs()) == 4
    store.close()
    graph = service.load(tmp_path / "home", independent.run)
    assert graph.spec is not None
    assert (graph.spec.method, graph.spec.seed) == ("best-of-n", 0)


def test_runs_begun_with_other_settings_are_not_mixed_in(tmp_path: Path, problem: Path) -> None:
    asked = on_runs(tmp_path / "home", problem)
    comparing.compare(asked, Told())
    changed = replace(asked, settings={**asked.settings, "budget": Budget(proposals=5)})
    with pytest.raises(UserError, match="settings or method of 'refine"):
        comparing.compare(changed, Told())


def test_figures_are_medians_over_problems_and_means_over_seeds() -> None:
    rows = [row("m", p, s, v) for s in (0, 1) for p, v in zip("abc", (1.5 + s, 9.0, None), strict=True)]
    first = [row("f", p, s, v) for s in (0, 1) for p, v in zip("abc", (1.5 + s, 3.0, None), strict=True)]
    summary = summary_of("m", rows, first)
    assert summary.speedup is not None
    assert summary.speedup.value == pytest.approx((1.5 + 2.5) / 2)
    assert (summary.speedup.low, summary.speedup.high) == (1.5, 2.5)
    assert summary.against_first is not None
    assert summary.against_first.value == pytest.approx(3 ** (1 / 3))
    assert not tied(summary.against_first)
    assert tied(summary_of("f", first, first).against_first)


def test_what_failed_is_no_figure_but_is_said() -> None:
    rows = [row("m", "a", 0, 2.0), row("m", "b", 0, None, reason="the machine failed")]
    summary = summary_of("m", rows, rows)
    assert (summary.cells, summary.failed) == (1, 1)
    assert summary.speedup is not None
    assert summary.speedup.value == 2.0
    assert summary_of("m", rows[1:], rows).speedup is None


def test_an_interval_holds_the_mean_and_shrinks_with_seeds() -> None:
    few, many = figure([1.0, 2.0, 3.0]), figure([1.0, 2.0, 3.0] * 20)
    assert few is not None
    assert many is not None
    assert few.low is not None
    assert few.high is not None
    assert many.low is not None
    assert many.high is not None
    assert few.low < many.low < 2.0 < many.high < few.high
    assert figure([]) is None
    one = figure([2.0])
    assert one is not None
    assert one.low is None


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"methods": ("funserch",)}, "Did you mean 'funsearch'"),
        ({"methods": ("refine", "refine")}, "'refine' is named twice"),
        ({"problems": ()}, "at least one problem"),
        ({"seeds": 0}, "0 seeds"),
        ({"name": "../x"}, "cannot be a comparison's name"),
    ],
)
def test_what_cannot_be_compared_is_refused(tmp_path: Path, changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        comparing.compare(on_landscape(tmp_path, **changes), Told())


def test_the_command_compares_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernwright = Kernwright(tmp_path / "home", capsys)
    arguments = ("kernwright", "refine", "--landscape", "--problem", "plain", "--seeds", "2", "--proposals", "10")
    said = kernwright("compare", *arguments, "-o", tmp_path / "out")
    assert said.code == 0
    assert max(map(len, said.out.splitlines())) <= 80 + len(str(tmp_path))
    assert "2 problems, 2 seeds, 10 proposals" in said.out
    report = kernwright("compare", *arguments, "-o", tmp_path / "out", "--json").json
    assert {row["method"] for row in report["rows"]} == {"kernwright", "refine"}
    assert "| kernwright |" in (tmp_path / "out" / "compare.md").read_text()
    assert "no family" in kernwright.refused("compare", "refine", "--landscape", "--problem", "hills")
    assert "at least one problem" in kernwright.refused("compare", "refine")


def test_a_folder_that_cannot_be_written_is_known_before_the_work(tmp_path: Path) -> None:
    told = Told()
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="choose another one with --out"):
        comparing.compare(on_landscape(tmp_path, out=tmp_path / "file" / "out"), told)
    assert not told.begun


@pytest.mark.parametrize("option", [["--model", "openai:x"], ["--operator", "tuner"], ["--price", "1,2"]])
def test_nobody_is_asked_to_write_on_the_landscape(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: list[str]
) -> None:
    said = Kernwright(tmp_path, capsys).refused("compare", "eoh", "--landscape", *option)
    assert "On the landscape nobody is asked to write" in said


def test_without_something_that_draws_a_plot_is_refused_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    sentence = Kernwright(tmp_path, capsys).refused("compare", "refine", "--landscape", "--plot")
    assert "pip install 'kernwright[plot]'" in sentence


def test_a_plot_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    comparing.compare(on_landscape(tmp_path, plot=True), Told())
    assert (tmp_path / "out" / "compare.png").read_bytes().startswith(b"\x89PNG")


def test_a_naive_kernel_is_what_a_search_on_the_landscape_begins_with(tmp_path: Path) -> None:
    report = comparing.compare(on_landscape(tmp_path), Told())
    for each in report.rows:
        if each.speedup is not None:
            assert each.speedup_start == pytest.approx(each.speedup / landscape.naive_speedup(each.problem))
    assert math.isclose(landscape.naive_speedup("plain/0"), math.exp(-0.4), rel_tol=0.2)
    assert "| kernwright |" in markdown(report)
