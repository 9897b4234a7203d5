"""What each method has a model told, as it goes out: whole searches by the real loop, with a scripted model."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from engine_runs import PROBLEM, append, of_kind
from model_runs import LLM, reply, script
from test_knowledge_told import PACK, ROWS
from test_methods import TABLE, run_of

from kernwright.core.brief import Pick
from kernwright.core.events import ModelCalled, Picked, Steered
from kernwright.core.model import Prompt
from kernwright.core.problem import Problem
from kernwright.core.spec import Budget
from kernwright.engine import service
from kernwright.engine.replaying import replayed
from kernwright.engine.shelves import packs_of
from kernwright.store.codec import decode
from kernwright.store.sql import SqlStore

pytest.importorskip("jinja2")
SPEEDUPS = (0.8, 1.1, 1.05, 1.3, 1.2, 1.25, 0.9, 1.28, 1.1, 1.22)
KINDS = {
    "Profile of": "profile",
    "What happened": "errors",
    "What limits": "diagnosis",
    "Insights": "insights",
    "What was tried": "memory",
    "What failed": "failures",
}


def says(seen: str = "") -> list[str]:
    """Replies as of a model that has a good idea early: some are wrong, the second among them, some hold no source.
    `seen` is what a look at each kernel comes to."""
    texts = []
    for n in range(60):
        speedup = SPEEDUPS[n % len(SPEEDUPS)]
        text = reply(
            "WRONG = True" if n % 5 == 1 else f"SPEEDUP = {speedup}; N = {n}; {seen}", f"idea {n}", f"lesson {n}"
        )
        texts.append("I would rather not." if n % 7 == 6 else text)
    return texts


@dataclass(frozen=True)
class Told:
    """Of the prompts for one intent: how many solutions at most, how, and what else at least one of them tells."""

    solutions: int = 0
    how: str = ""
    kinds: frozenset[str] = frozenset()


def told(prompts: list[str]) -> Told:
    """What prompts tell beside the task and the contract."""
    kinds = {kind for user in prompts for heading, kind in KINDS.items() if f"\n## {heading}" in user}
    shown = [re.findall(r"^## Solution \d+.*(?:\n+Name: (.*))?", user, re.MULTILINE) for user in prompts]
    how = {"full" if name else "code" for names in shown for name in names}
    return Told(max(map(len, shown)), " and ".join(sorted(how)), frozenset(kinds))


def full(solutions: int, *kinds: str) -> Told:
    return Told(solutions, "full", frozenset(kinds))


def code(solutions: int, *kinds: str) -> Told:
    return Told(solutions, "code", frozenset(kinds))


def key(pick: Pick) -> str:
    """Intent and variant; of a start that is made again with others in view, that too."""
    again = " again" if pick.intent == "start" and pick.parents else ""
    return f"{pick.intent}{again}" + (f".{pick.variant}" if pick.variant else "")


TASK = Told()
EOH = {"start": TASK, "improve.m1": full(1), "improve.m2": full(1)}
FUNSEARCH = {"start": TASK, "improve": code(1), "combine": code(2)}
MEMORY = ("memory", "failures")
UNIVERSAL = ("insights", "profile", *MEMORY)
KERNELEVOLVE = {"start": TASK, "repair": full(2, "errors", *UNIVERSAL)}
# METHODS by intent. Knowledge and diagnosis have no source in these runs; KNOWLEDGE and DIAGNOSED say who is told them.
METHODS: dict[str, dict[str, Told]] = {
    "evoengineer-free": {"start": TASK, "start again": code(1)},
    "evoengineer-insight": {"start": TASK, "start again": full(1, "insights", "profile")},
    "evoengineer-full": {
        "start": TASK,
        "improve": full(2, "insights", "profile"),  # the best and the parent
        "combine": full(3, "insights", "profile"),
    },
    "eoh": {**EOH, "combine.e1": full(2), "combine.e2": full(2)},
    "eoh-paper": {**EOH, "combine.e1": full(5), "combine.e2": full(5), "simplify.m3": full(1)},
    "funsearch": FUNSEARCH,
    "funsearch-code": FUNSEARCH,
    "ai-cuda-engineer": {
        "start.convert": TASK,
        "port.translate": full(1, "profile"),
        "repair.translate": full(1, "errors"),
        "improve.optimise": full(5, "profile"),
        "combine.compose": full(5, "profile"),
    },
    "kernelevolve-greedy": {**KERNELEVOLVE, "improve": full(2, *UNIVERSAL)},
    "kernelevolve-mcts": {**KERNELEVOLVE, "improve": full(2, *UNIVERSAL)},
    "kernelevolve-evolution": {**KERNELEVOLVE, "improve": full(2, *UNIVERSAL), "combine": full(3, *UNIVERSAL)},
    "best-of-n": {"start": TASK},
    "refine": {"start": TASK, "improve": code(1, "profile"), "repair": code(1, "errors")},
    "kernwright": {
        "start": TASK,
        "start.restructure": full(3, "insights", "profile", "failures"),  # the best and two others
        "improve": full(4, *UNIVERSAL),
        "improve.restructure": full(3, *UNIVERSAL),
        "combine.restructure": full(4, *UNIVERSAL),
        "combine": full(5, *UNIVERSAL),
        "repair": full(4, "errors", *UNIVERSAL),
    },
}
# Of 45 proposals of the default few or none are these.
RARE = {"start.restructure", "improve.restructure", "combine.restructure", "combine", "repair"}


def searched(
    name: str, folder: Path, texts: Sequence[str] = (), problem: Problem = PROBLEM, **changes: Any
) -> tuple[list[tuple[Pick, str]], str]:
    """Every pick with the prompt that it came to, and the run."""
    settings = run_of(name, LLM, models=(script(folder, *(texts or says())),), **changes)
    made = service.create(folder, settings, problem)
    service.drive(folder, made, resume=False)
    picks = {event.node: event.pick for event in of_kind(folder, made, Picked)}
    store = SqlStore(folder)
    try:
        calls = of_kind(folder, made, ModelCalled)
        return [(picks[call.node], decode(Prompt, store.get(call.prompt)).user) for call in calls], made
    finally:
        store.close()


def by_intent(asked: list[tuple[Pick, str]]) -> dict[str, Told]:
    found: dict[str, list[str]] = {}
    for pick, user in asked:
        found.setdefault(key(pick), []).append(user)
    return {name: told(users) for name, users in found.items()}


@pytest.mark.parametrize("name", sorted(TABLE))
def test_each_tells_what_its_paper_says_and_nothing_else(name: str, tmp_path: Path) -> None:
    asked, _ = searched(name, tmp_path)
    assert len(asked) == 45
    found, expected = by_intent(asked), METHODS[name]
    for intent, told_of in found.items():  # how many there are by then, and who is best, depends on who ends first
        assert told_of.how == expected[intent].how, intent
        assert told_of.solutions <= expected[intent].solutions, intent
        assert told_of.kinds <= expected[intent].kinds, intent
    often = expected.keys() - (RARE if name == "kernwright" else set())
    assert found.keys() >= often
    for intent in often:
        assert found[intent].kinds == expected[intent].kinds, intent


KNOWLEDGE = {
    **dict.fromkeys(("kernelevolve-greedy", "kernelevolve-mcts", "kernelevolve-evolution", "kernwright"), True),
    "ai-cuda-engineer": {"combine.compose"},
}
DIAGNOSED = {"kernelevolve-greedy", "kernelevolve-mcts", "kernelevolve-evolution", "kernwright"}


@pytest.mark.parametrize("name", sorted(TABLE))
def test_knowledge_and_diagnosis_are_told_where_the_table_says(name: str, tmp_path: Path) -> None:
    """With notes that speak of everything, and profiles that say what limits each kernel."""
    notes = {"knowledge": packs_of([PACK]), "built_in": False}
    asked, _ = searched(name, tmp_path, says('COUNTERS = {"dram_busy": 0.9}'), ROWS, **notes)
    headings = {"knowledge": "\n## Knowledge", "diagnosis": "\n## What limits"}
    told = {what: {key(p) for p, user in asked if heading in user} for what, heading in headings.items()}
    kinds = {key(pick) for pick, _ in asked}
    where = KNOWLEDGE.get(name, set())
    assert told["knowledge"] == (kinds if where is True else where)
    # A start has no parent that could be limited; why a failure failed stands with its errors.
    limited = {key(pick) for pick, _ in asked if pick.parents and pick.intent != "repair"}
    assert told["diagnosis"] == (limited if name in DIAGNOSED else set())


@pytest.mark.parametrize("name", sorted(TABLE))
def test_each_search_can_be_gone_through_again(name: str, tmp_path: Path) -> None:
    """Picks, prompts and drafts follow from the journal, with several in flight."""
    _, made = searched(name, tmp_path, seed=1)
    store = SqlStore(tmp_path)
    try:
        again = replayed(store, made)
    finally:
        store.close()
    assert again.differences == ()
    assert (again.picks, again.prompts) == (45, 45)


def test_of_the_default_islands_without_memory_recall_nothing_and_the_others_now_and_then(tmp_path: Path) -> None:
    asked, _ = searched("kernwright", tmp_path)
    children = [(pick, told([user]).kinds) for pick, user in asked if pick.parents]
    plain = [kinds for pick, kinds in children if not pick.memory]
    others = [kinds for pick, kinds in children if pick.memory]
    assert plain
    assert all(kinds.isdisjoint(MEMORY) for kinds in plain)
    assert {"memory" in kinds for kinds in others} == {True, False}


@pytest.mark.parametrize("name", sorted(TABLE))
def test_hints_and_banned_ideas_reach_every_prompt(name: str, tmp_path: Path) -> None:
    settings = run_of(name, LLM, models=(script(tmp_path, *says()),), budget=Budget(proposals=9))
    made = service.create(tmp_path, settings, PROBLEM)
    for action, text in (("hint", "rows are contiguous"), ("ban", "shared memory")):
        append(tmp_path, made, Steered(action=action, text=text))
    service.drive(tmp_path, made, resume=True)
    store = SqlStore(tmp_path)
    try:
        prompts = [decode(Prompt, store.get(call.prompt)).user for call in of_kind(tmp_path, made, ModelCalled)]
    finally:
        store.close()
    assert len(prompts) == 9
    assert all("* rows are contiguous\n* Do not try this: shared memory\n" in user for user in prompts)
