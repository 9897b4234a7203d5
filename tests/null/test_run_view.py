"""What a screen says of a run's ratios: which baseline each of them is against."""

from dataclasses import replace

import pytest

pytest.importorskip("rich")

from kernwright.cli.run_view import baselines_view, node_json
from kernwright.core.brief import Pick, Proposed
from kernwright.core.graph import Graph
from kernwright.core.node import Node
from kernwright.core.outcome import Evaluation, Measured
from kernwright.testing.null import null_timings


def node(number: int, *baselines: str) -> Node:
    """Timed on a workload for each of these."""
    plain = null_timings(1.5)
    workloads = tuple(
        replace(plain.workloads[0], workload=f"w{i}", baseline=name, time_ns={"candidate": 1.0, name: 1.5})
        for i, name in enumerate(baselines)
    )
    baseline = baselines[0] if len(set(baselines)) == 1 else "mixed"
    evaluation = Evaluation(
        candidate="c",
        problem="p",
        plan="quick",
        target="cpu:null",
        machine="null",
        judge_version="0",
        outcome=Measured(timings=replace(plain, workloads=workloads, baseline=baseline), reason=""),
    )
    return Node(id=number, pick=Pick(), draft=Proposed(candidate="c", operator="o"), evaluation=evaluation)


def said(*nodes: Node) -> str:
    return " ".join(str(text) for text in baselines_view(Graph(nodes=list(nodes))))


def test_one_baseline_is_named_once_and_several_with_their_nodes() -> None:
    assert said() == ""
    assert said(node(0, "compile"), node(1, "compile")) == "speedups are against compile, the faster baseline"
    several = said(node(0, "compile", "compile"), node(1, "eager", "eager"), node(2, "eager", "compile"))
    assert "compile (node 0); eager (node 1); eager on w0, compile on w1 (node 2)" in several
    assert "compare times" in several


def test_programs_are_told_too() -> None:
    plain = node_json(node(2, "eager", "compile"))
    assert (plain["baseline"], plain["baselines"], plain["plan"]) == (
        "mixed",
        {"w0": "eager", "w1": "compile"},
        "quick",
    )
    assert plain["speedup_eager"] == 1.5
    assert node_json(Node(id=0, pick=Pick()))["baseline"] is None
