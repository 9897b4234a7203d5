"""Operators that need no key: given, replay and mailbox; recordings."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from engine_runs import PROBLEM, created, of_kind, scripted, spec
from model_runs import asking, reply, script

from kernwright.core.brief import Brief, Exhausted, Intent, Proposed
from kernwright.core.candidate import Candidate
from kernwright.core.errors import MachineFault, UserError
from kernwright.core.events import Drafted
from kernwright.core.inbox import Told
from kernwright.core.outcome import Evaluation
from kernwright.core.ports import OperatorContext
from kernwright.core.spec import Budget, OperatorSpec
from kernwright.engine import service
from kernwright.engine.chain import Chain
from kernwright.engine.recording import export_recording
from kernwright.search.operators import TABLE
from kernwright.search.operators.given import Given
from kernwright.search.operators.mailbox import Mailbox
from kernwright.search.operators.replay import Replay, read_recording
from kernwright.store.sql import SqlStore
from kernwright.testing.scripted import scripted as candidate


class Desk:
    """An operator's context, with what it kept."""

    def __init__(self, *start: Candidate, used: frozenset[tuple[str, str]] = frozenset()) -> None:
        self.kept = {one.id: one for one in start}
        self.context = OperatorContext(
            home=Path(),
            run="run",
            used=used,
            start=tuple(self.kept),
            put=self._put,
            get=self.kept.__getitem__,
            trial=self._trial,
            quiet=self._quiet,
            answers=self._answered,
        )

    def _put(self, one: Candidate) -> str:
        self.kept[one.id] = one
        return one.id

    async def _trial(self, node: int, one: Candidate) -> Evaluation | None:
        return None

    async def _answered(self, node: int) -> Told:
        return Told(node=node, candidate=self._put(candidate(f"N = {node}")), author="someone", summary="so")

    @contextlib.asynccontextmanager
    async def _quiet(self) -> AsyncIterator[None]:
        yield


def brief(node: int, intent: Intent = "start") -> Brief:
    return Brief(run="run", node=node, intent=intent, problem=PROBLEM, target="cpu:null", parents=(), seed=0)


def drafts(operator: Any, *intents: Intent) -> list[Any]:
    async def asked() -> list[Any]:
        return [await operator.propose(brief(node, intent)) for node, intent in enumerate(intents)]

    return asyncio.run(asked())


def test_given_proposes_each_candidate_once_and_leaves_out_what_was_used() -> None:
    one, two = candidate("N = 1; KNOBS = {'N': [1, 2]}"), candidate("N = 2")
    made = drafts(Given(Desk(one, two).context), "start", "start", "start")
    assert [draft.kind for draft in made] == ["proposed", "proposed", "exhausted"]
    assert (made[0].candidate, made[0].item, made[0].knobs) == (one.id, one.id, ("N",))
    desk = Desk(one, two, used=frozenset({("given", one.id)}))
    assert [draft.kind for draft in drafts(Given(desk.context), "start", "start")] == ["proposed", "exhausted"]


def test_candidates_to_start_from_come_first(tmp_path: Path) -> None:
    run = service.create(tmp_path, spec(scripted("SPEEDUP = 1.1")), PROBLEM, [candidate("SPEEDUP = 1.5")])
    graph = service.drive(tmp_path, run, resume=False)
    made = [n.draft.operator for n in graph.nodes if isinstance(n.draft, Proposed)]
    assert made == ["given", "scripted"]
    assert graph.finished is not None
    assert graph.finished.champion == 0


def test_mailbox_hands_out_one_start_and_then_everything_but_tuning() -> None:
    mailbox = Mailbox(Desk().context)
    assert "tune" not in mailbox.intents
    made = drafts(mailbox, "start", "start", "improve", "repair")
    assert [draft.kind for draft in made] == ["proposed", "exhausted", "proposed", "proposed"]
    assert (made[2].author, made[2].summary, made[2].item) == ("someone", "so", "improve:2")
    again = Mailbox(Desk(used=frozenset({("mailbox", "start:0")})).context)
    assert [draft.kind for draft in drafts(again, "improve", "start")] == ["proposed", "exhausted"]


def test_a_recording_is_replayed_in_order_with_its_authors(tmp_path: Path) -> None:
    lines = ["SPEEDUP = 1.1; ZEILE = 'schnell \u2192 \u00e4'", "unusable: nothing", "WRONG = True", "SPEEDUP = 1.3"]
    run = created(tmp_path, scripted(*lines))
    first = service.drive(tmp_path, run, resume=False)
    path = tmp_path / "run.jsonl"
    _export(tmp_path, run, path, author="a model")
    header = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    assert (header["recording"], header["author"], header["problem"]) == (1, "a model", "nothing")
    replay = created(tmp_path, OperatorSpec(name="replay", settings={"recording": str(path)}))
    second = service.drive(tmp_path, replay, resume=False)
    wanted = [n.draft for n in first.nodes if isinstance(n.draft, Proposed)]
    found = [n.draft for n in second.nodes if isinstance(n.draft, Proposed)]
    assert [d.candidate for d in found] == [d.candidate for d in wanted]
    assert [d.author for d in found] == ["a script"] * 3
    assert [d.summary for d in found] == [d.summary for d in wanted]
    assert [d.item for d in found] == ["0", "1", "2"]


def test_what_a_model_wrote_is_replayed_without_the_model(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    run = asking(tmp_path, script(tmp_path, reply("SPEEDUP = 1.5", "fused"), "no kernel"))
    service.drive(tmp_path, run, resume=False)
    _export(tmp_path, run, tmp_path / "run.jsonl")
    (recorded,) = read_recording(str(tmp_path / "run.jsonl"))
    assert (recorded.summary, recorded.author.partition(":")[0]) == ("fused", "scripted")


def test_the_recordings_author_stands_in_for_drafts_without_one(tmp_path: Path) -> None:
    run = service.create(tmp_path, spec(scripted("")), PROBLEM, [candidate("SPEEDUP = 1.5")])
    service.drive(tmp_path, run, resume=False, budget=Budget(proposals=1))
    _export(tmp_path, run, tmp_path / "run.jsonl", author="a model")
    assert [entry.author for entry in read_recording(str(tmp_path / "run.jsonl"))] == ["a model"]


def test_a_replay_goes_on_after_what_was_used(tmp_path: Path) -> None:
    run = created(tmp_path, scripted("SPEEDUP = 1.1", "SPEEDUP = 1.2"))
    service.drive(tmp_path, run, resume=False)
    _export(tmp_path, run, tmp_path / "run.jsonl")
    desk = Desk(used=frozenset({("replay", "0")}))
    made = drafts(Replay(desk.context, recording=str(tmp_path / "run.jsonl")), "start", "start")
    assert [draft.kind for draft in made] == ["proposed", "exhausted"]
    assert made[0].item == "1"


def test_a_recording_without_raw_times_still_replays(tmp_path: Path) -> None:
    run = created(tmp_path, scripted("SPEEDUP = 1.1"))
    service.drive(tmp_path, run, resume=False)
    _export(tmp_path, run, tmp_path / "run.jsonl", samples=False)
    assert len(read_recording(str(tmp_path / "run.jsonl"))) == 1


@pytest.mark.parametrize(
    "text", ["", "no json", "[]", '{"recording": 1}\n{"entry": 3}', '{"recording": 1, "author": ""}\nnull']
)
def test_what_is_no_recording_is_said(tmp_path: Path, text: str) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text(text)
    with pytest.raises(UserError, match="is not a recording"):
        read_recording(str(path))


def test_missing_and_newer_recordings_are_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        read_recording(str(tmp_path / "missing.jsonl"))
    with pytest.raises(UserError, match="no recording 'dmeo'"):
        read_recording("dmeo")
    (tmp_path / "newer.jsonl").write_text('{"recording": 2}\n')
    with pytest.raises(UserError, match="newer Kernwright"):
        read_recording(str(tmp_path / "newer.jsonl"))


class Counting:
    """Answers so many times, then is exhausted; a bug where there are none."""

    def __init__(self, name: str, answers: int, *intents: Intent) -> None:
        self.name = name
        self.intents = frozenset(intents)
        self.asked = 0
        self._answers = answers

    async def propose(self, brief: Brief) -> Any:
        self.asked += 1
        if self._answers < 0:
            raise ZeroDivisionError("a bug")
        if self.asked > self._answers:
            return Exhausted(operator=self.name, intent=brief.intent)
        return Proposed(candidate="", operator=self.name)


def test_a_chain_asks_in_order_who_serves_the_intent_and_nobody_twice_after_the_end() -> None:
    one, two, three = Counting("one", 1, "start"), Counting("two", 9, "improve"), Counting("three", 1, "start")
    made = drafts(Chain([one, two, three]), "start", "start", "start", "start", "improve", "tune")
    assert [draft.operator for draft in made] == ["one", "three", "chain", "chain", "two", "chain"]
    assert (one.asked, three.asked) == (2, 2)


def test_a_bug_in_an_operator_is_the_machines_fault_with_its_place() -> None:
    with pytest.raises(MachineFault, match=r"'one' failed at intent 'start'[^$]*ZeroDivisionError: a bug"):
        drafts(Chain([Counting("one", -1, "start")]), "start")


def test_every_operator_of_the_table_is_named_after_its_file() -> None:
    for name, reference in TABLE.items():
        assert reference.startswith(f"kernwright.search.operators.{name}:")


def test_drafts_name_their_operator(tmp_path: Path) -> None:
    run = created(tmp_path, scripted("SPEEDUP = 1.1"))
    service.drive(tmp_path, run, resume=False)
    assert of_kind(tmp_path, run, Drafted)[0].draft.operator == "scripted"


def _export(home: Path, run: str, path: Path, **settings: Any) -> None:
    store = SqlStore(home)
    try:
        export_recording(store, run, path, **settings)
    finally:
        store.close()
