"""Jobs and results that are not what they should be: a sentence each, and nothing is written."""

import json
import shutil
from pathlib import Path

import pytest
from engine_runs import PROBLEM, append, journal, of_kind, spec
from jobs_runs import MAILBOX, TARGET, Trip

from kernwright.core.brief import Pick, Proposed
from kernwright.core.digest import digest
from kernwright.core.errors import RunLocked, UserError
from kernwright.core.events import Drafted, Evaluated, Picked
from kernwright.core.jobs import JUDGE_VERSION
from kernwright.engine import service
from kernwright.store.codec import encode_candidate
from kernwright.store.sql import SqlStore
from kernwright.testing.scripted import scripted as candidate

VERSION = f'"judge_version": "{JUDGE_VERSION}"'


@pytest.fixture
def trip(tmp_path: Path) -> Trip:
    return Trip(tmp_path)


def edited(path: Path, old: str, new: str, *, sealed: bool = False) -> None:
    """Change a result; `sealed` gives it a digest that fits, as another program would."""
    plain = json.loads(path.read_text())
    body = json.dumps(plain["body"])
    assert old in body
    plain["body"] = json.loads(body.replace(old, new))
    if sealed:
        plain["digest"] = digest(plain["body"])
    path.write_text(json.dumps(plain))


@pytest.mark.parametrize(
    ("old", "new", "sealed", "sentence"),
    [
        ('"estimate": 1.5', '"estimate": 9.5', False, "was changed after it was written"),
        (VERSION, '"judge_version": "0"', True, "version 0 of the judge"),
        ('"target": "cpu:', '"target": "gpu:', True, "job|target"),
    ],
)
def test_results_that_were_changed_or_come_from_another_judge_are_refused(
    trip: Trip, old: str, new: str, sealed: bool, sentence: str
) -> None:
    trip.begin()
    trip.tell("SPEEDUP = 1.5")
    trip.export()
    trip.work()
    [path] = trip.results.glob("*.json")
    edited(path, old, new, sealed=sealed)
    before = journal(trip.home, trip.run)
    with pytest.raises(UserError, match=sentence):
        trip.bring()
    assert journal(trip.home, trip.run) == before


def test_results_from_before_an_upgrade_are_said_to_be_of_another_judge(
    trip: Trip, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whose version is part of a job's name: the file's no longer fits."""
    trip.begin()
    trip.tell("SPEEDUP = 1.5")
    trip.export()
    trip.work()
    for module in ("facts", "importing"):
        monkeypatch.setattr(f"kernwright.engine.jobs.{module}.JUDGE_VERSION", "999")
    with pytest.raises(UserError, match=f"comes from version {JUDGE_VERSION} of the judge and this is version 999"):
        trip.bring()


def test_results_of_another_candidate_or_problem_are_refused(trip: Trip) -> None:
    trip.begin()
    trip.tell("SPEEDUP = 1.5", "SPEEDUP = 1.2")
    trip.export()
    trip.work()
    one, two = sorted(trip.results.glob("*.json"))
    first, second = (json.loads(path.read_text()) for path in (one, two))
    first["body"]["events"] = second["body"]["events"]
    first["digest"] = digest(first["body"])
    kept = one.read_text()
    one.write_text(json.dumps(first))
    with pytest.raises(UserError, match="another candidate"):
        trip.bring()
    one.write_text(kept)
    two.rename(two.with_name("judge-0.json"))
    with pytest.raises(UserError, match="is the result of job"):
        trip.bring()
    assert not of_kind(trip.home, trip.run, Evaluated)


def test_a_run_whose_node_is_another_one_refuses_the_result(trip: Trip) -> None:
    run = trip.begin()
    trip.tell("SPEEDUP = 1.5")
    trip.export()
    trip.work()
    # The same run's id in another home, where node 0 is something else.
    trip.root = trip.root / "elsewhere"
    store = SqlStore(trip.home)
    entries = journal(trip.root.parent / "home", run)
    blob = store.put(encode_candidate(candidate("SPEEDUP = 3.0")))
    append(trip.home, run, entries[0].event, Picked(node=0, pick=Pick()))
    append(trip.home, run, Drafted(node=0, draft=Proposed(candidate=blob, operator="mailbox")))
    store.close()
    shutil.copytree(trip.root.parent / "results", trip.results)
    with pytest.raises(UserError, match="another candidate than node 0"):
        trip.bring()


def test_folders_that_are_none_are_refused(trip: Trip) -> None:
    trip.begin()
    with pytest.raises(UserError, match="no folder of jobs"):
        trip.work()
    trip.tell("SPEEDUP = 1.5")
    trip.export()
    with pytest.raises(UserError, match="no folder of results"):
        trip.bring()
    shutil.copytree(trip.jobs, trip.results)
    with pytest.raises(UserError, match="no folder of results"):
        trip.bring()


def test_jobs_that_were_changed_or_are_incomplete_are_refused(trip: Trip) -> None:
    trip.begin()
    trip.tell("SPEEDUP = 1.5")
    [job] = trip.export().jobs
    path = trip.jobs / f"{job.id}.json"
    whole = path.read_text()
    edited(path, '"blocks": 8', '"blocks": 9')
    with pytest.raises(UserError, match="was changed"):
        trip.work()
    path.write_text(whole[:-200])
    with pytest.raises(UserError, match="cut off"):
        trip.work()
    path.unlink()
    with pytest.raises(UserError, match=r"lacks judge-.*copy the whole folder again"):
        trip.work()
    trip.export()
    shutil.rmtree(trip.jobs / "blobs")
    [left] = trip.work().left
    assert "lacks blob" in left.reason
    edited(trip.jobs / "manifest.json", VERSION, '"judge_version": "999"', sealed=True)
    with pytest.raises(UserError, match="version 999 of the judge"):
        trip.work()


def test_kinds_that_are_none_are_refused(trip: Trip) -> None:
    trip.begin()
    with pytest.raises(UserError, match="Did you mean 'judge'"):
        trip.export("juge")


def test_jobs_for_a_target_that_is_not_here(trip: Trip) -> None:
    trip.begin(target="rocm:gfx942")
    trip.tell("SPEEDUP = 1.5")
    trip.export()
    with pytest.raises(UserError, match="rocm:gfx942"):
        trip.work()
    here = trip.begin()
    trip.tell("SPEEDUP = 1.6")
    trip.export()
    summary = trip.work()
    assert (len(summary.done), [left.blame for left in summary.left]) == (1, [""])
    with pytest.raises(UserError, match=r"they are for: .*rocm:gfx942"):
        trip.work(target="rocm:gfx950")
    assert trip.work(target=TARGET).left == []
    assert here == trip.run


def test_an_import_waits_for_no_engine(trip: Trip) -> None:
    trip.begin()
    trip.tell("SPEEDUP = 1.5")
    trip.export()
    trip.work()
    store = SqlStore(trip.home)
    with store.lock(trip.run), pytest.raises(RunLocked):
        trip.bring()
    store.close()
    assert trip.bring().events == 1


def test_results_of_other_runs_alone_are_refused(trip: Trip) -> None:
    other = service.create(trip.home, spec(MAILBOX), PROBLEM)
    trip.begin()
    trip.tell("SPEEDUP = 1.5")
    trip.export()
    trip.work()
    trip.run = other
    with pytest.raises(UserError, match="holds nothing of run"):
        trip.bring()
