"""A search on the synthetic landscape: the real loop, a store in memory, virtual time."""

import asyncio
import math
from dataclasses import replace

from kernwright.core.candidate import Candidate
from kernwright.core.errors import UserError, unknown_name
from kernwright.core.events import RunStarted
from kernwright.core.graph import Graph
from kernwright.core.jobs import EvalJob
from kernwright.core.plan import Plan
from kernwright.core.problem import Problem, Workload
from kernwright.core.spec import RunSpec
from kernwright.landscape import VERSION
from kernwright.landscape.clock import VirtualLoop
from kernwright.landscape.families import names
from kernwright.landscape.judge import Judge
from kernwright.landscape.terrain import Terrain
from kernwright.landscape.writer import Writer
from kernwright.store.memory import MemoryStore

from . import wiring
from .answers import Answers
from .chain import Chain
from .evaluations import Evaluations
from .journal import Journal
from .loop import Loop
from .profiles import Profiles

TARGET = "landscape:1"
RUN = "landscape"
INSTANCES = 2
"""Of each family, unless instances are named."""


def problems(asked: list[str]) -> list[str]:
    """Instances by name: `FAMILY/NUMBER`, `FAMILY` for its first few, `tuning` or `judging` for the families of a use.

    Raises:
        UserError: there is no such family, or its instance is no number.
    """
    found: list[str] = []
    for text in asked or ["judging"]:
        name, slash, number = text.partition("/")
        families = names(name) if name in ("tuning", "judging") else [name]
        if families == [name] and name not in names():
            raise unknown_name("family of the landscape", name, [*names(), "tuning", "judging"])
        if slash and not number.isdecimal():
            raise UserError(f"The instance {text!r} should look like {name}/0.")
        numbers = [number] if slash else map(str, range(INSTANCES))
        found += [f"{family}/{each}" for each in numbers for family in families]
    return list(dict.fromkeys(found))


def search(problem: str, spec: RunSpec) -> Graph:
    """Run a search on an instance to its end; what it left. The same every time."""
    name, _, number = problem.partition("/")
    terrain = Terrain(name, int(number))
    workloads = tuple(Workload(name=f"w{i}") for i in range(terrain.family.workloads))
    store = MemoryStore()
    plain = Problem(name=f"landscape/{problem}", source=f"version {VERSION}", workloads=workloads)
    store.append(RUN, RunStarted(spec=replace(spec, target=TARGET), problem=plain))
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(_searched(Journal(store, RUN), store, terrain))


def naive_speedup(problem: str) -> float:
    """True speedup of the kernel that a search on this instance has to beat."""
    name, _, number = problem.partition("/")
    terrain = Terrain(name, int(number))
    worth = terrain.worth(terrain.naive())
    return math.exp(sum(worth) / len(worth))


async def _searched(journal: Journal, store: MemoryStore, terrain: Terrain) -> Graph:
    spec, graph = journal.spec, journal.graph

    def job(candidate: Candidate, plan: Plan) -> EvalJob:
        return EvalJob(
            problem=journal.problem, candidate=candidate, target=TARGET, plan=plan, language="", platform="", home=""
        )

    executor = Judge(terrain, spec.seed, spec.evaluations_in_flight)
    evaluations = Evaluations(journal, executor, wiring.fitness_of(spec), job)
    writer = Writer(
        terrain, spec.guidance, put=journal.put, trial=evaluations.trial, pick_of=lambda node: graph.node(node).pick
    )
    answers = Answers(store, journal.run, graph, journal.write)
    profiles = Profiles(journal, executor, job, wanted=False)
    loop = Loop(journal, wiring.policy_of(spec), Chain([writer]), evaluations, answers, profiles)
    evaluations.allowed = loop.room_for_trial
    return await loop.run()
