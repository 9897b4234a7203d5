"""A run's models: caps before calls, attempts, ensembles, what is journalled, what is not."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from engine_runs import PROBLEM, append, created, of_kind, spec
from model_runs import LLM, Says, Slow, asking, reply, said, script

from kernwright.core.brief import Brief, Exhausted, Pick, Proposed
from kernwright.core.errors import MachineFault, UserError
from kernwright.core.events import Drafted, Evaluated, ModelCalled, Picked, RunFinished
from kernwright.core.model import Answered, ModelBusy, ModelOver, ModelRefused, ModelSpec, Prompt, Reply
from kernwright.core.spec import Budget, OperatorSpec
from kernwright.engine import service, wiring
from kernwright.engine.calling import ATTEMPTS, REFUSALS, Calls, arms_of
from kernwright.engine.journal import Journal
from kernwright.models.ensemble import Arm, chosen
from kernwright.store.sql import SqlStore

pytest.importorskip("jinja2")
PRICED = ModelSpec(name="m:one", usd_in=1.0, usd_out=10.0, max_tokens=1000)
ASKED = Prompt(system="s" * 100, user="u" * 644)  # 1000 tokens at most, the framing included


class Desk:
    """A run with one open node, its journal, and what was slept."""

    def __init__(self, home: Path, **budget: Any) -> None:
        self.run = created(home, OperatorSpec(name="given"), budget=Budget(**budget))
        append(home, self.run, Picked(node=0, pick=Pick()))
        self.store = SqlStore(home)
        self.journal = Journal(self.store, self.run)
        self.slept: list[float] = []
        self.ended: list[int] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def ask(self, *models: tuple[ModelSpec, Says], times: int = 1) -> list[Answered | BaseException]:
        """What the calls, all at once, came to."""
        brief = Brief(
            run=self.run, node=0, intent="start", problem=PROBLEM, target="cpu:null", parents=(), seed=0, after=7
        )

        async def one(calls: Calls, number: int) -> Answered:
            try:
                return await calls.ask(brief, ASKED)
            finally:
                self.ended.append(number)

        async def all_of_them() -> list[Answered | BaseException]:
            calls = Calls(self.journal, models, self.sleep)
            return await asyncio.gather(*(one(calls, i) for i in range(times)), return_exceptions=True)

        return asyncio.run(all_of_them())

    @property
    def calls(self) -> Sequence[ModelCalled]:
        return self.journal.graph.calls


def test_a_call_is_journalled_with_its_texts_and_price(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    (answer,) = desk.ask((PRICED, Says(said("hello", 400, 50))))
    assert isinstance(answer, Answered)
    assert (answer.model, answer.reply.text) == ("m:one", "hello")
    (call,) = desk.calls
    assert (call.node, call.model, call.intent, call.error, call.after) == (0, "m:one", "start", "", 7)
    assert (call.tokens_in, call.tokens_out) == (400, 50)
    assert call.usd == pytest.approx(400e-6 + 500e-6)
    assert b'"user":"uuu' in desk.store.get(call.prompt)
    assert b'"text":"hello"' in desk.store.get(call.reply)
    assert desk.journal.graph.spent.usd == pytest.approx(900e-6)
    assert desk.journal.graph.spent.tokens == 450


def test_attempts_wait_longer_each_time_or_as_long_as_they_are_told(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    busy = [ModelBusy("busy"), ModelBusy("busy"), ModelBusy("limit", after_s=7.0)]
    (answer,) = desk.ask((PRICED, Says(*busy, said("done"))))
    assert isinstance(answer, Answered)
    first, second, third = desk.slept
    assert 0.75 <= first <= 1.25
    assert 1.5 <= second <= 2.5
    assert third == 7.0
    assert [call.error for call in desk.calls] == ["busy", "busy", "limit", ""]
    assert [call.usd for call in desk.calls[:3]] == [0.0] * 3


def test_what_broke_off_counts_at_the_most_that_it_can_cost(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.ask((PRICED, Says(ModelBusy("a stall", billed=True), said())))
    assert (desk.calls[0].tokens_in, desk.calls[0].tokens_out) == (1000, 1000)
    assert desk.calls[0].usd == pytest.approx(0.001 + 0.010)


def test_a_model_that_is_down_ends_the_run_after_all_attempts(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    (answer,) = desk.ask((PRICED, Says(*[ModelBusy("m:one answered 500")] * ATTEMPTS)))
    assert isinstance(answer, MachineFault)
    assert str(answer) == f"m:one answered 500 ({ATTEMPTS} attempts); the run can be resumed"
    assert len(desk.calls) == ATTEMPTS


def test_another_model_answers_where_one_is_down(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    two = ModelSpec(name="m:two")
    (answer,) = desk.ask((PRICED, Says(*[ModelBusy("down")] * ATTEMPTS)), (two, Says(said("from two"))))
    assert isinstance(answer, Answered)
    assert answer.model == "m:two"


def test_a_refused_prompt_is_journalled(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    (answer,) = desk.ask((PRICED, Says(ModelRefused("too long"))))
    assert isinstance(answer, ModelRefused)
    assert [call.error for call in desk.calls] == ["too long"]


def test_a_model_that_refuses_whatever_it_is_asked_is_not_asked_for_ever(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    model = Says(ModelRefused("too long"), said(), *[ModelRefused("no")] * 99)
    answers = desk.ask((PRICED, model), times=2 + REFUSALS + 3)
    kinds = [type(each) for each in answers]
    assert kinds[: 1 + REFUSALS] == [ModelRefused, Answered, *[ModelRefused] * (REFUSALS - 1)]
    assert [type(each) for each in answers[1 + REFUSALS :]] == [ModelOver] * 4
    assert {str(each) for each in answers[1 + REFUSALS :]} == {f"no ({REFUSALS} prompts in a row)"}
    assert len(desk.calls) == 2 + REFUSALS


def test_another_model_answers_where_one_refuses_everything(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    two = (ModelSpec(name="m:two"), Says(*[said("from two")] * 99))
    answers = desk.ask((PRICED, Says(*[ModelRefused("no")] * 99)), two, times=REFUSALS + 2)
    assert [isinstance(each, Answered) for each in answers] == [False] * (REFUSALS - 1) + [True] * 3


def test_a_model_at_fault_is_left_out_and_the_others_go_on(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    bad, two = Says(UserError("m:one refused the key (401).")), (ModelSpec(name="m:two"), Says(*[said("two")] * 9))
    answers = desk.ask((PRICED, bad), two, times=5)
    assert [each.model for each in answers if isinstance(each, Answered)] == ["m:two"] * 5
    assert len(bad.asked) == 1
    (refused,) = [call for call in desk.calls if call.barred]
    assert (refused.error, refused.usd, refused.tokens_in) == ("m:one refused the key (401).", 0.0, 0)


def test_with_no_model_left_the_calls_in_flight_land_first(tmp_path: Path) -> None:
    """Whoever ends the run now would throw away what is paid for."""
    desk = Desk(tmp_path)
    answers = desk.ask((PRICED, Slow(UserError("no key."), said("paid for", 400, 50))), times=2)
    assert [type(each) for each in answers] == [UserError, Answered]
    assert [(call.barred, call.tokens_in) for call in desk.calls] == [(True, 0), (False, 400)]
    assert desk.ended[0] == 1, "the one that was refused waits"


def test_where_some_models_are_down_and_others_at_fault_all_reasons_are_said(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    busy, fault = Says(*[ModelBusy("m:one answered 500")] * ATTEMPTS), Says(UserError("m:two has no credit (402)."))
    (answer,) = desk.ask((PRICED, busy), (ModelSpec(name="m:two"), fault))
    assert isinstance(answer, MachineFault)
    assert str(answer) == f"m:one answered 500 ({ATTEMPTS} attempts); m:two has no credit (402); the run can be resumed"


@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        ({"usd": 0.0109}, "the budget of 0.0109 usd leaves no room for another call"),
        ({"tokens": 1999}, "the budget of 1999 tokens leaves no room for another call"),
    ],
)
def test_a_cap_is_checked_before_the_call_against_its_most(tmp_path: Path, budget: Any, reason: str) -> None:
    desk = Desk(tmp_path, **budget)
    model = Says(said())
    (answer,) = desk.ask((PRICED, model))
    assert isinstance(answer, ModelOver)
    assert reason in str(answer)
    assert not model.asked
    (enough,) = Desk(tmp_path / "more", **{name: n * 2 for name, n in budget.items()}).ask((PRICED, Says(said())))
    assert isinstance(enough, Answered)


def test_what_is_in_flight_counts_at_its_most_and_is_waited_for(tmp_path: Path) -> None:
    """Room for one call at its most; each really takes a fiftieth: one after the other, all are made."""
    desk = Desk(tmp_path, tokens=2300)
    model = Says(*[said("x", 10, 20)] * 9)
    answers = desk.ask((PRICED, model), times=9)
    assert all(isinstance(answer, Answered) for answer in answers)
    assert desk.journal.graph.spent.tokens == 270


def test_the_cap_holds_whatever_the_calls_cost(tmp_path: Path) -> None:
    desk = Desk(tmp_path, tokens=5000)
    answers = desk.ask((PRICED, Says(*[said("x", 1000, 1000)] * 9)), times=9)
    assert sum(isinstance(answer, Answered) for answer in answers) == 2
    assert sum(isinstance(answer, ModelOver) for answer in answers) == 7
    assert desk.journal.graph.spent.tokens == 4000


def test_a_model_that_a_cap_has_no_room_for_does_not_end_another_s_part(tmp_path: Path) -> None:
    desk = Desk(tmp_path, usd=1.0)
    dear = ModelSpec(name="m:dear", usd_out=1000.0, max_tokens=10_000)
    model, cheap = Says(), replace(PRICED, name="m:cheap", usd_out=1.0)
    answers = desk.ask((dear, model), (cheap, Says(*[said()] * 3, ModelOver("no more replies"))), times=4)
    assert [each.model for each in answers if isinstance(each, Answered)] == ["m:cheap"] * 3
    assert isinstance(answers[3], ModelOver)
    assert not model.asked


def test_a_cap_ends_the_run_and_keeps_what_was_finished(tmp_path: Path) -> None:
    model = script(tmp_path, *[reply(f"SPEEDUP = 1.{i}") for i in range(99)])
    priced = ModelSpec(name=model.name, usd_out=1000.0, max_tokens=1000)
    run = asking(tmp_path, priced, budget=Budget(usd=1.2))
    graph = service.drive(tmp_path, run, resume=False)
    assert graph.finished is not None
    assert "1.2 usd leaves no room for another call" in graph.finished.reason
    assert graph.finished.champion is not None
    assert graph.spent.usd <= 1.2
    before = len([n for n in graph.nodes if n.candidate])
    assert before >= 1
    more = service.drive(tmp_path, run, resume=True, budget=Budget(usd=1.4))
    assert len([n for n in more.nodes if n.candidate]) > before
    assert more.spent.usd <= 1.4


def test_with_no_model_left_what_was_proposed_is_judged_before_the_run_ends(tmp_path: Path) -> None:
    model = script(tmp_path, "never asked")
    run = asking(tmp_path, model, proposals_in_flight=2, budget=Budget(proposals=9))
    store = SqlStore(tmp_path)

    async def driven() -> None:
        journal = Journal(store, run)
        says = Says(said(reply("SPEEDUP = 2; SLEEP_S = 0.2")), UserError("m refused the key (401)."))
        async with wiring.executor_of(journal.spec, tmp_path, print) as executor:
            await wiring.loop_of(journal, store, executor, tmp_path, Calls(journal, [(model, says)])).run()

    with pytest.raises(UserError, match=rf"\(401\). What was proposed before is judged; .* kernwright resume {run}$"):
        asyncio.run(driven())
    store.close()
    judged = [(event.node, event.score is not None) for event in of_kind(tmp_path, run, Evaluated)]
    assert judged == [(0, True)]
    assert [event.node for event in of_kind(tmp_path, run, Drafted)] == [0]
    assert not of_kind(tmp_path, run, RunFinished)


def test_a_cap_that_is_reached_already_is_a_sentence(tmp_path: Path) -> None:
    run = asking(tmp_path, script(tmp_path, reply("SPEEDUP = 2")), budget=Budget(tokens=0))
    graph = service.drive(tmp_path, run, resume=False)
    assert graph.finished is not None
    assert graph.finished.reason == "the budget of 0 tokens is spent"


def test_with_nothing_to_spend_whatever_is_free_goes_on(tmp_path: Path) -> None:
    free = script(tmp_path, *[reply(f"SPEEDUP = 1.{i}") for i in range(3)])
    for home, model, proposed in (("free", free, 3), ("dear", replace(free, usd_in=1.0), 0)):
        run = asking(tmp_path / home, model, budget=Budget(usd=0.0, proposals=3))
        graph = service.drive(tmp_path / home, run, resume=False)
        assert graph.finished is not None
        assert len([node for node in graph.nodes if node.candidate]) == proposed
        assert graph.spent.usd == 0.0
    assert "the budget of 0 usd leaves no room for another call" in graph.finished.reason


def test_a_resumed_script_goes_on_where_it_was(tmp_path: Path) -> None:
    run = asking(tmp_path, script(tmp_path, *[reply(f"SPEEDUP = 1.{i}", f"n{i}") for i in range(4)]))
    service.drive(tmp_path, run, resume=False, budget=Budget(proposals=2))
    graph = service.drive(tmp_path, run, resume=True, budget=Budget(proposals=9))
    made = [n.draft.summary for n in graph.nodes if isinstance(n.draft, Proposed)]
    assert made == ["n0", "n1", "n2", "n3"]
    ended = [e.draft for e in of_kind(tmp_path, run, Drafted) if isinstance(e.draft, Exhausted)]
    assert "has no more replies" in ended[0].reason


def test_llm_without_a_model_and_a_model_that_is_none_are_refused_before_a_run_is_made(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="needs a model to ask"):
        service.create(tmp_path, spec(LLM), PROBLEM)
    with pytest.raises(UserError, match="should look like PROVIDER:NAME"):
        service.create(tmp_path, spec(LLM, models=(ModelSpec(name="gpt"),)), PROBLEM)
    with pytest.raises(UserError, match="cannot be read"):
        service.create(tmp_path, spec(LLM, models=(ModelSpec(name="scripted:/none"),)), PROBLEM)
    assert not (tmp_path / "kernwright.db").exists()


def test_untried_models_come_first_and_then_the_one_that_brings_more_for_a_dollar() -> None:
    fresh = Arm(calls=0, gained=0.0, usd=0.0)
    dear = Arm(calls=10, gained=2.0, usd=1.0)
    cheap = Arm(calls=10, gained=1.0, usd=0.1)
    assert chosen([dear, fresh, fresh], 0) == 1
    assert chosen([dear, fresh, fresh], 1) == 2
    assert chosen([dear, cheap], 0) == 1
    assert chosen([Arm(calls=10, gained=9.0, usd=0.1), cheap], 0) == 0
    assert chosen([dear, Arm(calls=10, gained=1.0, usd=0.1, alive=False)], 0) == 0
    assert chosen([Arm(calls=1, gained=0.0, usd=0.0, alive=False)], 0) is None


def test_a_model_that_was_asked_seldom_gets_another_chance() -> None:
    often, seldom = Arm(calls=1000, gained=10.0, usd=1.0), Arm(calls=1, gained=0.0, usd=0.001)
    assert chosen([often, seldom], 0) == 1


def test_models_that_cost_nothing_are_told_apart_by_what_they_gain() -> None:
    assert chosen([Arm(calls=50, gained=1.0, usd=0.0), Arm(calls=50, gained=20.0, usd=0.0)], 0) == 1


def test_an_ensemble_is_a_function_of_the_journal(tmp_path: Path) -> None:
    good = script(tmp_path, *[reply(f"SPEEDUP = {1.5 + i / 10}") for i in range(12)], name="good.json")
    bad = script(tmp_path, *[reply(f"SPEEDUP = 0.5; N = {i}") for i in range(12)], name="bad.json")
    priced = [ModelSpec(name=m.name, usd_in=1.0, usd_out=1.0) for m in (bad, good)]
    orders = []
    for home in (tmp_path / "one", tmp_path / "two"):
        run = asking(home, *priced, budget=Budget(proposals=10))
        graph = service.drive(home, run, resume=False)
        orders.append([call.model for call in graph.calls])
    assert orders[0] == orders[1]
    assert orders[0].count(good.name) > orders[0].count(bad.name) > 0
    arms = arms_of(graph, [m.name for m in priced], ())
    assert arms[0].gained == 0.0 < arms[1].gained


def test_reply_of_any_size_is_plain_data() -> None:
    assert Reply(text="x", tokens_in=1, tokens_out=1) == said("x", 1, 1)
