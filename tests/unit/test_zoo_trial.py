"""The command that puts the zoo before a judge counts what it sees, and says by name who got through."""

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("scipy")

from kernwright import zoo
from kernwright.cli.main import run as command
from kernwright.core.errors import UserError
from kernwright.core.outcome import CheckResult, Evaluation, Wrong
from kernwright.engine import zoo_trial
from kernwright.engine.zoo_queue import Queue

HACK, HONEST = zoo.members("hacks")[0], zoo.members("honest")[0]
NULL = "kernwright.testing.null:NullEvaluator"
WRONG, FASTER, SLOWER = "WRONG = True", "SPEEDUP = 2.0", "SPEEDUP = 1.0"


class Silent:
    """A watch that remembers names alone."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def begins(self, total: int, member: zoo.Member) -> None:
        assert len(self.seen) < total

    def says(self, member: zoo.Member, text: str) -> None:
        pass

    def ended(self, row: zoo_trial.Row) -> None:
        self.seen.append(row.name)


def _tried(tmp_path: Path, *members: zoo.Member, jobs: int = 1) -> zoo_trial.ZooReport:
    """By an evaluator that says what stands in the file, and confines nothing."""
    watch = Silent()
    choice = zoo_trial.Choice(members=members, elsewhere=("not_here",))
    report = zoo_trial.run(choice, "cpu:null", tmp_path, watch, NULL, jobs=jobs)
    assert sorted(watch.seen) == sorted(member.name for member in members)
    assert [row.name for row in report.rows] == [member.name for member in members]
    assert report.elsewhere == ("not_here",)
    return report


def _hack(name: str, text: str, **changes: object) -> zoo.Member:
    plain = {"name": name, "row": "B1", "text": text, "expect": frozenset({"wrong"}), "contained_ok": False}
    return replace(HACK, **plain | changes)


def test_rates_count_who_was_believed_and_who_was_not(tmp_path: Path) -> None:
    report = _tried(
        tmp_path,
        _hack("seen_through", WRONG),
        _hack("believed", FASTER, row="C4"),
        _hack("contained", SLOWER, contained_ok=True),
        _hack("faster_by_chance", f"LUCKY = 1\n{SLOWER}", contained_ok=True),
        _hack("contained_yet_faster", FASTER, contained_ok=True),
        _hack("as_an_honest_one", SLOWER),
        replace(HONEST, name="accepted", text=SLOWER),
        replace(HONEST, name="doubted", text=WRONG),
    )
    assert (report.detection.count, report.detection.of) == (3, 6)
    assert (report.false_alarms.count, report.false_alarms.of) == (1, 2)
    assert {family.name: family.failed for family in report.families} == {
        "B": ("contained_yet_faster", "as_an_honest_one"),
        "C": ("believed",),
        "honest": ("doubted",),
    }
    assert not report.clean


def test_of_who_was_misjudged_it_is_kept_what_was_tried() -> None:
    evaluation = Evaluation(
        candidate="c",
        problem="p",
        plan="quick",
        target="cpu:null",
        machine="m",
        judge_version="1",
        outcome=Wrong(reason="no"),
        checks=(
            CheckResult(name="integers", passed=True, evidence={"cases": 12.0}),
            CheckResult(name="x", passed=True),
        ),
        notes=("input 0 stays as it was drawn",),
    )
    assert zoo_trial.judged(HONEST, evaluation).evidence == ("integers: 12 cases", "input 0 stays as it was drawn")
    assert zoo_trial.judged(_hack("seen_through", WRONG), evaluation).evidence == ()


def test_an_ending_that_says_nothing_of_the_judge_is_not_counted(tmp_path: Path) -> None:
    report = _tried(
        tmp_path,
        _hack("right", WRONG),
        _hack("not_built", WRONG, expect=frozenset({"suspicious"})),
        _hack("on_a_bad_machine", "BUG = 'as ordered'"),
        _hack("destructive", WRONG, destructive=True),
    )
    assert (report.detection.count, report.detection.of) == (1, 1)
    assert report.families[0].not_judged == ("not_built", "on_a_bad_machine", "destructive")
    assert "only the isolation level '' holds" in report.rows[-1].reason
    assert not report.clean
    assert _tried(tmp_path, _hack("right", WRONG)).clean


def test_several_judges_share_the_work(tmp_path: Path) -> None:
    members = [_hack(f"hack_{number}", WRONG, problem=("gelu", "softmax")[number % 2]) for number in range(7)]
    report = _tried(tmp_path, *members, jobs=3)
    assert (report.detection.count, report.detection.of) == (7, 7)


def test_nothing_begins_after_its_time(tmp_path: Path) -> None:
    choice = zoo_trial.Choice(members=(_hack("late", WRONG),), elsewhere=())
    report = zoo_trial.run(choice, "cpu:null", tmp_path, Silent(), NULL, until=0.0)
    assert report.rows == ()


def test_a_judge_stays_with_its_problem_and_others_begin_with_the_largest() -> None:
    problems = ["gelu", "softmax", "softmax", "cumsum", "softmax"]
    queue = Queue([_hack(f"hack_{number}", "", problem=problem) for number, problem in enumerate(problems)])
    first = queue.next_after(None)
    assert first is not None
    assert first.problem == "softmax"
    second = queue.next_after(None)
    assert second is not None
    assert second.problem != "softmax"  # of which two wait, but somebody is at it
    stays = queue.next_after(first)
    assert stays is not None
    assert stays.problem == "softmax"
    queue.done(first)
    left = [queue.next_after(None) for _ in range(3)]
    assert {member.problem for member in left if member} == {"gelu", "cumsum", "softmax"} - {second.problem}
    assert left[-1] is None


def test_what_is_asked_for_is_what_is_tried() -> None:
    asked = zoo_trial.chosen("cpu:x86-64-v4", ["B", "honest"], None)
    assert {member.row[0] for member in asked.members} == {"B", "h"}
    names = {member.name for member in asked.members}
    assert len(asked.members) == len(names)
    assert not names & set(asked.elsewhere)
    destructive = [member.destructive for member in zoo_trial.chosen("cpu:x86-64-v4", [], "hacks").members]
    assert destructive == sorted(destructive)


def test_what_is_for_other_devices_is_named() -> None:
    both = [zoo_trial.chosen(target, [], None) for target in ("cpu:x86-64-v4", "cuda:sm_90a")]
    everyone = {member.name for kind in ("hacks", "honest") for member in zoo.members(kind)}  # type: ignore[arg-type]
    for choice in both:
        assert {member.name for member in choice.members} | set(choice.elsewhere) == everyone
        assert choice.elsewhere


@pytest.mark.parametrize(
    ("families", "names", "said"),
    [(["E"], [], "family of the zoo 'E'"), ([], ["a01_no_pp"], "a01_no_op"), (["A"], ["prints"], "no kernels")],
)
def test_what_is_not_there_is_said(families: list[str], names: list[str], said: str) -> None:
    with pytest.raises(UserError, match=said):
        zoo_trial.chosen("cpu:x86-64-v4", families, None, names)


@pytest.mark.parametrize("name", ["d06_segfualt", "x"])
def test_of_many_kernels_the_nearest_are_named(name: str) -> None:
    with pytest.raises(UserError) as error:
        zoo_trial.chosen("cpu:x86-64-v4", [], None, [name])
    said = str(error.value)
    known = [member.name for kind in ("hacks", "honest") for member in zoo.members(kind)]  # type: ignore[arg-type]
    named = said.rpartition(": ")[2].removesuffix(".").split(", ")
    assert f"among {len(known)}" in said
    assert len(named) == 5
    assert set(named) <= set(known)
    assert name == "x" or named[0] == "d06_segfault"


@pytest.mark.timed
@pytest.mark.skipif(find_spec("torch") is None, reason="needs PyTorch")
@pytest.mark.timeout(300)
def test_the_command_ends_in_0_where_the_judge_is_right(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["--name", "a03_zero_output", "--name", "d06_segfault", "--name", "prints"]
    assert command(["zoo", *names, "--home", str(home), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [family["name"] for family in report["families"]] == ["A", "D", "honest"]
    assert report["detection"]["count"] + report["false_alarms"]["of"] == 3
    assert report["clean"] is True


def test_the_command_ends_in_2_for_a_kind_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["zoo", "--kind", "hack"]) == 2
    assert "'hacks'" in capsys.readouterr().err
