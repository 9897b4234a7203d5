"""Knobs on the device: a candidate with poor defaults gets a child with better ones, measured on fresh data."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from gpu_candidates import CANDIDATES, PROBLEM, SETTINGS

from kernwright import api
from kernwright.core.candidate import Candidate, knobs_of
from kernwright.core.graph import Graph
from kernwright.core.outcome import timings_of
from kernwright.core.plan import FULL
from kernwright.core.spec import Budget, OperatorSpec
from kernwright.engine.journal import Journal
from kernwright.store.sql import SqlStore

pytest.importorskip("optuna")
pytestmark = [pytest.mark.device, pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")]


def tuned(folder: Path, text: str, settings: int, target: str) -> tuple[Graph, Candidate]:
    """A run that begins with one candidate and tunes it; the run's state and the child."""
    (folder / "problem.py").write_text(PROBLEM)
    (folder / "candidate.py").write_text(text)
    run, graph = api.evolve(
        folder / "problem.py",
        start=[folder / "candidate.py"],
        home=folder / "home",
        target=target,
        operators=(OperatorSpec(name="tuner", settings={"trials": settings - 1}),),
        confirm_plan=replace(FULL, process_sets=2, short_sets=2),
        budget=Budget(proposals=2),
    )
    blobs = [node.candidate for node in graph.nodes if node.pick.intent == "tune" and node.candidate is not None]
    assert len(blobs) == 1, [node.draft for node in graph.nodes]
    with closing(SqlStore(folder / "home")) as store:
        return graph, Journal(store, run).candidate(blobs[0])


@pytest.mark.parametrize("language", CANDIDATES)
def test_a_child_has_better_defaults(tmp_path: Path, language: str) -> None:
    graph, child = tuned(tmp_path, CANDIDATES[language], SETTINGS[language], "cuda")
    [parent] = [node for node in graph.nodes if node.pick.intent == "start" and node.candidate is not None]
    [node] = [node for node in graph.nodes if node.pick.intent == "tune" and node.candidate is not None]
    assert node.pick.parents == (parent.id,)
    assert {knob.name: knob.default for knob in knobs_of(child)}["BLOCK"] in (256, 1024)
    trials = [event.evaluation for event in graph.evaluations.values() if event.purpose == "tune"]
    # The parent's setting was judged before; a child of the same text as its trial was judged once more.
    assert len(trials) in (SETTINGS[language] - 2, SETTINGS[language] - 1)
    assert [trial.outcome for trial in trials if timings_of(trial.outcome) is None] == []
    before, after = (timings_of(each.evaluation.outcome) for each in (parent, node) if each.evaluation)
    assert before is not None
    assert after is not None
    assert after.speedup.estimate > 1.2 * before.speedup.estimate
    assert graph.champion() == node
