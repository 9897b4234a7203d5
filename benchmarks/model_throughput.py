"""How much of the ideal throughput a slow model's slots reach, and what operator and prompt cost for each proposal.

The model answers after a fixed time; evaluations take none. Ideal is slots / latency. The ramp at both ends belongs to
any run, so the ideal is that of as many rounds as the proposals need.

Everything else is the default method as it ships: its policy, and its guidance with knowledge, profiles, diagnosis and
memory. Own time is the processor's, of brief, prompt and reading of the reply together, at the size that the run ends
with. Every child's brief is made once by an engine, as in a run; its first, which reads and indexes the notes, counts
apart.
"""

import argparse
import asyncio
import math
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from environment import environment

from kernwright.core.brief import Brief, Proposed
from kernwright.core.model import Answered, ModelSpec, Prompt, Reply
from kernwright.core.spec import Budget, OperatorSpec, RunSpec
from kernwright.engine import intake, methods, service
from kernwright.engine.aside import asking_aside
from kernwright.engine.briefs import brief_of
from kernwright.engine.journal import Journal
from kernwright.engine.recalling import situation_of
from kernwright.search.operators.rendering import prompt_of
from kernwright.store.sql import SqlStore

PROBLEM = Path(__file__).parents[1] / "examples" / "softmax.py"
REPLY = "NAME: {n}\nAPPROACH: one pass\nINSIGHT: number {n} helped\n\n```python file=kernel.py\n{source}```\n"
SEEN = 'COUNTERS = {"dram_busy": 0.9, "dram_bytes": 1e9, "core_busy": 0.3}\n'
SOURCE = "N = {n}\n" + SEEN + "\n\n" + "".join(f"def helper_{i}(x):\n    return x * {i} + {i}\n\n\n" for i in range(40))
TURNS = 5


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
    """A run by the default method that judges nothing."""
    plain = methods.applied(methods.load(methods.DEFAULT), {"budget": Budget(proposals=proposals)})
    return RunSpec(
        **plain
        | {
            "target": "cpu:x86-64-v4",
            "operators": (OperatorSpec(name="llm"),),
            "models": (ModelSpec(name="slow:model"),),
            "executor": "inline",
            "evaluator": "kernwright.testing.null:NullEvaluator",
            "proposals_in_flight": slots,
        }
    )


def throughput(folder: Path, latency_s: float, slots: int, rounds: int) -> float:
    """Share of the ideal."""
    from kernwright import models

    models.TABLE["slow"] = f"{__name__}:Slow"
    Slow.latency_s = latency_s
    proposals = slots * rounds
    run = service.create(folder, spec_of(slots, proposals), intake.problem_of(PROBLEM))
    began = time.perf_counter()
    graph = service.drive(folder, run, resume=False)
    took = time.perf_counter() - began
    assert len(graph.calls) == proposals
    ideal = math.ceil(proposals / slots) * latency_s
    print(f"{proposals} proposals, {slots} slots, {latency_s:g} s each: {took:.2f} s, ideal {ideal:.2f} s")
    return ideal / took


@dataclass(frozen=True)
class Own:
    """Milliseconds of the processor."""

    first: float
    usual: float
    brief: float
    prompt: float
    new: float
    """Of those briefs alone that ask of the notes what no brief before them did."""
    share: float
    """Of the briefs that do."""


def overhead(folder: Path) -> Own:
    """Medians, of what an engine takes for its first brief and for each other one."""
    store = SqlStore(folder)
    try:
        run = store.runs()[-1]
        turns = [asyncio.run(_turn(Journal(store, run))) for _ in range(TURNS)]
        journal = Journal(store, run)
        last = max(n.id for n in journal.graph.nodes if n.candidate and n.pick.parents)
        brief = brief_of(journal, last)
        notes, size = len(brief.knowledge), len(prompt_of(brief).user)
        print(f"prompt of {size} characters with {notes} notes; diagnosis: {bool(brief.diagnosis)}")
    finally:
        store.close()
    later = [each for turn in turns for each in turn[1:]]
    new = [each.brief + each.prompt for each in later if each.new]
    return Own(
        first=statistics.median(turn[0].brief + turn[0].prompt for turn in turns),
        usual=statistics.median(each.brief + each.prompt for each in later),
        brief=statistics.median(each.brief for each in later),
        prompt=statistics.median(each.prompt for each in later),
        new=statistics.median(new) if new else math.nan,
        share=len(new) / len(later),
    )


@dataclass(frozen=True)
class Taken:
    """Milliseconds of one child's brief, of its prompt and reply, and whether it asked the notes something new."""

    brief: float
    prompt: float
    new: bool


async def _turn(journal: Journal) -> list[Taken]:
    """Each child's, in order."""

    async def ask(brief: Brief, prompt: Prompt) -> Answered:
        return Answered(model="slow:model", reply=reply)

    operator, taken, asked = asking_aside(journal, ask), [], set()
    for node in [n.id for n in journal.graph.nodes if n.candidate and n.pick.parents]:
        situation = situation_of(journal, journal.graph.nodes[node], ("cpp", "torch"))
        question = (situation.tags, situation.text)
        reply = Reply(text=text_of(10_000 + node), tokens_in=1, tokens_out=1)
        began = time.process_time()
        brief = brief_of(journal, node)
        made = time.process_time()
        draft = await operator.propose(brief)
        taken.append(Taken((made - began) * 1e3, (time.process_time() - made) * 1e3, question not in asked))
        asked.add(question)
        assert isinstance(draft, Proposed)
    return taken


def main() -> int:
    """Exit 1 where an aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=5.0)
    parser.add_argument("--slots", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=6)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        share = throughput(Path(folder), arguments.latency, arguments.slots, arguments.rounds)
        own = overhead(Path(folder))
    print(f"throughput: {share:.1%} of ideal (aim: at least 95 %)")
    print(
        f"operator and prompt: {own.usual:.2f} ms a proposal (aim: at most 5 ms), of which the brief {own.brief:.2f}, "
        f"prompt and reply {own.prompt:.2f}; {own.new:.2f} ms for {own.share:.0%}, which ask the notes something new; "
        f"an engine's first {own.first:.2f} ms"
    )
    print(environment())
    return 0 if share >= 0.95 and own.usual <= 5.0 else 1


if __name__ == "__main__":
    raise SystemExit(main())
