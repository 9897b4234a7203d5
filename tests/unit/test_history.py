"""A baseline is compared with what it took before, on this machine and under this plan."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

from kernwright.core.jobs import EvalJob
from kernwright.core.outcome import Timings, timings_of
from kernwright.core.plan import QUICK
from kernwright.evaluation.timing.history import KEPT, LEAST, beside_history
from kernwright.testing.bundles import made_bundle


def made(tmp_path: Path, eager_ns: float) -> tuple[EvalJob, Timings]:
    bundle = made_bundle(random.Random(7), eager_ns=eager_ns)
    timings = timings_of(bundle.evaluation.outcome)
    assert timings is not None
    job = EvalJob(
        candidate=bundle.candidate,
        problem=bundle.problem,
        language="torch",
        platform="cpu",
        target="cpu:made",
        plan=QUICK,
        home=str(tmp_path),
    )
    return job, timings


def told(tmp_path: Path, eager_ns: float, machine: str = "m") -> list[str]:
    job, timings = made(tmp_path, eager_ns)
    return beside_history(job, machine, timings)


def test_a_baseline_that_was_made_slower_is_named(tmp_path: Path) -> None:
    assert [told(tmp_path, 1e6) for _ in range(LEAST)] == [[]] * LEAST
    assert told(tmp_path, 1.2e6) == []
    eager, compiled = told(tmp_path, 1.6e6)
    assert "'eager' took 1595 µs on workload 'w0', 1.60 times as long as it usually does" in eager
    assert "'compile'" in compiled
    assert told(tmp_path, 1.6e6, "another machine") == []
    job, timings = made(tmp_path, 1.6e6)
    assert beside_history(replace(job, plan=replace(QUICK, name="other")), "m", timings) == []


def test_so_many_are_kept_and_what_is_broken_counts_as_nothing(tmp_path: Path) -> None:
    for _ in range(KEPT + 3):
        told(tmp_path, 1e6)
    [path] = (tmp_path / "cache" / "history").glob("*.json")
    assert [len(times) for times in json.loads(path.read_text()).values()] == [KEPT, KEPT]
    for text in ("", "[1]", '{"w0 eager": 3}', '{"w0 eager": ["x", null, -1]}'):
        path.write_text(text)
        assert told(tmp_path, 9e6) == []
