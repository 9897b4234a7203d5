"""How often the judge calls one of 45 equal kernels faster: its own decision procedure on simulated clocks.

Every time is exp(process effect + block noise): the effect is one draw for the life of a process, the noise one draw
for each participant in each block, so that the ratio of a block has the square root of two times as much. Nothing here
decides anything: races are summarised, floors taken, candidates chosen and confirmed by the functions that a run uses.
"""

import argparse
import json
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from environment import environment

from kernwright.core.jobs import JUDGE_VERSION
from kernwright.core.outcome import Interval, Timings
from kernwright.core.plan import FULL, QUICK, Plan
from kernwright.core.problem import Workload
from kernwright.engine.loop import CONFIRMATIONS
from kernwright.evaluation.timing.clocks import Clocks
from kernwright.evaluation.timing.noise import PAIR_BLOCKS, PAIRS
from kernwright.evaluation.timing.race import Race, settled_after
from kernwright.evaluation.timing.statistics import set_log_ratio
from kernwright.evaluation.timing.summary import CANDIDATE, Facts, summarise
from kernwright.search.termination import unconfirmed_top

BASELINES = ("eager", "compile")
BASE_NS = 1e6
WORKLOAD = Workload(name="simulated")
SETTING: Any = SimpleNamespace(workload=WORKLOAD)
Noise = Callable[[random.Random], float]


def gaussian(sigma: float) -> Noise:
    """Normal noise of log times."""
    return lambda rng: rng.gauss(0.0, sigma)


def heavy(sigma: float) -> Noise:
    """Student's t with three degrees of freedom, as wide, and one block in 25 up to 30 % late."""

    def draw(rng: random.Random) -> float:
        t = rng.gauss(0.0, 1.0) / math.sqrt(rng.gammavariate(1.5, 2.0) / 3)
        late = rng.uniform(0.0, 0.26) if rng.random() < 0.04 else 0.0
        return sigma * t / math.sqrt(3) + late

    return draw


@dataclass(slots=True)
class Machine:
    """What the clocks of one machine do."""

    rng: random.Random
    block: Noise
    process: float
    """Standard deviation of what a process has for life."""
    speedup: float = 1.0
    """Of every candidate, in truth."""

    def participants(self, *names: str) -> dict[str, float]:
        """Fresh processes: the log of what each takes."""
        fast = {CANDIDATE: -math.log(self.speedup)}
        return {name: self.rng.gauss(0.0, self.process) + fast.get(name, 0.0) for name in names}

    def race(self, processes: dict[str, float], plan: Plan, *, settle: bool) -> Race:
        """As `Track.race` goes on and stops."""
        race = Race(SETTING, frozenset(BASELINES), {name: [] for name in processes})
        done, wanted = 0, plan.blocks
        while done < wanted:
            for name, own in processes.items():
                time = BASE_NS * math.exp(own + self.block(self.rng))
                race.clocks[name] += [Clocks(time, time, time, time)] * 2
            done += 1
            if settle and done == plan.blocks:
                wanted = settled_after(race, plan)
        return race

    def pairs(self) -> list[float]:
        """What a calibration of this machine keeps."""
        plan = replace(QUICK, blocks=PAIR_BLOCKS)
        equal = replace(self, speedup=1.0)
        races = [equal.race(equal.participants(CANDIDATE, "eager"), plan, settle=False) for _ in range(PAIRS)]
        return [set_log_ratio(race.times_ns(CANDIDATE), race.times_ns("eager")) for race in races]


def timings(sets: Sequence[Race], plan: Plan, pairs: Sequence[float]) -> Timings:
    """What an evaluation would say of these races, on a machine that was calibrated by these pairs."""
    facts = Facts(
        workloads=(WORKLOAD,),
        plan=plan,
        copy_ns=(None,),
        floor_ns=(None,),
        aa_log_ratios={WORKLOAD.name: tuple(pairs)},
        cache="simulated",
    )
    return summarise([sample for number, race in enumerate(sets) for sample in race.samples(number)], facts)


@dataclass(slots=True)
class Count:
    """Hits among trials."""

    hits: int = 0
    of: int = 0

    def add(self, hit: bool) -> None:
        self.hits += hit
        self.of += 1

    @property
    def share(self) -> float:
        return self.hits / max(self.of, 1)

    def __str__(self) -> str:
        low, high = wilson(self.hits, max(self.of, 1))
        return f"{self.share:.2%} [{low:.2%}, {high:.2%}] ({self.hits} of {self.of})"


def wilson(hits: int, of: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's score interval for a share."""
    share, spread = hits / of, z * math.sqrt(hits * (of - hits) / of + z * z / 4)
    middle = (share * of + z * z / 2) / (of + z * z)
    return middle - spread / (of + z * z), middle + spread / (of + z * z)


@dataclass(slots=True)
class Result:
    """Counts over all searches."""

    false_verified: Count = field(default_factory=Count)
    """Searches that end with a candidate which was confirmed to be faster."""
    false_measured: Count = field(default_factory=Count)
    """Searches whose best candidate is called faster by the quick plan, before any confirmation."""
    false_any_measured: Count = field(default_factory=Count)
    """Searches in which any of the candidates is."""
    quick: Count = field(default_factory=Count)
    """Quick intervals against eager that hold the true ratio of two kernels."""
    quick_pair: Count = field(default_factory=Count)
    """Quick intervals against eager that hold the true ratio of the two processes that ran."""
    confirmed: Count = field(default_factory=Count)
    """Confirmed intervals against eager that hold the true ratio."""
    confirmed_best: Count = field(default_factory=Count)
    """Confirmed intervals against the faster of two equal baselines that do: that one was lucky."""


def search(machine: Machine, result: Result, candidates: int) -> None:
    """One run: every candidate measured, the best confirmed, the next where it falls behind."""
    pairs = machine.pairs()
    warm = machine.participants(*BASELINES)
    nodes, said = [], []
    for number in range(candidates):
        processes = {**machine.participants(CANDIDATE), **warm}
        found = timings([machine.race(processes, QUICK, settle=True)], QUICK, pairs)
        said.append(found)
        assert found.speedup_eager is not None
        result.quick.add(_holds(found.speedup_eager, machine.speedup))
        result.quick_pair.add(_holds(found.speedup_eager, math.exp(processes["eager"] - processes[CANDIDATE])))
        score = math.log(found.speedup.estimate)
        nodes.append(SimpleNamespace(id=number, score=score, verified=False, faster=False, evaluation=None))
    best = max(range(candidates), key=lambda n: said[n].speedup.estimate)
    result.false_measured.add(said[best].faster)
    result.false_any_measured.add(any(each.faster for each in said))
    graph: Any = SimpleNamespace(nodes=nodes)
    faster = False
    for _ in range(CONFIRMATIONS):
        node: Any = unconfirmed_top(graph, FULL)
        if node is None:
            break
        sets = [
            machine.race(machine.participants(CANDIDATE, *BASELINES), FULL, settle=False)
            for _ in range(FULL.process_sets)
        ]
        found = timings(sets, FULL, pairs)
        node.verified, node.faster, node.score = True, found.faster, math.log(found.speedup.estimate)
        faster |= found.faster
        assert found.speedup_eager is not None
        result.confirmed.add(_holds(found.speedup_eager, machine.speedup))
        result.confirmed_best.add(_holds(found.speedup, machine.speedup))
    result.false_verified.add(faster)


def _holds(interval: Interval, truth: float) -> bool:
    return interval.low <= truth <= interval.high


def simulate(noise: Noise, process: float, *, searches: int, candidates: int, speedup: float, seed: int) -> Result:
    """So many runs, each on a machine that was calibrated anew."""
    result, rng = Result(), random.Random(seed)
    for _ in range(searches):
        search(Machine(rng, noise, process, speedup), result, candidates)
    return result


KINDS: dict[str, Callable[[float], Noise]] = {"gaussian": gaussian, "heavy": heavy}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--searches", type=int, default=1000)
    parser.add_argument("--candidates", type=int, default=45)
    parser.add_argument("--block", type=float, default=0.03)
    parser.add_argument("--process", type=float, default=0.01)
    parser.add_argument("--speedups", default="1,1.05,1.1", help="in truth; above 1 the rate is the power")
    parser.add_argument("--out", type=Path, help="JSON")
    arguments = parser.parse_args()
    rows = []
    for kind, make in KINDS.items():
        for speedup in map(float, arguments.speedups.split(",")):
            searches = arguments.searches if speedup == 1 else max(1, arguments.searches // 10)
            result = simulate(
                make(arguments.block),
                arguments.process,
                searches=searches,
                candidates=arguments.candidates,
                speedup=speedup,
                seed=round(1000 * speedup),
            )
            row = {name: getattr(result, name) for name in Result.__slots__}
            print(f"{kind} noise, in truth {speedup:g}x, {searches} searches")
            for name, count in row.items():
                print(f"  {name:20} {count}", flush=True)
            counts = {name: {"hits": count.hits, "of": count.of, "share": count.share} for name, count in row.items()}
            rows.append({"noise": kind, "speedup": speedup, "searches": searches, **counts})
    if arguments.out:
        settings = {name: getattr(arguments, name) for name in ("candidates", "block", "process")}
        by = {"judge": JUDGE_VERSION, "environment": environment()}
        arguments.out.write_text(json.dumps({**by, **settings, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
