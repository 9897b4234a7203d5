"""What is remembered: within a run by mode and rate, of failures and repairs, and from one run to the next."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Kernwright
from engine_runs import append, of_kind, spec
from model_runs import LLM, reply, script

from kernwright.core.brief import Brief, Pick, Proposed
from kernwright.core.errors import UserError
from kernwright.core.events import ModelCalled, NoteLearned, Picked, RunStarted
from kernwright.core.graph import Graph
from kernwright.core.guidance import Guidance, MemoryMode
from kernwright.core.model import Prompt
from kernwright.core.note import Learned, Note
from kernwright.core.problem import Problem, Rules, Workload
from kernwright.core.spec import Budget, Memory, OperatorSpec
from kernwright.engine import intake, service
from kernwright.engine.briefs import brief_of
from kernwright.engine.journal import Journal
from kernwright.engine.replaying import replayed
from kernwright.engine.shelves import of_home
from kernwright.knowledge.library import Library
from kernwright.store.codec import decode
from kernwright.store.sql import SqlStore

pytest.importorskip("jinja2")
SOURCE = "class Model:\n    def forward(self, x):\n        return torch.softmax(x, -1)\n"
ROWS = Problem(name="rows", source=SOURCE, workloads=(Workload(name="default", params={"rows": 128}),))
GUIDANCE = Guidance(best="full", insights=3, knowledge_tokens=2000, failures=3, mended=2, errors=True)


def run(
    home: Path,
    *texts: str,
    problem: Problem = ROWS,
    memory: Memory = "on",
    policy: str = "refine",
    guidance: Guidance = GUIDANCE,
    **changes: Any,
) -> tuple[str, Graph, list[str]]:
    """A run of as many proposals as there are texts; its prompts, which come out again when it is replayed."""
    home.mkdir(exist_ok=True)
    plain: dict[str, Any] = {"proposals_in_flight": 1, "policy": policy, "repairs": 1, **changes}
    asked = replace(spec(LLM, **plain), models=(script(home, *texts),), memory=memory, guidance=guidance)
    made = service.create(home, asked, problem)
    graph = service.drive(home, made, resume=False)
    store = SqlStore(home)
    try:
        assert replayed(store, made).differences == ()
        prompts = [decode(Prompt, store.get(call.prompt)).user for call in of_kind(home, made, ModelCalled)]
    finally:
        store.close()
    return made, graph, prompts


def notes(home: Path, kind: str = "") -> list[Note]:
    return [n for n in of_home(home).notes if n.learned is not None and n.learned.kind.startswith(kind)]


def brief(home: Path, run: str, pick: Pick) -> Brief:
    """The brief of a node that is picked now."""
    store = SqlStore(home)
    try:
        number = len(Journal(store, run).graph.nodes)
        append(home, run, Picked(node=number, pick=pick))
        return brief_of(Journal(store, run), number)
    finally:
        store.close()


def family(home: Path, mode: MemoryMode, rate: float = 1.0) -> str:
    """A run whose node 3 has the line 0, 1 above it and the sibling 2."""
    texts = [reply(f"SPEEDUP = 1.{n}", f"idea {n}") for n in range(3)]
    guidance = Guidance(memory=mode, memory_rate=rate)
    made, _, _ = run(home, *texts[:2], memory="run", guidance=guidance, budget=Budget(proposals=2))
    append(home, made, Picked(node=2, pick=Pick(parents=(1,), intent="improve")))
    script(home, *texts)
    service.drive(home, made, resume=True, budget=Budget(proposals=3))
    return made


@pytest.mark.parametrize(("mode", "told"), [("none", []), ("parent", [0, 1]), ("siblings", [2]), ("both", [0, 1, 2])])
@pytest.mark.parametrize("by_pick", [False, True])
def test_each_node_has_a_mode(tmp_path: Path, mode: MemoryMode, told: list[int], by_pick: bool) -> None:
    """From the guidance, or from the policy's pick, which comes before it."""
    made = family(tmp_path, "both" if by_pick else mode)
    pick = Pick(parents=(1,), intent="improve", memory=mode if by_pick else True)
    assert [recalled.node for recalled in brief(tmp_path, made, pick).memory] == told


def test_a_method_without_memory_has_none_whatever_a_policy_picks(tmp_path: Path) -> None:
    made = family(tmp_path, "none")
    assert brief(tmp_path, made, Pick(parents=(1,), intent="improve", memory="both")).memory == ()


def test_modes_are_drawn_for_each_node_and_a_rate_leaves_some_without(tmp_path: Path) -> None:
    (tmp_path / "drawn").mkdir()
    (tmp_path / "half").mkdir()
    drawn = family(tmp_path / "drawn", "drawn")
    pick = Pick(parents=(1,), intent="improve")
    seen = {tuple(r.node for r in brief(tmp_path / "drawn", drawn, pick).memory if r.node < 3) for _ in range(24)}
    assert seen == {(), (0, 1), (2,), (0, 1, 2)}
    half = family(tmp_path / "half", "parent", rate=0.5)
    told = [bool(brief(tmp_path / "half", half, pick).memory) for _ in range(40)]
    assert 8 < sum(told) < 32


def test_a_failure_that_comes_again_is_told_once_with_how_often(tmp_path: Path) -> None:
    texts = [reply(f"WRONG = True; N = {n}", f"try {n}") for n in range(3)]
    texts += ["no source here", reply("SPEEDUP = 1.1")]
    made, _, asked = run(tmp_path, *texts, memory="run")
    told = asked[4].partition("## What failed lately; do not repeat it")[2].partition("\n## ")[0]
    assert told.strip().splitlines() == [
        "* solution 2: try 2: wrong (3 times); wrong as ordered",
        "* solution 3: unusable; the reply holds no block of source",
    ]
    assert made


def test_what_failed_of_the_same_parent_is_told_before_later_failures_of_others(tmp_path: Path) -> None:
    texts = [reply("SPEEDUP = 1.2", "right"), reply("WRONG = 'the tail is not masked'", "of the right one")]
    made, graph, _ = run(
        tmp_path, *texts, memory="run", guidance=replace(GUIDANCE, failures=1), repairs=0, budget=Budget(proposals=2)
    )
    assert graph.nodes[1].pick.parents == (0,)
    append(tmp_path, made, Picked(node=2, pick=Pick()))
    script(tmp_path, *texts, reply("WRONG = 'rounding is too coarse'", "from nothing"))
    service.drive(tmp_path, made, resume=True, budget=Budget(proposals=3))
    told = brief(tmp_path, made, Pick(parents=(0,), intent="improve")).failures
    assert [recalled.summary for recalled in told] == ["of the right one"]
    assert [recalled.node for recalled in brief(tmp_path, made, Pick()).failures] == [2]
    assert brief(tmp_path, made, Pick(parents=(0,), intent="improve", memory=False)).failures == ()


def test_whoever_works_on_a_failure_is_told_what_mended_the_same_before(tmp_path: Path) -> None:
    texts = [
        reply("WRONG = True; A = 1", "first try"),
        reply("SPEEDUP = 1.2; A = 2", "cleared the output"),
        reply("WRONG = True; A = 3", "second try"),
        reply("SPEEDUP = 1.3; A = 4", "again"),
    ]
    _, graph, asked = run(tmp_path, *texts, memory="run")
    assert [node.pick.intent for node in graph.nodes][:4] == ["start", "repair", "improve", "repair"]
    assert "The same error was mended before" not in asked[1]
    assert "## The same error was mended before, in solution 1\n" in asked[3]
    assert "-WRONG = True\n-A = 1\n+SPEEDUP = 1.2\n+A = 2" in asked[3]


def test_what_mended_another_error_is_not_told(tmp_path: Path) -> None:
    texts = [
        reply("WRONG = 'the tail is not masked'", "first try"),
        reply("SPEEDUP = 1.2; A = 2", "masked it"),
        reply("WRONG = 'rounding is too coarse'", "second try"),
        reply("SPEEDUP = 1.3; A = 4", "again"),
    ]
    _, graph, asked = run(tmp_path, *texts, memory="run")
    assert [node.pick.intent for node in graph.nodes][:4] == ["start", "repair", "improve", "repair"]
    assert "rounding is too coarse" in asked[3]
    assert "The same error was mended before" not in asked[3]


def test_the_next_run_is_told_what_mended_the_same_error(tmp_path: Path) -> None:
    broken, right = reply("WRONG = True; A = 1", "first"), reply("SPEEDUP = 1.2", "cleared the output")
    first, _, _ = run(tmp_path, broken, right)
    [kept] = notes(tmp_path, "repair")
    assert kept.bottlenecks == ("numerics",)
    assert "Mended by: it is fast" in kept.text
    assert "    +SPEEDUP = 1.2" in kept.text
    _, graph, asked = run(tmp_path, reply("WRONG = True; B = 1"), reply("SPEEDUP = 1.25"), operators=(LLM,))
    told = next(text for text in asked if "The same error was mended before" in text)
    assert f"in solution 1 of run {first}" in told
    assert any(kept.name in names for names in graph.told.values())
    [counted] = notes(tmp_path, "repair")
    assert counted.learned is not None
    assert counted.learned.confirmed >= 1


def test_a_run_leaves_what_made_kernels_faster_with_where_it_is_from(tmp_path: Path) -> None:
    texts = [
        reply("SPEEDUP = 1.1", "plain", "rows fit a register file"),
        reply("SPEEDUP = 1.6", "online", "one pass is enough"),
        reply("SPEEDUP = 0.8", "wide", "blocks of 4096 spill"),
    ]
    made, graph, _ = run(tmp_path, *texts)
    found = {note.text.partition("\n")[0] for note in notes(tmp_path, "insight")}
    assert "one pass is enough" in found
    assert "blocks of 4096 spill" not in found
    assert {"Made it faster: it is fast", "Made it slower: it is fast"} & found
    note = next(note for note in notes(tmp_path) if note.title == "one pass is enough")
    assert note.evidence.startswith(f"node 1 of run {made} on cpu:null; 1.600x over")
    assert note.learned is not None
    assert (note.learned.run, note.learned.node, note.learned.problem) == (made, 1, "rows")
    assert {"softmax", "reduction"} <= set(note.tags)
    assert note.expires > note.date
    assert {event.note.name for event in of_kind(tmp_path, made, NoteLearned)} == {n.name for n in notes(tmp_path)}
    assert graph.finished is not None
    told = run(tmp_path, reply("SPEEDUP = 1.2"))[2][0]
    assert "```\none pass is enough\n" in told


def test_errors_that_nothing_mended_are_kept_as_what_not_to_repeat(tmp_path: Path) -> None:
    run(tmp_path, *(reply(f"WRONG = True; N = {n}", f"try {n}") for n in range(3)))
    [note] = notes(tmp_path, "failure")
    assert note.text.startswith("Failed: wrong as ordered")
    assert "came 3 times and was not mended" in note.text


def test_going_on_with_a_run_teaches_nothing_twice(tmp_path: Path) -> None:
    texts = [reply("SPEEDUP = 1.1"), reply("SPEEDUP = 1.6", "a", "one pass is enough"), reply("SPEEDUP = 1.61; N = 1")]
    made, _, _ = run(tmp_path, *texts, budget=Budget(proposals=2))
    before = {note.name: note for note in notes(tmp_path)}
    service.drive(tmp_path, made, resume=True, budget=Budget(proposals=3))
    after = {note.name: note for note in notes(tmp_path)}
    assert before == {name: after[name] for name in before}


@pytest.mark.parametrize("memory", ["run", "off"])
def test_runs_that_do_not_remember_others_leave_nothing_and_take_nothing(tmp_path: Path, memory: Memory) -> None:
    run(tmp_path, reply("SPEEDUP = 1.1"), reply("SPEEDUP = 1.6", "a", "one pass is enough"))
    before = notes(tmp_path)
    made, _, asked = run(tmp_path, reply("SPEEDUP = 1.2"), reply("SPEEDUP = 1.9", "b", "two"), memory=memory)
    assert notes(tmp_path) == before
    assert "one pass is enough" not in asked[0]
    assert of_kind(tmp_path, made, RunStarted)[0].seeds == ()


def test_memory_off_tells_nothing_of_earlier_nodes_but_what_is_worked_on() -> None:
    given = {"target": "cpu:x86-64-v4", "executor": "jobs", "method": "kernwright"}
    on, off = intake.spec_of({**given, "memory": "on"}), intake.spec_of({**given, "memory": "off"})
    assert (on.guidance.memory, on.guidance.failures, on.guidance.insights) == ("both", 3, 3)
    nothing = replace(on.guidance, memory="none", failures=0, insights=0, mended=0)
    assert off.guidance == nothing
    with pytest.raises(UserError, match="The memory 'all' is none; it is one of: on, run, off"):
        intake.spec_of({**given, "memory": "all"})


def test_a_run_begins_with_the_best_of_earlier_ones_on_a_like_problem(tmp_path: Path) -> None:
    first, _, _ = run(tmp_path, reply("SPEEDUP = 1.8; N = 1"), reply("SPEEDUP = 1.2"))
    larger = replace(ROWS, workloads=(Workload(name="default", params={"rows": 256}),))
    made, graph, _ = run(tmp_path, reply("SPEEDUP = 1.1"), problem=larger)
    [seed] = of_kind(tmp_path, made, RunStarted)[0].seeds
    assert (seed.run, seed.node, seed.speedup) == (first, 0, pytest.approx(1.8))
    assert 0.4 < seed.likeness < 0.6
    draft = graph.nodes[0].draft
    assert isinstance(draft, Proposed)
    assert (draft.operator, draft.summary) == ("earlier", f"node 0 of {first}, 1.800x on a like problem")
    assert graph.champion() is graph.nodes[0]
    same = service.create(tmp_path, replace(spec(LLM), memory="on", models=(script(tmp_path, "x"),)), ROWS)
    seeds = of_kind(tmp_path, same, RunStarted)[0].seeds
    assert seeds[0].likeness == 1.0
    assert len({seed.candidate for seed in seeds}) == len(seeds)


@pytest.mark.parametrize(
    ("changes", "target"),
    [
        ({"source": SOURCE.replace("softmax", "cumsum")}, "cpu:null"),
        ({"rules": Rules(precision="float16")}, "cpu:null"),
        ({"workloads": (Workload(name="default", params={"rows": 1 << 20}),)}, "cpu:null"),
        ({"rules": Rules(vendor_libraries="forbidden")}, "cpu:null"),
        ({}, "rocm:gfx942"),
    ],
)
def test_another_operator_dtype_size_rule_or_device_is_not_like_enough(
    tmp_path: Path, changes: dict[str, Any], target: str
) -> None:
    run(tmp_path, reply("SPEEDUP = 1.8"))
    settings = replace(spec(OperatorSpec(name="mailbox")), memory="on", target=target)
    made = service.create(tmp_path, settings, replace(ROWS, **changes))
    assert of_kind(tmp_path, made, RunStarted)[0].seeds == ()


def test_what_was_slower_than_the_baseline_is_no_seed(tmp_path: Path) -> None:
    run(tmp_path, reply("SPEEDUP = 0.8"))
    made = service.create(tmp_path, replace(spec(OperatorSpec(name="mailbox")), memory="on"), ROWS)
    assert of_kind(tmp_path, made, RunStarted)[0].seeds == ()


def learnt(text: str, date: str, name: str, effect: float = 0.0, **changes: Any) -> Note:
    origin = Learned(kind="insight", run="r", node=0, problem="rows", target="cpu:x86", effect=effect)
    return Note(
        name=name,
        title=text[:80],
        text=text,
        tags=("softmax", "learnt"),
        applies_to=("cpp", "cpu:x86"),
        date=date,
        expires="2027-06-01",
        learned=replace(origin, **changes),
    )


FASTER = "Loads of 16 bytes make softmax over rows faster on this processor"
SLOWER = "Loads of 16 bytes make softmax over rows slower on this processor"


def test_what_is_said_again_confirms_what_is_there() -> None:
    library = Library([learnt(FASTER, "2026-11-01", "learnt/a")], today="2026-12-01")
    library.learn(learnt(FASTER + " too", "2026-11-20", "learnt/b"))
    [note] = library.told()
    assert note.name == "learnt/a"
    assert note.learned is not None
    assert note.learned.confirmed == 1
    assert note.date == "2026-11-20"


@pytest.mark.parametrize("newest_first", [False, True])
def test_of_two_that_contradict_each_other_the_newer_holds_and_says_so(newest_first: bool) -> None:
    old, new = learnt(FASTER, "2026-11-01", "learnt/old"), learnt(SLOWER, "2026-11-20", "learnt/new")
    library = Library([], today="2026-12-01")
    for note in (new, old) if newest_first else (old, new):
        library.learn(note)
    [told] = library.told()
    assert told.name == "learnt/new"
    assert "This contradicts what was noted on 2026-11-01 (learnt/old: Loads of 16 bytes" in told.text
    assert "the newer holds" in told.text
    assert [note.name for note in library.recall((), "softmax loads", 5)] == ["learnt/new"]


def test_what_was_measured_decides_what_a_lesson_speaks_for() -> None:
    same = "Made it: one thread a row"
    library = Library([learnt(same, "2026-11-01", "learnt/a", effect=0.3)], today="2026-12-01")
    library.learn(learnt(same, "2026-11-02", "learnt/b", effect=-0.2))
    assert [note.name for note in library.told()] == ["learnt/b"]


@pytest.mark.parametrize(
    "other",
    [
        learnt(FASTER.replace("16", "32"), "2026-11-20", "learnt/b"),
        replace(learnt(FASTER, "2026-11-20", "learnt/b"), applies_to=("triton", "cuda:sm_90a")),
        replace(learnt(FASTER, "2026-11-20", "learnt/b"), tags=("scan", "cumsum")),
        learnt("Two rows side by side hide the latency of the exponential", "2026-11-20", "learnt/b"),
    ],
)
def test_other_numbers_places_operators_or_words_are_other_lessons(other: Note) -> None:
    library = Library([learnt(FASTER, "2026-11-01", "learnt/a")], today="2026-12-01")
    library.learn(other)
    assert len(library.told()) == 2


def test_notes_grow_old_and_are_outvoted() -> None:
    note = learnt(FASTER, "2026-11-01", "learnt/a")
    assert Library([note], today="2027-06-01").told()
    assert not Library([note], today="2027-06-02").told()
    library = Library([note], today="2026-12-01")
    library.count("learnt/a", refuted=1)
    assert library.told()
    library.count("learnt/a", refuted=1)
    assert not library.told()
    library.count("learnt/a", confirmed=1)
    assert library.told()
    assert library.count("guidance/none", confirmed=1) is None


def test_documents_supersede_by_name_and_the_newer_holds() -> None:
    old = Note(name="guidance/a", title="a", text="a", tags=("x", "y"), date="2026-01-01")
    new = replace(old, name="guidance/b", date="2026-02-01", supersedes=("guidance/a",))
    assert [note.name for note in Library([old, new]).told()] == ["guidance/b"]
    turned = [replace(old, date="2026-03-01"), new]
    assert [note.name for note in Library(turned).told()] == ["guidance/a"]


def test_a_note_that_was_told_is_counted_by_what_came_of_it(tmp_path: Path) -> None:
    run(tmp_path, reply("SPEEDUP = 1.1"), reply("SPEEDUP = 1.6", "a", "one pass is enough"))
    kept = next(note for note in notes(tmp_path) if note.title == "one pass is enough")
    run(tmp_path, reply("SPEEDUP = 1.05; N = 2"), reply("SPEEDUP = 1.5; N = 3"), reply("SPEEDUP = 0.9; N = 4"))
    after = next(note for note in notes(tmp_path) if note.name == kept.name)
    assert after.learned is not None
    assert after.learned.confirmed + after.learned.refuted > 0
    again = SqlStore(tmp_path)
    last = again.runs()[-1]
    again.close()
    service.drive(tmp_path, last, resume=True)
    assert next(note for note in notes(tmp_path) if note.name == kept.name) == after


def test_the_command_refuses_a_memory_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    here = Kernwright(tmp_path, capsys)
    problem = tmp_path / "problem.py"
    problem.write_text("WORKLOADS = {'a': {}}\n\n\nclass Model:\n    pass\n\n\ndef get_inputs():\n    return []\n")
    assert "The memory 'some' is none" in here.refused("evolve", problem, "--memory", "some")
    said = here.refused("compare", "kernwright", "--problem", str(problem), "--memory", "on")
    assert "The memory 'on' cannot be compared; it is one of: run, off." in said
