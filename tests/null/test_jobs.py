"""Jobs: what is pending at home, is done elsewhere and comes home as if it had been done here."""

import math
import shutil
from contextlib import closing
from pathlib import Path

import pytest
from engine_runs import journal, kinds, of_kind, once_each, scripted
from jobs_runs import KINDS, MAILBOX, TARGET, Trip, far

from kernwright.core.brief import Exhausted, Proposed, Unusable
from kernwright.core.errors import UserError
from kernwright.core.events import Evaluated
from kernwright.core.guidance import Guidance
from kernwright.core.outcome import Verified
from kernwright.core.spec import Budget, OperatorSpec
from kernwright.engine import service
from kernwright.engine.jobs.exporting import export_all
from kernwright.engine.jobs.importing import bring_all
from kernwright.store.sql import SqlStore
from kernwright.testing.scripted import scripted as candidate

TUNED = "SPEEDUP = 1.1; BLOCK = 1; KNOBS = {'BLOCK': [1, 2, 4, 8, 16]}"
TUNER = OperatorSpec(name="tuner", settings={"trials": 4})


@pytest.fixture
def trip(tmp_path: Path) -> Trip:
    return Trip(tmp_path)


def texts(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_two_rounds_make_a_champion(trip: Trip) -> None:
    trip.begin()
    trip.tell("SPEEDUP = 1.5", "SPEEDUP = 1.2", "WRONG = True")
    assert not of_kind(trip.home, trip.run, Evaluated)
    assert trip.round().events == 3
    graph = service.load(trip.home, trip.run)
    assert [node.evaluation.outcome.kind for node in graph.nodes if node.evaluation] == [
        "measured",
        "measured",
        "wrong",
    ]
    assert graph.nodes[0].score == pytest.approx(math.log(1.5))
    assert graph.champion() is None
    resumed = service.drive(trip.home, trip.run, resume=True, budget=Budget(proposals=3))
    assert resumed.finished is not None
    assert resumed.finished.champion is None

    [job] = trip.export().jobs
    assert (job.kind, job.purpose, job.node) == ("judge", "confirm", 0)
    trip.work()
    assert trip.bring().events == 1
    graph = service.drive(trip.home, trip.run, resume=True)
    assert graph.finished is not None
    assert graph.finished.champion == 0
    assert isinstance(graph.nodes[0].evaluation.outcome, Verified)  # type: ignore[union-attr]
    once_each(trip.home, trip.run)
    assert trip.export().jobs == ()


def test_a_second_import_changes_nothing(trip: Trip) -> None:
    trip.begin(MAILBOX, far("SPEEDUP = 1.4", "unusable: no code"), TUNER)
    trip.tell(TUNED, "SPEEDUP = 1.2")
    assert trip.round().events > 0
    before = journal(trip.home, trip.run)
    assert trip.bring().events == 0
    assert journal(trip.home, trip.run) == before


def test_an_export_is_a_function_of_the_journal(trip: Trip) -> None:
    trip.begin(MAILBOX, far("SPEEDUP = 1.4"), TUNER)
    trip.tell(TUNED, "SPEEDUP = 1.2")
    first = trip.export()
    assert sorted(job.kind for job in first.jobs) == ["judge", "judge", "seeds", "tune"]
    written = texts(trip.jobs)
    trip.export()
    assert texts(trip.jobs) == written
    trip.export("judge")
    assert {path.name.partition("-")[0] for path in trip.jobs.glob("*-*.json")} == {"judge"}


def test_one_folder_holds_the_jobs_of_several_runs(trip: Trip) -> None:
    first = trip.begin()
    trip.tell("SPEEDUP = 1.5")
    trip.export()
    second = trip.begin()
    trip.tell("SPEEDUP = 1.6")
    trip.export()
    assert len(trip.work().done) == 2
    assert (trip.bring().results, trip.bring().others) == (1, 1)
    trip.run = first
    assert trip.bring().events == 1
    assert service.load(trip.home, second).best() is not None


def test_the_brief_after_an_import_shows_what_came(trip: Trip) -> None:
    trip.begin(OperatorSpec(name="mailbox"))
    trip.tell("SPEEDUP = 1.5")
    with pytest.raises(UserError, match=r"what waits \(1\) judged elsewhere: kernwright jobs export"):
        service.ask(trip.home, trip.run)
    trip.round()
    brief = service.ask(trip.home, trip.run)
    assert brief.intent == "improve"
    assert brief.parents[0].evaluation is not None
    assert brief.parents[0].evaluation.target == TARGET


def test_a_limit_keeps_what_is_finished_and_the_next_call_does_the_rest(trip: Trip) -> None:
    trip.begin()
    trip.tell(*(f"SPEEDUP = 1.{n}; SLEEP_S = 0.4" for n in range(1, 4)))
    trip.export()
    struck = trip.work(limit_s=0.6)
    assert struck.struck
    assert struck.seconds < 3
    assert (len(struck.done), [left.reason for left in struck.left]) == (1, ["the time limit came first"] * 2)
    assert trip.bring().events == 1
    rest = trip.work()
    assert (len(rest.done), rest.before, rest.left) == (2, struck.done, [])
    assert trip.bring().events == 2
    assert len(trip.work().before) == 3
    once_each(trip.home, trip.run)


def test_a_tuning_loops_there_and_its_trials_outlive_the_limit(trip: Trip) -> None:
    trip.begin(MAILBOX, TUNER)
    [node] = trip.tell(TUNED + "; SLEEP_S = 0.2")
    trip.export()
    struck = trip.work(limit_s=0.7)  # the node itself, then some of four trials
    assert [left.kind for left in struck.left] == ["tune"]
    early = len(trip.executed())
    assert 2 <= early <= 4
    trip.bring()
    graph = service.load(trip.home, trip.run)
    [child] = graph.children(node)
    assert graph.nodes[child].draft is None
    brought = [e for e in of_kind(trip.home, trip.run, Evaluated) if e.purpose == "tune"]
    assert {e.node for e in brought} == {child}
    graph = service.drive(trip.home, trip.run, resume=True, budget=Budget(proposals=2))
    assert graph.nodes[child].draft is None  # nobody here can go on with it, and it is not given up either

    # Whether the results are still there or only what came home, no trial is done twice.
    shutil.rmtree(trip.results)
    [job] = [job for job in trip.export().jobs if job.kind == "tune"]
    assert len(job.known) == len(brought)
    assert trip.work().left == []
    trip.bring()
    assert [trip.executed().count(e.key) for e in brought] == [1] * len(brought)
    graph = service.load(trip.home, trip.run)
    draft = graph.nodes[child].draft
    assert draft is not None
    assert draft.operator == "tuner"
    assert "of 4 trials" in (draft.summary if isinstance(draft, Proposed) else draft.reason)  # type: ignore[union-attr]
    assert sum(e.purpose == "tune" for e in of_kind(trip.home, trip.run, Evaluated)) == 4
    assert not [job for job in trip.export().jobs if job.kind == "tune"]
    once_each(trip.home, trip.run)


def test_the_winner_of_a_tuning_is_a_child_that_credits_its_parent(trip: Trip) -> None:
    trip.begin(MAILBOX, OperatorSpec(name="tuner", settings={"trials": 8}))
    # Speedups are drawn from the digest, so that some setting is better than the defaults with this seed.
    [node] = trip.tell("BLOCK = 1; KNOBS = {'BLOCK': [1, 2, 4, 8, 16, 32, 64]}")
    trip.round()
    graph = service.load(trip.home, trip.run)
    [child] = graph.children(node)
    draft = graph.nodes[child].draft
    assert isinstance(draft, Proposed)
    assert (draft.item, draft.author, draft.knobs) == (f"node {child}", "Optuna", ("BLOCK",))
    assert graph.nodes[child].score == graph.nodes[node].credit
    assert graph.nodes[child].evaluation is not None
    assert kinds(trip.home, trip.run)[-1] == "evaluated"
    assert graph.champion() is None


def test_a_node_that_is_wrong_is_not_tuned(trip: Trip) -> None:
    trip.begin(MAILBOX, TUNER)
    trip.tell("WRONG = True; BLOCK = 1; KNOBS = {'BLOCK': [1, 2]}")
    trip.export()
    assert trip.work().left == []
    assert len(trip.executed()) == 1
    trip.bring()
    assert len(service.load(trip.home, trip.run).nodes) == 1
    assert trip.export().jobs == ()


def test_the_best_is_tuned_when_the_user_or_the_run_asks(trip: Trip) -> None:
    trip.begin(MAILBOX)
    trip.tell(TUNED, "SPEEDUP = 2.0")
    trip.round()
    assert [job.purpose for job in trip.export().jobs] == ["confirm"]
    [tune] = [job for job in trip.export(tune=(0,)).jobs if job.kind == "tune"]
    assert tune.node == 0
    for node, sentence in ((1, "declares no knobs"), (7, "no node 7")):
        with pytest.raises(UserError, match=sentence):
            trip.export(tune=(node,))


def test_seeds_are_made_and_judged_there(trip: Trip) -> None:
    trip.begin(MAILBOX, far("SPEEDUP = 1.3", "unusable: no code in it", "SPEEDUP = 1.4; SLEEP_S = 30", "SPEEDUP = 1.5"))
    [job] = trip.export().jobs
    assert job.kind == "seeds"
    assert trip.work(limit_s=0.8).struck
    trip.bring()
    graph = service.load(trip.home, trip.run)
    said = [(node.draft.operator, node.draft.item) for node in graph.nodes if node.draft]  # type: ignore[union-attr]
    assert said == [("far", "0"), ("far", "1")]
    assert graph.nodes[0].evaluation is not None
    assert isinstance(graph.nodes[1].draft, Unusable)

    shutil.rmtree(trip.results)
    [job] = trip.export("seeds").jobs
    assert job.used == ("0", "1")
    [first] = [e.key for e in of_kind(trip.home, trip.run, Evaluated)]
    assert trip.work(limit_s=0.8).struck  # at the third one's sleep again; the first is not evaluated anew
    assert trip.executed().count(first) == 1


def test_seeds_that_are_over_are_not_asked_for_again(trip: Trip) -> None:
    trip.begin(far("SPEEDUP = 1.3", "SPEEDUP = 1.5"))
    trip.round()
    graph = service.load(trip.home, trip.run)
    assert [node.score for node in graph.nodes[:2]] == pytest.approx([math.log(1.3), math.log(1.5)])
    assert graph.nodes[2].draft == Exhausted(operator="far", intent="start")
    assert [job.purpose for job in trip.export().jobs] == ["confirm"]
    store = SqlStore(trip.home)
    for node in graph.nodes[:2]:
        assert node.candidate is not None
        store.get(node.candidate)
    store.close()


def test_a_budget_holds_there_too(trip: Trip) -> None:
    trip.begin(far(*(f"SPEEDUP = 1.{n}" for n in range(1, 9))), budget=Budget(evaluations=3))
    trip.export()
    [left] = trip.work().left
    assert "budget" in left.reason
    trip.bring()
    assert service.load(trip.home, trip.run).spent.evaluations == 3
    assert not [job for job in trip.export().jobs if job.kind == "seeds"]
    service.drive(trip.home, trip.run, resume=True, budget=Budget(evaluations=5))
    trip.export()
    trip.work()
    trip.bring()
    graph = service.load(trip.home, trip.run)
    assert graph.spent.evaluations == 5  # the confirmation of the best of three, and one more seed
    once_each(trip.home, trip.run)


def test_operators_that_work_here_draft_and_leave_their_nodes_pending(trip: Trip) -> None:
    run = trip.begin(scripted("SPEEDUP = 1.3", "SPEEDUP = 1.5"), TUNER)
    graph = service.drive(trip.home, run, resume=False)
    assert graph.finished is not None
    assert graph.finished.reason == "nothing left to propose here"
    assert len([node for node in graph.in_flight() if node.candidate]) == 2
    assert not [node for node in graph.nodes if node.pick.intent == "tune"]
    trip.round()
    assert service.load(trip.home, run).best() is not None


def test_identical_sources_are_one_job(trip: Trip) -> None:
    trip.begin()
    trip.tell("SPEEDUP = 1.5", "SPEEDUP = 1.5")
    assert len(trip.export().jobs) == 1
    trip.work()
    assert trip.bring().events == 2
    assert [e.reused for e in of_kind(trip.home, trip.run, Evaluated)] == [False, True]
    [node] = trip.begin() and trip.tell("SPEEDUP = 1.7")
    trip.round()
    brief = service.ask(trip.home, trip.run)
    known = service.tell(trip.home, trip.run, brief.node, candidate("SPEEDUP = 1.7"))
    assert known is not None
    assert known.reused
    assert node == 0


def test_later_keeps_an_answer_for_whoever_judges_first(trip: Trip) -> None:
    trip.begin(executor="inline")
    for text in ("SPEEDUP = 1.5", "SPEEDUP = 1.2"):
        brief = service.ask(trip.home, trip.run)
        assert service.tell(trip.home, trip.run, brief.node, candidate(text), later=True) is None
    assert [job.kind for job in trip.export().jobs] == ["judge", "judge"]
    trip.work()
    trip.bring()
    (trip.home / "executed.log").touch()
    graph = service.drive(trip.home, trip.run, resume=True, budget=Budget(proposals=2))
    assert graph.champion() is not None
    assert len((trip.home / "executed.log").read_text().splitlines()) == 1  # the confirmation


def test_a_champion_runs_beside_the_next_to_be_confirmed(trip: Trip) -> None:
    trip.begin()
    trip.tell("SPEEDUP = 1.5")
    trip.round()
    trip.round()
    trip.tell("SPEEDUP = 1.6")
    trip.round()
    [job] = trip.export().jobs
    assert (job.node, job.purpose) == (1, "confirm")
    assert job.champion == service.load(trip.home, trip.run).nodes[0].candidate
    trip.work()
    trip.bring()
    champion = service.load(trip.home, trip.run).champion()
    assert champion is not None
    assert champion.id == 1


def test_the_best_are_looked_at_there(trip: Trip) -> None:
    trip.begin(guidance=Guidance(profile=True, diagnosis=True))
    first, second = trip.tell('SPEEDUP = 1.5; COUNTERS = {"dram_busy": 0.9}', "WRONG = True")
    trip.round()
    assert [job.node for job in trip.export("profile").jobs] == [first]  # what failed is not looked at
    assert trip.work().done
    assert trip.bring().events == 1
    assert trip.bring().events == 0
    graph = service.load(trip.home, trip.run)
    assert graph.nodes[first].diagnosis is not None
    assert graph.nodes[first].diagnosis.bottlenecks == ("dram",)
    assert graph.nodes[second].profile is None
    assert trip.export("profile").jobs == ()


def test_nobody_is_looked_at_there_where_nobody_is_told(trip: Trip) -> None:
    trip.begin()
    trip.tell("SPEEDUP = 1.5")
    trip.round()
    assert trip.export("profile").jobs == ()


def test_what_fails_there_does_not_keep_the_rest_from_being_done(trip: Trip) -> None:
    trip.begin()
    trip.tell("USER_ERROR = 'no inputs'", "FAULTS = 1; SPEEDUP = 1.1", "FAULTS = 9", "SPEEDUP = 1.5")
    trip.export()
    summary = trip.work()
    assert len(summary.done) == 2
    assert [(left.blame, left.reason) for left in summary.left] == [
        ("user", "no inputs"),
        ("machine", "fault 2 as ordered (tried 3 times)"),
    ]
    assert trip.bring().events == 2


def test_all_runs_of_a_home_go_out_in_one_folder_and_come_home_together(trip: Trip) -> None:
    here = trip.begin(executor="inline")
    first = trip.begin()
    trip.tell("SPEEDUP = 1.5", "SPEEDUP = 1.4")
    second = trip.begin(MAILBOX, far("SPEEDUP = 1.6"))
    trip.tell("SPEEDUP = 1.2")
    written = {each.run: [job.kind for job in each.jobs] for each in export_all(trip.home, trip.jobs, only=KINDS)}
    assert written == {first: ["judge", "judge"], second: ["judge", "seeds"]}
    assert here not in written
    assert len(trip.work(slots=3).done) == 4
    done, refused = bring_all(trip.home, trip.results)
    assert ({each.run: each.results for each in done}, refused) == ({first: 2, second: 2}, {})
    assert [service.load(trip.home, run).best().id for run in (first, second)] == [0, 1]  # type: ignore[union-attr]
    assert sum(each.events for each in bring_all(trip.home, trip.results)[0]) == 0


def test_a_run_that_is_held_keeps_the_others_from_nothing(trip: Trip) -> None:
    first = trip.begin()
    trip.tell("SPEEDUP = 1.5")
    second = trip.begin()
    trip.tell("SPEEDUP = 1.2")
    export_all(trip.home, trip.jobs, only=KINDS)
    trip.work()
    with closing(SqlStore(trip.home)) as store, store.lock(first):
        done, refused = bring_all(trip.home, trip.results)
    assert ([each.run for each in done], list(refused)) == ([second], [first])
    assert [each.run for each in bring_all(trip.home, trip.results)[0] if each.events] == [first]


def test_the_confirmation_of_the_best_can_be_left_for_later(trip: Trip) -> None:
    trip.begin()
    trip.tell("SPEEDUP = 1.5")
    trip.round()
    trip.tell("SPEEDUP = 1.6")
    [[job]] = [each.jobs for each in export_all(trip.home, trip.jobs, only=KINDS, confirm=False)]
    assert (job.node, job.purpose) == (1, "search")
    purposes = [job.purpose for job in trip.export().jobs]
    assert purposes == ["search", "confirm"]


def test_no_run_is_judged_elsewhere(trip: Trip) -> None:
    trip.begin(executor="inline")
    with pytest.raises(UserError, match=r"No run in .* is judged elsewhere"):
        export_all(trip.home, trip.jobs)


def test_results_of_another_homes_runs_are_left_alone(trip: Trip, tmp_path: Path) -> None:
    trip.begin()
    trip.tell("SPEEDUP = 1.5")
    export_all(trip.home, trip.jobs, only=KINDS)
    trip.work()
    other = Trip(tmp_path / "other")
    run = other.begin()
    with pytest.raises(UserError, match="holds nothing of any run in"):
        bring_all(other.home, trip.results)
    other.tell("SPEEDUP = 1.5")
    export_all(other.home, trip.jobs, only=KINDS)
    trip.work()
    done, refused = bring_all(other.home, trip.results)
    assert ([(each.run, each.results, each.others) for each in done], refused) == ([(run, 1, 1)], {})


def test_the_jobs_of_some_runs_are_done_alone(trip: Trip) -> None:
    first = trip.begin()
    trip.tell("SPEEDUP = 1.5")
    trip.export()
    second = trip.begin()
    trip.tell("SPEEDUP = 1.4")
    trip.export()
    with pytest.raises(UserError, match="No job is of a run whose id has 'nobody' in it; there are: "):
        trip.work(runs=(first, "nobody"))
    assert trip.executed() == []
    assert len(trip.work(runs=(second[-4:],)).done) == 1
    assert trip.bring().events
    assert len(trip.work().done) == 1


def test_runs_are_chosen_among_those_for_a_target_and_by_a_part_that_is_not_empty(trip: Trip) -> None:
    trip.begin()
    trip.export()
    assert trip.work(runs=("nobody",)).done == []  # a folder without jobs has nothing to choose from
    trip.tell("SPEEDUP = 1.5")
    trip.export()
    with pytest.raises(UserError, match=f"No job for the target '{TARGET}' is of a run"):
        trip.work(runs=("nobody",), target=TARGET)
    with pytest.raises(UserError, match="one part is empty; there are: "):
        trip.work(runs=("",))
    assert trip.executed() == []
