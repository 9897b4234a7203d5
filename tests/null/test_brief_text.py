"""What `ask` prints and says as JSON: all that the method tells, nothing that is held out."""

import json
from dataclasses import replace

import pytest

pytest.importorskip("jinja2")  # which the briefs' own tests need
from test_prompts import BEST, BRIEF, EVERYTHING, OTHER, PARENT

from kernwright.cli.brief_text import brief_json, markdown
from kernwright.search.operators.rendering import prompt_of
from kernwright.store.codec import encode

FULL = replace(BRIEF, variant="restructure", **EVERYTHING)


def test_whoever_is_asked_is_told_what_the_method_tells() -> None:
    text = markdown(FULL)
    for told in (
        "use another structure",
        "* try fewer passes",
        f"## Parent: node {PARENT.node} (torch)",
        f"## Among the best: node {BEST.node} (torch)",
        f"## Among the best: node {OTHER.node} (torch)",
        "* node 3: one pass is enough",
        "* node 1, start: name of 1: 1.500x",
        "* node 5, improve: wrong: outputs: ",
    ):
        assert told in text
    said = json.loads(encode(brief_json(FULL)))
    assert (said["variant"], said["hints"]) == ("restructure", ["try fewer passes"])
    assert [each["node"] for each in said["best"]] == [BEST.node, OTHER.node]
    assert [each["node"] for each in said["failures"]] == [5]


def test_a_brief_with_nothing_of_the_kind_has_no_empty_headings() -> None:
    text = markdown(BRIEF)
    for heading in ("Hints", "Insights", "Among the best", "What was tried", "What failed"):
        assert heading not in text


def test_the_best_is_shown_once() -> None:
    assert markdown(replace(FULL, parents=(BEST,))).count("NODE = 3") == 1


def test_a_start_from_the_best_is_no_first_one() -> None:
    again = markdown(replace(BRIEF, intent="start", parents=(BEST,)))
    assert "faster than the one below" in again
    assert "Write a first candidate" in markdown(replace(BRIEF, intent="start", parents=()))


def test_what_is_held_out_stays_out() -> None:
    for text in (markdown(FULL), encode(brief_json(FULL)).decode()):
        assert "4711" not in text
        assert "secret" not in text


def test_whoever_is_asked_for_gradients_is_told() -> None:
    backward = replace(BRIEF, problem=replace(BRIEF.problem, backward=True))
    assert "Gradients are asked for" in markdown(backward)
    assert json.loads(encode(brief_json(backward)))["problem"]["backward"] is True
    assert "Gradients" not in markdown(BRIEF)
    assert "Gradients are asked for" in prompt_of(backward).user
    assert "Gradients" not in prompt_of(BRIEF).user
