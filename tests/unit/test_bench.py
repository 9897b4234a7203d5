"""A bench over many problems: rows, totals, and going on where it stopped. Nothing is judged for real here."""

import csv
import io
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from bench_runs import PROBLEM, Ground, Watched
from rich.console import Console
from scipy.stats import t

from kernwright.cli.bench_view import view
from kernwright.core.brief import Pick, Proposed
from kernwright.core.errors import MachineFault, RunLocked, UserError
from kernwright.core.events import Drafted, Entry, Evaluated, Picked
from kernwright.core.graph import Graph, fold
from kernwright.core.outcome import Evaluation, Interval, Measured, Timings, Verified
from kernwright.core.report import Finding
from kernwright.core.spec import Budget, RunSpec
from kernwright.engine import bench
from kernwright.engine.bench import Bench, report_of
from kernwright.engine.bench_ledger import Settings, opened
from kernwright.engine.bench_report import COMPILE_EARLIER, Row, markdown, row_of, totals
from kernwright.evaluation.timing.summary import with_left_out
from kernwright.platforms.cpu import Cpu
from kernwright.store.sql import SqlStore
from kernwright.testing.null import null_timings


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    ground = Ground(tmp_path)
    ground.problem("1_Fast", "SPEEDUP = 2.5")
    ground.problem("2_Wrong", "WRONG = True")
    ground.problem("3_Broken", text="def get_inputs(:\n")
    ground.problem("10_Slow", "SPEEDUP = 0.8")
    return ground


def verdicts(rows: tuple[Row, ...]) -> dict[str, str]:
    return {row.problem.removeprefix("level1/"): row.verdict for row in rows}


def runs(home: Path) -> list[str]:
    store = SqlStore(home)
    try:
        return list(store.runs())
    finally:
        store.close()


def row(problem: str, speedup: float | None = None, eager: float | None = None, **changes: object) -> Row:
    def interval(value: float | None) -> Interval | None:
        return Interval(estimate=value, low=value * 0.9, high=value * 1.1, n=5) if value else None

    plain = {"verdict": "verified" if speedup else "wrong", "reason": "", "correct": bool(speedup)}
    known = {"speedup": interval(speedup), "speedup_eager": interval(eager), "verified": bool(speedup)}
    return Row(problem=problem, **plain | known | changes)  # type: ignore[arg-type]


def test_a_failure_is_a_row_and_never_the_end(ground: Ground) -> None:
    report = ground.bench()
    assert verdicts(report.rows) == {
        "1_Fast": "verified",
        "2_Wrong": "wrong",
        "3_Broken": "not_run",
        "10_Slow": "verified",
    }
    fast, wrong, broken, slow = report.rows
    assert (fast.faster, slow.faster, wrong.correct) == (True, False, False)
    assert fast.speedup == Interval(estimate=2.5, low=2.5 * 0.99, high=2.5 * 1.01, n=8)
    assert "3_Broken.py is not Python: line 1" in broken.reason
    assert wrong.reason == "wrong as ordered"
    assert report.unexamined == tuple(row.problem for row in report.rows)
    assert report.headline.correct.count == report.headline.verified.count == 2


def test_figures_over_problems_are_what_they_say() -> None:
    rows = [row("a", 2.0, 3.0), row("b", 1.2, 1.6), row("c"), row("d", 0.9, 1.1)]
    found = totals(rows)
    assert (found.correct.count, found.correct.of, found.correct.share) == (3, 4, 0.75)
    assert found.correct.low == pytest.approx(0.3006, abs=1e-3)  # Wilson's interval for 3 of 4
    assert found.correct.high == pytest.approx(0.9544, abs=1e-3)
    faster, eager, _ = found.against
    assert {name: part.count for name, part in faster.fast.items()} == {
        "fast_0": 3,
        "fast_1": 2,
        "fast_1.5": 1,
        "fast_2": 0,
    }
    assert {part.of for part in faster.fast.values()} == {4}
    assert [part.count for part in eager.fast.values()] == [3, 3, 2, 1]
    logs = [math.log(x) for x in (2.0, 1.2, 0.9)]
    mean = sum(logs) / 3
    half = float(t.ppf(0.975, 2)) * math.sqrt(sum((x - mean) ** 2 for x in logs) / 2 / 3)
    assert faster.correct is not None
    assert faster.all is not None
    assert (faster.correct.estimate, faster.correct.n) == (pytest.approx(math.exp(mean)), 3)
    assert faster.correct.low == pytest.approx(math.exp(mean - half))
    assert faster.correct.high == pytest.approx(math.exp(mean + half))
    assert (faster.all.estimate, faster.all.n) == (pytest.approx((2.0 * 1.2 * 0.9) ** 0.25), 4)


def test_a_baseline_that_did_not_run_counts_nowhere() -> None:
    found = totals([row("a", 2.0, 3.0), row("b", 1.2), row("c")])
    eager = found.against[1]
    assert eager.without == ("b",)
    assert eager.fast["fast_1"].of == 2
    assert eager.correct is not None
    assert eager.correct.n == 1
    assert found.against[0].without == ()


def test_what_is_correct_but_cannot_be_timed_has_no_speedup() -> None:
    found = totals([row("a", verdict="checked", correct=True), row("b")])
    assert [part.count for part in found.against[0].fast.values()] == [1, 0, 0, 0]
    assert found.against[0].correct is None
    assert found.against[0].without == ()


def test_no_rows_give_no_figures() -> None:
    found = totals([])
    assert (found.correct.share, found.against[0].correct, found.against[0].fast["fast_1"].share) == (None, None, None)


def test_called_again_it_repeats_nothing(ground: Ground) -> None:
    first = ground.bench()
    done, known = ground.executed, runs(ground.home)
    watch = Watched()
    again = ground.bench(watch)
    assert again == first
    assert ground.executed == done
    assert runs(ground.home) == known
    assert watch.begun == ["level1/3_Broken"]  # its file may have been mended
    ground.problem("3_Broken", "SPEEDUP = 1.5")
    mended = ground.bench()
    assert verdicts(mended.rows)["3_Broken"] == "verified"
    assert mended.rows[0] == first.rows[0]


def test_after_ctrl_c_it_goes_on_with_the_run_that_was_stopped(ground: Ground) -> None:
    def stop(entry: Entry, graph: Graph) -> None:
        if isinstance(entry.event, Drafted) and graph.problem and graph.problem.name == "level1_2_Wrong":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ground.bench(Watched(observe=stop))
    kept = json.loads((ground.out / "bench.json").read_text())
    assert [each["problem"] for each in kept["rows"]] == ["level1/1_Fast"]
    assert kept["asked"] == 4
    begun = runs(ground.home)
    assert len(begun) == 2
    watch = Watched()
    report = ground.bench(watch)
    assert watch.begun == ["level1/2_Wrong", "level1/3_Broken", "level1/10_Slow"]
    assert [each.run for each in report.rows[:2]] == begun
    assert ground.executed == 2 * 2 + 1  # search and confirmation of two, one wrong


def test_more_problems_can_be_asked_of_the_same_bench(ground: Ground) -> None:
    ground.bench(items=ground.items()[:1])
    done = ground.executed
    assert len(ground.bench().rows) == 4
    assert ground.executed == done + 3


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"policy": "elite"}, "policy 'greedy', now 'elite'"),
        ({"budget": Budget(proposals=3)}, "budget.proposals None, now 3"),
        ({"rules": {"precision": "tf32"}}, "rules.precision None, now 'tf32'"),
    ],
)
def test_other_settings_need_another_name(ground: Ground, changes: dict[str, object], said: str) -> None:
    ground.bench()
    with pytest.raises(UserError, match="begun with other settings") as caught:
        ground.bench(**changes)
    assert said in str(caught.value)
    assert "{}" not in str(caught.value)
    assert len(ground.bench(name="other", **changes).rows) == 4


def test_a_call_that_cannot_write_its_report_begins_nothing(ground: Ground) -> None:
    right, ground.out = ground.out, ground.out / "file" / "out"
    right.mkdir()
    (right / "file").touch()
    with pytest.raises(UserError, match="choose another one with --out"):
        ground.bench()
    assert not (ground.home / "benches" / "test.jsonl").exists()
    ground.out = right
    assert len(ground.bench(policy="elite").rows) == 4
    assert {path.name for path in right.iterdir()} == {"file", "bench.json", "bench.csv", "bench.md"}


def test_settings_under_which_no_run_was_begun_can_be_replaced(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    def unfit(*arguments: object) -> None:
        raise UserError("it holds NaN.")

    def machine_fails(*arguments: object) -> None:
        raise MachineFault("the device fell off.")

    here = Cpu().targets()[0]
    monkeypatch.setattr(bench, "examine", unfit)
    ground.bench(target=here, examine=True, items=ground.items()[:1])
    monkeypatch.setattr(bench, "examine", machine_fails)
    other = {"target": here, "examine": True, "items": ground.items()[:1], "seed": 3}
    # What was refused under the old settings is tried under the new ones.
    assert "the device fell off." in ground.bench(**other).rows[0].reason
    assert len(ground.bench(**other | {"examine": False}).rows) == 1
    with pytest.raises(UserError, match="seed 3, now 4"):
        ground.bench(**other | {"seed": 4})


def test_a_rule_that_is_none_is_refused_before_anything_is_kept(ground: Ground) -> None:
    with pytest.raises(UserError, match="'precision' cannot be 'float8'"):
        ground.bench(rules={"precision": "float8"})
    assert ground.bench(rules={"precision": "bfloat16"}).precision == "bfloat16"


def test_a_problem_or_candidate_that_changed_needs_another_name(ground: Ground) -> None:
    ground.bench()
    ground.problem("1_Fast", "SPEEDUP = 2.6")
    with pytest.raises(UserError, match=r"The candidates of level1/1_Fast changed"):
        ground.bench()
    ground.problem("1_Fast", "SPEEDUP = 2.5", text=PROBLEM + "# other\n")
    with pytest.raises(UserError, match=r"The problem of level1/1_Fast changed"):
        ground.bench()
    ground.problem("1_Fast", "SPEEDUP = 2.5")
    assert len(ground.bench().rows) == 4


def test_a_problem_without_a_candidate_is_a_row(ground: Ground) -> None:
    ground.problem("4_Missing", None)
    assert "no candidate for level1/4_Missing" in ground.bench().rows[3].reason
    ground.problem("4_Missing", "SPEEDUP = 1.1")
    assert ground.bench().rows[3].verdict == "verified"


def test_what_cannot_be_judged_is_tried_again_only_if_asked(ground: Ground) -> None:
    ground.problem("4_Unfit", "USER_ERROR = 'it holds NaN.'")
    assert ground.bench().rows[3].reason == "it holds NaN."
    before = len(runs(ground.home))
    assert ground.bench().rows[3].reason == "it holds NaN."
    assert len(runs(ground.home)) == before
    assert ground.bench(retry=True).rows[3].reason == "it holds NaN."
    assert len(runs(ground.home)) == before + 1


def test_a_fault_of_the_machine_is_a_row_and_tried_again(ground: Ground) -> None:
    ground.problem("4_Faulty", "FAULTS = 4\nSPEEDUP = 1.5")
    report = ground.bench()
    assert "fault 2 as ordered (tried 3 times)" in report.rows[3].reason
    assert verdicts(report.rows)["10_Slow"] == "verified"
    assert ground.bench().rows[3].verdict == "verified"


def test_one_process_at_a_time(ground: Ground) -> None:
    with opened(ground.home, "test"), pytest.raises(RunLocked):
        ground.bench()
    with pytest.raises(UserError, match="cannot be a bench's name"):
        ground.bench(name="../x")


def test_a_line_that_was_cut_short_is_dropped(ground: Ground) -> None:
    first = ground.bench()
    ledger = ground.home / "benches" / "test.jsonl"
    whole = ledger.read_bytes()
    ledger.write_bytes(whole + b'{"key":"level1/1_F')
    assert ground.bench() == first
    assert ledger.read_bytes() == whole
    ledger.write_bytes(b"nonsense\n" + whole)
    with pytest.raises(UserError, match="is not what a bench wrote"):
        ground.bench()


def test_the_report_is_written_in_three_forms(ground: Ground) -> None:
    report = ground.bench(rules={"precision": "tf32"})
    table = list(csv.DictReader((ground.out / "bench.csv").read_text().splitlines()))
    assert [(each["problem"], each["verdict"], each["correct"]) for each in table] == [
        (each.problem, each.verdict, str(each.correct)) for each in report.rows
    ]
    assert (float(table[0]["speedup"]), table[1]["speedup"]) == (2.5, "")
    said = json.loads((ground.out / "bench.json").read_text())
    assert said["rows"][1]["speedup"] is None
    assert said["headline"]["against"][0]["fast"]["fast_2"]["count"] == 1
    page = (ground.out / "bench.md").read_text()
    assert "modules ran in eval() mode" in page
    assert "precision tf32 for baselines and candidates alike" in page
    assert page.count("(eval(), precision tf32)") == 2
    assert "| level1/1_Fast | verified | 2.500x [2.475, 2.525] |" in page
    assert not list(ground.out.glob(".*"))


def test_degenerate_problems_are_named_and_left_out(ground: Ground) -> None:
    hollow = (Finding(name="constant_output", sentence="output 0 is 0 everywhere", workload="default"),)
    rows = [row("a", 9.0, findings=hollow), row("b", 1.2, findings=()), row("c")]
    settings = Settings(source="kernelbench", spec=RunSpec(target="cpu:null"))
    asked = Bench(home=ground.home, name="n", out=ground.out, items=(), settings=settings)
    report = report_of(asked, rows)
    assert report.degenerate == {"a": ("output 0 is 0 everywhere",)}
    assert report.unexamined == ("c",)
    assert (report.headline.problems, report.everything.problems) == (2, 3)
    assert report.headline.against[0].fast["fast_2"].count == 0
    assert report.everything.against[0].fast["fast_2"].count == 1
    assert "* a: output 0 is 0 everywhere" in markdown(report)


def test_against_compile_stands_what_the_search_measured(ground: Ground) -> None:
    def timed(speedup: float, compile: float | None) -> Timings:
        against = Interval(estimate=compile, low=compile, high=compile, n=8) if compile else None
        return replace(null_timings(speedup), speedup_compile=against)

    quick = Measured(timings=timed(1.4, 3.0), reason="")
    full = Verified(timings=timed(1.5, None), reason="", confirmations=5)
    base = Evaluation(
        candidate="c", problem="p", plan="quick", target="cpu:null", machine="m", judge_version="1", outcome=quick
    )
    events = (
        Picked(node=0, pick=Pick()),
        Drafted(node=0, draft=Proposed(candidate="b", operator="o")),
        Evaluated(node=0, purpose="search", key="quick", score=0.3, evaluation=base),
        Evaluated(node=0, purpose="confirm", key="full", score=0.4, evaluation=replace(base, outcome=full)),
    )
    graph = fold(Entry(seq=seq, at=float(seq), event=event) for seq, event in enumerate(events, 1))
    found = row_of("level1/1_Fast", "run", graph, ())
    assert found.speedup is not None
    assert found.speedup_compile is not None
    assert (found.verdict, found.speedup.estimate, found.speedup_compile.estimate) == ("verified", 1.5, 3.0)
    assert found.notes == (COMPILE_EARLIER,)
    assert found.compile_earlier


def test_what_the_confirmation_left_out_stands_as_it_was_first_measured(ground: Ground) -> None:
    def against(value: float) -> Interval:
        return Interval(estimate=value, low=value, high=value, n=8)

    first = replace(null_timings(1.4), speedup_eager=against(1.4), speedup_compile=against(3.0))
    confirmed = replace(null_timings(1.5), speedup_eager=against(1.5), speedup_compile=None)
    outcome = Verified(timings=with_left_out(confirmed, first), reason="", confirmations=5)
    evaluation = Evaluation(
        candidate="c", problem="p", plan="full", target="cpu:null", machine="m", judge_version="1", outcome=outcome
    )
    events = (
        Picked(node=0, pick=Pick()),
        Drafted(node=0, draft=Proposed(candidate="b", operator="o")),
        Evaluated(node=0, purpose="search", key="full", score=0.4, evaluation=evaluation),
    )
    found = row_of("a", "run", fold(Entry(seq=n, at=float(n), event=event) for n, event in enumerate(events, 1)), ())
    assert (found.speedup_eager, found.speedup_compile) == (against(1.5), against(3.0))
    asked = Bench(
        home=ground.home,
        name="n",
        out=ground.out,
        items=(),
        settings=Settings(source="kernelbench", spec=RunSpec(target="cpu:null")),
    )
    report = report_of(asked, [found, row("b", 1.2, 1.3, speedup_compile=against(1.25))])
    assert f"† {COMPILE_EARLIER}" in report.notes
    assert "| 1.500x [1.500, 1.500] | 3.000x [3.000, 3.000]† |" in markdown(report)
    assert "| 1.250x [1.250, 1.250] |" in markdown(report)
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(*view(report), sep="\n")
    assert "1.50x  3.00x†" in console.export_text()
