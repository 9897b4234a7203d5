"""A model that has candidates judged before it answers, under a limit."""

from pathlib import Path
from typing import Any

import pytest
from engine_runs import PROBLEM, of_kind, spec
from model_runs import reply, script

from kernwright.core.brief import Exhausted, Proposed
from kernwright.core.errors import UserError
from kernwright.core.events import Evaluated, ModelCalled
from kernwright.core.graph import Graph
from kernwright.core.model import Prompt
from kernwright.core.spec import Budget, OperatorSpec
from kernwright.engine import service
from kernwright.engine.replaying import replayed
from kernwright.store.codec import decode
from kernwright.store.sql import SqlStore

pytest.importorskip("jinja2")


def run(home: Path, *texts: str, tries: int = 2, **changes: Any) -> tuple[str, Graph, list[str]]:
    """A run of as many proposals as the texts allow; its prompts."""
    operator = OperatorSpec(name="llm", settings={"tries": tries})
    settings: dict[str, Any] = {"models": (script(home, *texts),), "proposals_in_flight": 1, **changes}
    made = service.create(home, spec(operator, **settings), PROBLEM)
    graph = service.drive(home, made, resume=False)
    store = SqlStore(home)
    try:
        asked = [decode(Prompt, store.get(call.prompt)).user for call in of_kind(home, made, ModelCalled)]
        assert replayed(store, made).differences == ()
    finally:
        store.close()
    return made, graph, asked


def proposed(graph: Graph) -> list[Proposed]:
    return [node.draft for node in graph.nodes if isinstance(node.draft, Proposed)]


def test_what_the_judge_said_of_a_try_comes_back_and_the_answer_counts(tmp_path: Path) -> None:
    first = "TRY\n" + reply("WRONG = True", "first")
    second = "TRY\n" + reply("SPEEDUP = 1.25", "second")
    made, graph, asked = run(tmp_path, first, second, reply("SPEEDUP = 1.5", "third"))
    assert [draft.summary for draft in proposed(graph)] == ["third"]
    assert "You may have 2 more candidates judged" in asked[0]
    assert "The judge said wrong:" in asked[1]
    assert "wrong as ordered" in asked[1]
    assert "You may have 1 more candidate judged" in asked[1]
    assert "speedup 1.250x" in asked[2]
    assert "This answer is final." in asked[2]
    purposes = [(e.node, e.purpose) for e in of_kind(tmp_path, made, Evaluated)]
    assert purposes == [(0, "tune"), (0, "tune"), (0, "search"), (0, "confirm")]
    assert graph.spent.evaluations == 4


def test_a_try_beyond_the_limit_is_the_answer(tmp_path: Path) -> None:
    again = ["TRY\n" + reply(f"SPEEDUP = 1.{n}", f"n{n}") for n in range(1, 4)]
    _, graph, asked = run(tmp_path, *again, tries=2)
    assert [draft.summary for draft in proposed(graph)] == ["n3"]
    assert len(asked) == 3


def test_without_tries_nothing_is_said_of_them_and_the_mark_means_nothing(tmp_path: Path) -> None:
    _, graph, asked = run(tmp_path, "TRY\n" + reply("SPEEDUP = 1.5", "only"), tries=0)
    assert "TRY" not in asked[0]
    assert [draft.summary for draft in proposed(graph)] == ["only"]


def test_a_try_that_holds_no_candidate_is_told_and_not_judged(tmp_path: Path) -> None:
    made, graph, asked = run(tmp_path, "TRY\nwhat about this", reply("SPEEDUP = 1.5"))
    assert "The judge said unusable:" in asked[1]
    assert "the reply holds no block of source" in asked[1]
    assert [e.purpose for e in of_kind(tmp_path, made, Evaluated)] == ["search", "confirm"]
    assert len(proposed(graph)) == 1


def test_with_no_evaluation_to_spare_what_was_tried_is_the_answer(tmp_path: Path) -> None:
    budget = Budget(evaluations=1)
    _, graph, asked = run(tmp_path, "TRY\n" + reply("SPEEDUP = 1.5", "tried"), "unasked", budget=budget)
    assert [draft.summary for draft in proposed(graph)] == ["tried"]
    assert len(asked) == 1


def test_an_engine_that_ended_within_a_try_goes_on(tmp_path: Path) -> None:
    made, graph, _ = run(tmp_path, "TRY\n" + reply("SPEEDUP = 1.1", "a"))
    assert [n.draft for n in graph.nodes if not isinstance(n.draft, Exhausted)] == []
    script(tmp_path, "TRY\n" + reply("SPEEDUP = 1.1", "a"), reply("SPEEDUP = 1.6", "b"))
    after = service.drive(tmp_path, made, resume=True)
    assert [draft.summary for draft in proposed(after)] == ["b"]


def test_a_negative_number_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="its tries -1, reads 0; give 0 or more"):
        run(tmp_path, "x", tries=-1)
