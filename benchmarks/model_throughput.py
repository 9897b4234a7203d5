"""How much of the ideal throughput a slow model's slots reach, and what operator and prompt cost for each proposal.

The model answers after a fixed time; evaluations take none. Ideal is slots / latency. The ramp at both ends belongs to
any run, so the ideal is that of as many rounds as the proposals need.
"""

import argparse
import asyncio
import math
import statistics
import tempfile
import time
from pathlib import Path

from kernwright.core.brief import Brief, Proposed
from kernwright.core.graph import Graph
from kernwright.core.guidance import Guidance
from kernwright.core.model import Answered, ModelSpec, Prompt, Reply
from kernwright.core.problem import Problem, Workload
from kernwright.core.spec import Budget, OperatorSpec, RunSpec
from kernwright.engine import service
from kernwright.engine.aside import asking_aside
from kernwright.engine.briefs import brief_of
from kernwright.engine.journal import Journal
from kernwright.search.operators.rendering import prompt_of
from kernwright.store.sql import SqlStore

REPLY = "NAME: {n}\nAPPROACH: it is fast\nINSIGHT: number {n} helped\n\n```python file=kernel.py\n{source}```\n"
SOURCE = "N = {n}\n\n\n" + "".join(f"def helper_{i}(x):\n    return x * {i} + {i}\n\n\n" for i in range(40))
GUIDANCE = Guidance(best="full", elite=3, insights=3, errors=True, profile=True, memory="both", failures=3)


class Slow:
    """Says something new after `latency_s`; named as `benchmarks` has it, by a reference."""

    latency_s = 5.0
    said = 0

    def __init__(self, spec: ModelSpec, *, used: int = 0) -> None:
        self._said = used

    async def complete(self, prompt: Prompt) -> Reply:
        await asyncio.sleep(self.latency_s)
        Slow.said += 1
        return Reply(text=text_of(Slow.said), tokens_in=1000, tokens_out=1000)

    async def close(self) -> None:
        pass


def text_of(n: int) -> str:
    """A reply as long as real ones."""
    return REPLY.format(n=n, source=SOURCE.replace("{n}", str(n)) + "def kernel(x):\n    return x\n")


def spec_of(slots: int, proposals: int) -> RunSpec:
    """A run that judges nothing."""
    return RunSpec(
        target="cpu:null",
        operators=(OperatorSpec(name="llm"),),
        models=(ModelSpec(name="slow:model"),),
        guidance=GUIDANCE,
        languages=("torch",),
        policy="elite",
        policy_settings={"n": slots},
        executor="inline",
        evaluator="kernwright.testing.null:NullEvaluator",
        budget=Budget(proposals=proposals),
        proposals_in_flight=slots,
    )


def throughput(folder: Path, latency_s: float, slots: int, rounds: int) -> float:
    """Share of the ideal."""
    from kernwright import models

    models.TABLE["slow"] = f"{__name__}:Slow"
    Slow.latency_s = latency_s
    proposals = slots * rounds
    problem = Problem(name="nothing", source="", workloads=(Workload(name="default"),))
    run = service.create(folder, spec_of(slots, proposals), problem)
    began = time.perf_counter()
    graph = service.drive(folder, run, resume=False)
    took = time.perf_counter() - began
    assert len(graph.calls) == proposals
    ideal = math.ceil(proposals / slots) * latency_s
    print(f"{proposals} proposals, {slots} slots, {latency_s:g} s each: {took:.2f} s, ideal {ideal:.2f} s")
    return ideal / took


def overhead(folder: Path) -> float:
    """Median milliseconds that brief, prompt and reading of the reply take, at the size that a run ends with."""
    store = SqlStore(folder)
    try:
        run = store.runs()[-1]
        journal = Journal(store, run)

        async def ask(brief: Brief, prompt: Prompt) -> Answered:
            return Answered(model="slow:model", reply=reply)

        operator, times = asking_aside(journal, ask), []
        node = next(n.id for n in reversed(_proposed(journal.graph)) if n.pick.parents)
        for n in range(200):
            reply = Reply(text=text_of(10_000 + n), tokens_in=1, tokens_out=1)
            began = time.perf_counter()
            draft = asyncio.run(operator.propose(brief_of(journal, node)))
            times.append(time.perf_counter() - began)
            assert isinstance(draft, Proposed)
        size = len(prompt_of(brief_of(journal, node)).user)
        print(f"prompt of {size} characters")
        return statistics.median(times) * 1000
    finally:
        store.close()


def _proposed(graph: Graph) -> list:  # type: ignore[type-arg]
    return [node for node in graph.nodes if node.candidate]


def main() -> int:
    """Exit 1 where an aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=5.0)
    parser.add_argument("--slots", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=6)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        share = throughput(Path(folder), arguments.latency, arguments.slots, arguments.rounds)
        own_ms = overhead(Path(folder))
    print(f"throughput: {share:.1%} of ideal (aim: at least 95 %)")
    print(f"operator and prompt: {own_ms:.2f} ms a proposal (aim: at most 5 ms)")
    return 0 if share >= 0.95 and own_ms <= 5.0 else 1


if __name__ == "__main__":
    raise SystemExit(main())
