"""Bundles of which one part says another thing than the next: limits, checks, names and codings of sources."""

import random
from dataclasses import replace

import pytest
from bundle_edits import accepted, refused, resummarised, with_evaluation

pytest.importorskip("torch")

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.outcome import CheckResult
from kernwright.core.plan import Limits
from kernwright.core.profile import Profile
from kernwright.engine.bundles.facts import Bundle
from kernwright.testing.bundles import made_bundle

MADE = made_bundle(random.Random(7), workloads=2)


def with_check(name: str, bundle: Bundle = MADE) -> Bundle:
    return with_evaluation(bundle, checks=(*bundle.evaluation.checks, CheckResult(name=name, passed=True)))


@pytest.mark.parametrize("name", ["zz", "", "Outputs", "sanitize", "sanitize:", "sanitize: ", "fresh_constants"])
def test_checks_that_no_judge_had(name: str) -> None:
    reason = refused(resummarised(with_check(name)))
    assert reason.startswith(f"checks: {name!r} is there, and version ")


def test_tools_may_have_watched() -> None:
    accepted(with_check("sanitize: memcheck"))
    plan = replace(MADE.plan, name="mine", sanitize=False)
    accepted(replace(MADE, plan=plan))
    assert "the plan has none" in refused(resummarised(replace(with_check("sanitize: memcheck"), plan=plan)))


def test_checks_that_came_later() -> None:
    def by(version: str, *without: str) -> Bundle:
        checks = tuple(check for check in MADE.evaluation.checks if check.name not in without)
        return with_evaluation(MADE, judge_version=version, checks=checks)

    def complaint(bundle: Bundle) -> str:
        return refused(resummarised(bundle))

    accepted(by("19", "forbidden"))
    accepted(by("5", "forbidden", "trained_weights"))
    assert complaint(by("42")) == "checks: 'forbidden' is there, and version 42 of the judge has no such check"
    assert complaint(by("44", "forbidden")) == "checks: 'forbidden' is missing"
    assert "'trained_weights' is there, and version 18" in complaint(by("18", "forbidden"))
    assert "'trained_weights' is missing" in complaint(by("20", "forbidden", "trained_weights"))
    assert "'integers' is there, and version 4" in complaint(by("4", "forbidden", "trained_weights"))


def test_a_problem_has_the_name_that_its_source_says() -> None:
    def named(name: str, source: str) -> Bundle:
        source = MADE.problem.source + source
        return replace(MADE, problem=replace(MADE.problem, name=name, source=source))

    accepted(named("any", ""))
    accepted(named("mine", "NAME = 'mine'\n"))
    for name in ("zz", "problem"):
        reason = refused(resummarised(named("made", f"NAME = {name!r}\n")))
        assert reason == f"problem: its name is 'made', and {name!r}, as its source says, was expected"


CODINGS = [
    ("# coding: zzz\n", "names an encoding that Python cannot read"),
    ("#\r# -*- coding: zzz -*-\r", "names an encoding that Python cannot read"),
    ("# coding: rot13\n", "names an encoding that Python cannot read"),
    ("# coding: utf-16\n", "UTF-8 was expected"),
    ("# coding: latin-1 µ\n", "has Python read it as 'iso-8859-1'"),
    ("#!/bin/python\n# vim: set fileencoding=cp1252 : é\n", "has Python read it as 'cp1252'"),
    ("# coding: utf-7\n", "UTF-8 was expected"),
]


@pytest.mark.parametrize(("line", "said"), CODINGS)
def test_sources_are_read_as_utf8(line: str, said: str) -> None:
    text = f"{line}def kernel(x):\n    return x\n"
    candidate = Candidate(language="torch", files=(SourceFile(name="main.py", text=text),))
    reason = refused(resummarised(replace(MADE, candidate=candidate)))
    assert reason.startswith("candidate: its source ")
    assert said in reason
    problem = replace(MADE.problem, source=line + MADE.problem.source)
    assert refused(resummarised(replace(MADE, problem=problem))).startswith("problem: its source ")


@pytest.mark.parametrize(
    "line", ["# coding: utf-8 é\n", "# -*- coding: UTF8 -*-\n", "# coding: latin-1\n", "#\n#\n# coding: zzz\n"]
)
def test_codings_that_change_nothing(line: str) -> None:
    text = f"{line}def kernel(x):\n    return x\n"
    accepted(replace(MADE, candidate=Candidate(language="torch", files=(SourceFile(name="main.py", text=text),))))


@pytest.mark.parametrize("value", [0, -1, 2**63])
@pytest.mark.parametrize("name", ["build_s", "load_s", "call_s", "reference_s", "memory_bytes", "processes"])
def test_limits_are_positive(name: str, value: int) -> None:
    limits = replace(Limits(), **{name: type(getattr(Limits(), name))(value)})
    reason = refused(resummarised(replace(MADE, plan=replace(MADE.plan, limits=limits))))
    assert reason.startswith(f"plan: its limit {name} is ")
    assert "a positive number was expected" in reason


def test_what_profiles_judges_nothing() -> None:
    assert "it holds a profile" in refused(resummarised(with_evaluation(MADE, profile=Profile())))
