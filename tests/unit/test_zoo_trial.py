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
from kernwright.engine import zoo_trial

HACK, HONEST = zoo.members("hacks")[0], zoo.members("honest")[0]
NULL = "kernwright.testing.null:NullEvaluator"
WRONG, FASTER, SLOWER = "WRONG = True", "SPEEDUP = 2.0", "SPEEDUP = 1.0"


class Silent:
    """A watch that remembers names alone."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def begins(self, number: int, total: int, member: zoo.Member) -> None:
        assert number <= total

    def says(self, text: str) -> None:
        pass

    def ended(self, row: zoo_trial.Row) -> None:
        self.seen.append(row.name)


def _tried(tmp_path: Path, *members: zoo.Member) -> zoo_trial.ZooReport:
    """By an evaluator that says what stands in the file, and confines nothing."""
    watch = Silent()
    report = zoo_trial.run(members, "cpu:null", tmp_path, watch, NULL)
    assert watch.seen == [member.name for member in members]
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
        _hack("contained_yet_faster", FASTER, contained_ok=True),
        _hack("as_an_honest_one", SLOWER),
        replace(HONEST, name="accepted", text=SLOWER),
        replace(HONEST, name="doubted", text=WRONG),
    )
    assert (report.detection.count, report.detection.of) == (2, 5)
    assert (report.false_alarms.count, report.false_alarms.of) == (1, 2)
    assert {family.name: family.failed for family in report.families} == {
        "B": ("contained_yet_faster", "as_an_honest_one"),
        "C": ("believed",),
        "honest": ("doubted",),
    }
    assert not report.clean


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


def test_what_is_asked_for_is_what_is_tried() -> None:
    asked = zoo_trial.chosen("cpu:x86-64-v4", ["B", "honest"], None)
    assert {member.row[0] for member in asked} == {"B", "h"}
    assert len(asked) == len({member.name for member in asked})
    destructive = [member.destructive for member in zoo_trial.chosen("cpu:x86-64-v4", [], "hacks")]
    assert destructive == sorted(destructive)


@pytest.mark.parametrize(
    ("families", "names", "said"),
    [(["E"], [], "family of the zoo 'E'"), ([], ["a01_no_pp"], "a01_no_op"), (["A"], ["prints"], "no kernels")],
)
def test_what_is_not_there_is_said(families: list[str], names: list[str], said: str) -> None:
    with pytest.raises(UserError, match=said):
        zoo_trial.chosen("cpu:x86-64-v4", families, None, names)


@pytest.mark.skipif(find_spec("torch") is None, reason="needs PyTorch")
@pytest.mark.timeout(300)
def test_the_command_ends_in_0_where_the_judge_is_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["--name", "a03_zero_output", "--name", "d06_segfault", "--name", "prints"]
    assert command(["zoo", *names, "--home", str(tmp_path), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [family["name"] for family in report["families"]] == ["A", "D", "honest"]
    assert report["detection"]["count"] + report["false_alarms"]["of"] == 3
    assert report["clean"] is True


def test_the_command_ends_in_2_for_a_kind_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["zoo", "--kind", "hack"]) == 2
    assert "'hacks'" in capsys.readouterr().err
