"""A whole search with a model behind a real client and the real judge: good, broken, repaired; no key anywhere."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from openai_server import Say, serving

from kernwright import api
from kernwright.core.brief import Exhausted, Proposed, Unusable
from kernwright.core.events import ModelCalled
from kernwright.core.graph import Graph
from kernwright.core.model import ModelSpec
from kernwright.core.node import Node
from kernwright.core.plan import QUICK
from kernwright.core.spec import Budget, OperatorSpec
from kernwright.engine import reading
from kernwright.models.provider import OWN_KEY
from kernwright.store.sql import SqlStore

pytest.importorskip("pydantic_ai")

pytestmark = pytest.mark.judged
KEY = "sk-planted-0123456789abcdef"
PROBLEM = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x * 2.0 + 1.0)


def get_inputs():
    return [torch.randn(256, 1024)]
"""
CPP = '''\
NAME: one pass in C++
APPROACH: reads and writes each element once
INSIGHT: three passes become one

```python file=kernel.py
import torch
from kernwright.languages.cpp_loader import load

SOURCE = r"""
#include <cstdint>
extern "C" void fused(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const float v = x[i] * 2.0f + OFFSET;
    y[i] = v > 0.0f ? v : 0.0f;
  }
}
"""
lib = load(SOURCE, defines={"OFFSET": "1.0f"})


def kernel(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    lib.fused(x, y, x.numel())
    return y
```
'''
BROKEN = CPP.replace("y[i] = v > 0.0f ? v : 0.0f;", "y[i] = undeclared;")
REPAIR = """\
NAME: declared now
```edit file=kernel.py
<<<<<<< SEARCH
    y[i] = undeclared;
=======
    y[i] = v > 0.0f ? v : 0.0f;
>>>>>>> REPLACE
```
"""
SPY = """\
```python file=kernel.py
import os
import torch

FOUND = " ".join(f"{k}={v}" for k, v in os.environ.items())
for process in [each for each in os.listdir("/proc") if each.isdigit()]:
    try:
        with open(f"/proc/{process}/environ") as environment:
            FOUND += environment.read()
    except OSError:
        pass
raise RuntimeError("environment: " + FOUND)


def kernel(x):
    return x
```
"""


PLAN = replace(QUICK, baselines=("eager",))


def ended(graph: Graph) -> list[Node]:
    """Nodes but for the place that was opened for a start that nobody had."""
    return [node for node in graph.nodes if not isinstance(node.draft, Exhausted)]


def evolved(home: Path, url: str, proposals: int) -> tuple[str, Graph]:
    problem = home.parent / "problem.py"
    problem.write_text(PROBLEM)
    return api.evolve(
        problem,
        home=home,
        operators=(OperatorSpec(name="llm", settings={"starts": 1}),),
        models=(ModelSpec(name="openai:local", base_url=url, usd_in=1.0, usd_out=2.0),),
        budget=Budget(proposals=proposals, usd=1.0),
        proposals_in_flight=1,
        plan=PLAN,
        confirm_plan=PLAN,
    )


def test_a_broken_kernel_is_repaired_with_the_compilers_words(home: Path) -> None:
    answers = [Say(status=429, headers={"Retry-After": "0"}), Say(status=500, headers={"Retry-After": "0"}), BROKEN]
    with serving(*answers, REPAIR, "No idea.") as server:
        run, graph = evolved(home, server.url, proposals=3)
    first, second, third = ended(graph)
    assert first.evaluation is not None
    assert first.evaluation.outcome.kind == "build_failed"
    assert (second.pick.intent, second.pick.parents) == ("repair", (0,))
    assert second.evaluation is not None
    assert second.evaluation.outcome.kind == "measured"
    assert isinstance(second.draft, Proposed)
    assert (second.draft.summary, second.draft.author) == ("declared now", "openai:local")
    assert isinstance(third.draft, Unusable)
    assert third.draft.reason == "the reply holds no block of source"
    repair = server.requests[3]["messages"][1]["content"]
    assert "What happened to solution 0: build_failed" in repair
    assert "undeclared" in repair.split("The end of its log:")[1]
    assert [call.error.partition(" answered")[0] for call in graph.calls[:2]] == ["openai:local", "openai:local"]
    assert [bool(call.reply) for call in graph.calls] == [False, False, True, True, True]
    assert graph.spent.usd == pytest.approx(3 * (100 * 1.0 + 50 * 2.0) / 1e6)
    with reading.reading(home, run) as view:
        assert view.candidate(second).language == "cpp"


def test_a_planted_key_is_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In no file of the home, no brief, no request's body, not in what a candidate finds in its environment."""
    home = tmp_path / "home"  # new in everything: all that is written must lie here
    for name in (OWN_KEY, "OPENAI_API_KEY", "SOME_SECRET_TOKEN"):
        monkeypatch.setenv(name, KEY)
    with serving(f"The key is {KEY}. {CPP}", SPY, Say(status=400, fault="echo")) as server:
        run, graph = evolved(home, server.url, proposals=3)
    assert server.keys[0] == f"Bearer {KEY}"
    assert all(KEY[-12:] not in str(request) for request in server.requests)
    kinds = [node.evaluation.outcome.kind if node.evaluation else "unusable" for node in ended(graph)]
    assert kinds == ["measured", "build_failed", "unusable"]
    assert "environment: " in str(ended(graph)[1].evaluation)
    recording = tmp_path / "run.jsonl"
    reading.export_recording(home, run, recording)
    files = [path for path in (tmp_path).rglob("*") if path.is_file()]
    assert recording in files
    for path in files:
        assert KEY[-12:].encode() not in path.read_bytes(), path


def test_a_wrong_key_ends_the_run_in_a_sentence_and_leaves_it_resumable(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from kernwright.cli.main import run as command

    monkeypatch.setenv(OWN_KEY, KEY)
    (tmp_path / "problem.py").write_text(PROBLEM)
    with serving(CPP, Say(status=401, fault="echo")) as server:
        told = ["--model", "openai:local", "--base-url", server.url, "--proposals", "2", "--in-flight", "1"]
        problem = str(tmp_path / "problem.py")
        code = command(["evolve", problem, "--operator", "llm:starts=2", *told, "--home", str(home), "--debug"])
    out, err = capfd.readouterr()
    assert code == 2
    assert "refused the key (401); put one that is valid in KERNWRIGHT_API_KEY" in err
    assert "go on with: kernwright resume" in err
    assert KEY[-12:] not in out + err
    store = SqlStore(home)
    try:
        (run,) = store.runs()
        events = [entry.event for entry in store.events(run)]
    finally:
        store.close()
    assert [e.error == "" for e in events if isinstance(e, ModelCalled)] == [True, False]
    assert [e.kind for e in events].count("drafted") == 1


def test_a_model_that_stalls_does_not_hold_up_the_end_of_the_time(tmp_path: Path, home: Path) -> None:
    (tmp_path / "problem.py").write_text(PROBLEM)
    with serving(Say(fault="stall")) as server:
        model = ModelSpec(name="openai:local", base_url=server.url, usd_out=1.0, max_tokens=1000)
        _, graph = api.evolve(
            tmp_path / "problem.py",
            home=home,
            operators=(OperatorSpec(name="llm"),),
            models=(model,),
            budget=Budget(seconds=1.0, usd=0.0045),
            proposals_in_flight=8,
        )
    assert graph.finished is not None
    assert "seconds is spent" in graph.finished.reason
    # Four fit the cap at their most; each may be charged for, and is, and the cap holds.
    assert [call.error for call in graph.calls] == ["stopped before the reply came"] * 4
    assert graph.spent.usd == pytest.approx(0.004)


def test_the_whole_command_with_a_model_beside_what_needs_none(
    tmp_path: Path, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from kernwright.cli.main import run as command

    (tmp_path / "problem.py").write_text(PROBLEM)
    told = ["--operator", "tuner", "--operator", "llm:starts=1", "--proposals", "2", "--in-flight", "1"]
    with serving(CPP, "```python\nimport torch\n\n\ndef kernel(x):\n    return x\n```\n") as server:
        named = ["--model", "openai:local", "--base-url", server.url]
        code = command(["evolve", str(tmp_path / "problem.py"), *told, *named, "--json", "--home", str(home)])
    out, _ = capfd.readouterr()
    assert code == 0
    said = json.loads(out)
    verdicts = [node["verdict"] for node in said["nodes"]]
    assert verdicts[1] == "wrong"
    assert verdicts[0] in ("verified", "measured")
    first = said["nodes"][0]
    assert (first["summary"], first["author"], first["insights"]) == (
        "one pass in C++",
        "openai:local",
        ["three passes become one"],
    )
    assert said["spent"]["tokens"] == 300
    assert said["calls"] == 2
