"""Bundles whose parts leave out what is at its default."""

import json
import random

import pytest
from bundle_edits import at, refused, with_evaluation

pytest.importorskip("torch")

from kernwright.engine.bundles import promises, spelling
from kernwright.engine.bundles.checking import require_consistent
from kernwright.engine.bundles.document import read, resealed, write
from kernwright.engine.bundles.facts import Bundle
from kernwright.testing.bundles import made_bundle

MADE = made_bundle(random.Random(7), workloads=2, target="cpu:made")
Place = tuple[str | int, ...]


def without(bundle: Bundle, path: Place, *, emptied: bool = False) -> bytes:
    """The file with a key left out, or with nothing in it."""
    parts = json.loads(write(bundle))["parts"]
    holder = at(parts, path[:-1])
    if emptied:
        holder[path[-1]] = {}
    else:
        del holder[path[-1]]
    return resealed(parts, "0")


def by_judge(version: int, bundle: Bundle = MADE) -> Bundle:
    """As a judge of this version leaves it."""
    known = {name for since, names in promises.CHECKS_SINCE.items() if since <= version for name in names}
    checks = tuple(check for check in bundle.evaluation.checks if check.name in known)
    return with_evaluation(bundle, judge_version=str(version), checks=checks)


DEFAULTS: list[Place] = [
    ("plan", "baselines"),
    ("plan", "limits"),
    ("plan", "limits", "call_s"),
    ("plan", "sanitize"),
    ("plan", "short_sets"),
    ("plan", "threads"),
    ("problem", "backward"),
    ("problem", "entry"),
    ("problem", "origin"),
    ("problem", "rules"),
    ("problem", "rules", "precision"),
    ("problem", "tolerance"),
    ("problem", "tolerance", "reduction"),
    ("problem", "workloads", 0, "held_out"),
    ("checks", 0, "detail"),
    ("evaluation", "champion"),
    ("evaluation", "checks"),
    ("evaluation", "environment"),
    ("evaluation", "failed_baselines"),
    ("evaluation", "profile"),
    ("evaluation", "outcome", "first_samples"),
    ("evaluation", "outcome", "timings", "left_out"),
    ("evaluation", "outcome", "timings", "workloads", 1, "floor_ns"),
]


@pytest.mark.parametrize("path", DEFAULTS, ids=str)
def test_what_is_at_its_default_is_stated_too(path: Place) -> None:
    reason = refused(without(MADE, path))
    assert reason.startswith(f"{path[0]}: ")
    assert str(path[-1]) in reason


@pytest.mark.parametrize("path", [("plan", "limits"), ("problem", "rules"), ("problem", "tolerance")], ids=str)
def test_what_has_defaults_alone_is_stated_too(path: Place) -> None:
    assert "is missing, and what is at its default was expected" in refused(without(MADE, path, emptied=True))


@pytest.mark.parametrize("field", spelling.FIELDS_SINCE)
def test_an_older_judge_left_out_what_it_did_not_know(field: str) -> None:
    since = spelling.FIELDS_SINCE[field]
    path: Place = tuple(part for name in field.split(".") for part in ([name[:-2], 0] if "[]" in name else [name]))
    assert "is missing" in refused(without(by_judge(since), path))
    require_consistent(read(without(by_judge(since - 1), path)).bundle)
