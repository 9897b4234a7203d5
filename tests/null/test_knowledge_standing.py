"""Which notes stand beside each other, what a search finds among the packaged ones, and that all of a note counts."""

from dataclasses import replace

import pytest

from kernwright.core.guidance import BYTES_PER_TOKEN
from kernwright.core.note import Learned, Note
from kernwright.core.problem import Problem, Workload
from kernwright.knowledge.folders import read_built_in
from kernwright.knowledge.library import Library
from kernwright.knowledge.merging import standing
from kernwright.knowledge.passages import told
from kernwright.knowledge.situations import Situation

TODAY = "2026-12-01"
BUILT_IN = Library(read_built_in().notes)


def note(name: str, *supersedes: str, date: str = "2026-11-01", **more: str) -> Note:
    return Note(name=name, title=name, text="Loads are wide.", date=date, supersedes=supersedes, **more)  # type: ignore[arg-type]


def left(*notes: Note) -> list[str]:
    return [each.name for each in standing(notes, TODAY)]


def test_a_newer_note_stands_in_place_of_an_older_one_whichever_says_so() -> None:
    assert left(note("a"), note("b", "a", date="2026-11-02")) == ["b"]
    assert left(note("a", "b"), note("b", date="2026-11-02")) == ["b"]
    assert left(note("b"), note("a", "b")) == ["a"]
    assert left(note("c"), note("b", "c"), note("a", "b")) == ["a"]


def test_notes_of_one_day_that_supersede_each_other_are_not_both_lost() -> None:
    assert left(note("a", "b"), note("b", "a")) == ["b"]
    assert left(note("a", "b"), note("b", "c"), note("c", "a")) == ["b", "c"]


def test_a_note_does_not_supersede_itself() -> None:
    assert left(note("a", "a")) == ["a"]


def test_what_does_not_stand_takes_nothing_with_it() -> None:
    assert left(note("a"), note("b", "a", date="2026-11-02", expires="2026-11-20")) == ["a"]
    refuted = Learned(kind="insight", run="r", node=0, problem="p", target="cpu:x86", refuted=2)
    assert left(note("a"), replace(note("b", "a", date="2026-11-02"), learned=refuted)) == ["a"]


@pytest.mark.parametrize(
    ("target", "languages", "about"),
    [
        ("cuda:sm_90a", ("triton", "cuda"), {"cuda", "triton"}),
        ("cpu:x86-64-v4", ("cpp", "torch"), {"cpp", "cpu"}),
    ],
)
def test_whoever_searches_for_a_note_by_its_title_finds_it(
    target: str, languages: tuple[str, ...], about: set[str]
) -> None:
    wanted = [
        each
        for each in BUILT_IN.told()
        if each.name.startswith(("guidance/", "samples/")) and about & set(each.applies_to)
    ]
    found = [each for each in wanted if each in BUILT_IN.recall((target, *languages), each.title, 5)]
    assert len(wanted) > 40
    assert len(found) >= 0.95 * len(wanted)


def test_words_that_are_searched_for_count_beside_a_target() -> None:
    for target, languages in (("cuda:sm_90a", ("triton", "cuda")), ("cpu:x86-64-v4", ("cpp", "torch"))):
        first = BUILT_IN.recall((target, *languages), "softmax", 1)
        assert "softmax" in first[0].name


@pytest.mark.parametrize("tokens", [200, 1000, 3000])
def test_title_name_and_evidence_are_within_the_budget(tokens: int) -> None:
    wide = [
        replace(note(f"constraints/{n}"), evidence="measured " * 300, applies_to=("any",), pack="toy")
        for n in range(40)
    ]
    situation = Situation(
        problem=Problem(name="rows", source="class Model: ...", workloads=(Workload(name="w"),)),
        target="cpu:x86-64-v4",
        languages=("cpp",),
    )
    passages, _ = told(Library(wide), situation, tokens, first=("toy",))
    assert sum(len(each.quoted.encode()) for each in passages) <= tokens * BYTES_PER_TOKEN
