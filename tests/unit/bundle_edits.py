"""Edits of bundles, and their refusals."""

import json
from dataclasses import replace
from typing import Any

import pytest

from kernwright.engine.bundles.checking import require_consistent
from kernwright.engine.bundles.document import read, write
from kernwright.engine.bundles.facts import Bundle, Refused
from kernwright.evaluation.timing.summary import Facts, sentence, summarise, with_left_out
from kernwright.testing.fuzzing import places_of


def refused(data: bytes) -> str:
    """Why."""
    with pytest.raises(Refused) as error:
        require_consistent(read(data).bundle)
    text = str(error.value)
    assert "\n" not in text
    assert text.isprintable()
    assert len(text) < 1000
    return text


def accepted(bundle: Bundle) -> None:
    """With all computed anew that follows."""
    require_consistent(read(resummarised(bundle)).bundle)


def with_evaluation(bundle: Bundle, **edits: Any) -> Bundle:
    return replace(bundle, evaluation=replace(bundle.evaluation, **edits))


def resummarised(bundle: Bundle) -> bytes:
    """An edited bundle whose editor has computed anew whatever follows from the rest, and all hashes."""
    outcome = bundle.verified
    facts = Facts(
        workloads=bundle.problem.timed,
        plan=bundle.plan,
        copy_ns=tuple(each.copy_ns for each in outcome.timings.workloads),
        floor_ns=tuple(each.floor_ns for each in outcome.timings.workloads),
        aa_log_ratios=outcome.timings.aa_log_ratios,
        cache=outcome.timings.cache,
    )
    first = summarise(outcome.first_samples, facts)
    timings = with_left_out(summarise(outcome.timings.samples, facts), first)
    evaluation = replace(
        bundle.evaluation,
        candidate=bundle.candidate.id,
        problem=bundle.problem.id,
        plan=bundle.plan.name,
        outcome=replace(outcome, timings=timings, reason=sentence(timings)),
    )
    return write(replace(bundle, evaluation=evaluation))


def at(document: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


def other(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return value + "x"
        case None:
            return 1.0
    return [*value, 0.5] if isinstance(value, list) else {**value, "x": 0.5}


def every_field_is_refused(data: bytes) -> None:
    """Asserts it for each leaf of the file, and that the part is named."""
    document = json.loads(data)
    paths = places_of(document)
    assert len(paths) > 200
    for path in paths:
        changed = json.loads(data)
        holder = at(changed, path[:-1])
        holder[path[-1]] = other(holder[path[-1]])
        text = (json.dumps(changed, sort_keys=True, separators=(",", ":")) + "\n").encode()
        reason = refused(text)
        if path[0] == "parts":
            assert reason.startswith(f"{path[1]}: it was edited"), (path, reason)
