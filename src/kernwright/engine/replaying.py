"""A run gone through again in the order of its journal, with no network: do the same picks and prompts come out?"""

import asyncio
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from kernwright.core.brief import REMARKS, Brief, Draft, Exhausted, Intent, Pick
from kernwright.core.candidate import Candidate
from kernwright.core.events import Drafted, Evaluated, ModelCalled, Picked
from kernwright.core.graph import Graph
from kernwright.core.model import AGENT, Answered, ModelOver, Prompt, Reply
from kernwright.core.outcome import Evaluation
from kernwright.core.ports import Policy, Store
from kernwright.store.codec import decode

from .aside import asking_aside
from .briefs import brief_of
from .journal import Journal
from .wiring import policy_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """How much was gone through, and where it came out otherwise."""

    picks: int
    prompts: int
    drafts: int
    differences: tuple[str, ...]


def replayed(store: Store, run: str) -> Replayed:
    """Every pick, prompt and draft of a model, made anew from the journal before it."""
    return asyncio.run(_Replay(store, run).through())


def by_hand(pick: Pick) -> bool:
    """Whether a person asked for it, not the policy: a port that is no stage of a method."""
    return pick.intent in REMARKS or (pick.intent == "port" and not pick.variant)


class _Replay:
    def __init__(self, store: Store, run: str) -> None:
        self._store = store
        self._run = run
        self._entries = list(store.events(run))
        self._calls: dict[int, dict[int, list[ModelCalled]]] = defaultdict(lambda: defaultdict(list))
        self._trials: dict[str, tuple[int, Evaluation]] = {}
        """By candidate: what was first found out about it, and when."""
        self._ended: dict[int, int] = {}
        """When each node had its draft."""
        intents: dict[int, Intent] = {}
        for entry in self._entries:
            match entry.event:
                case Picked(node=node, pick=pick):
                    intents[node] = pick.intent
                case ModelCalled(reply=reply, model=model) as call if reply and not model.startswith(AGENT):
                    if call.intent == intents[call.node]:  # else it was asked about a node, not for it
                        self._calls[call.after][call.node].append(call)
                case Evaluated(evaluation=evaluation):
                    self._trials.setdefault(evaluation.candidate, (entry.seq, evaluation))
                case Drafted(node=node):
                    self._ended[node] = entry.seq
        self._made: dict[int, Draft] = {}
        self._differences: list[str] = []
        self._picks = self._prompts = self._drafts = 0

    async def through(self) -> Replayed:
        graph = Graph()
        graph.apply(self._entries[0])
        journal = Journal(self._store, self._run, graph=graph)
        policy = policy_of(journal.spec)
        for entry in self._entries[1:]:
            match entry.event:
                case Picked() as event if not by_hand(event.pick):
                    self._pick(graph, policy, event, journal.spec.seed)
                case Drafted(node=node, draft=draft) if node in self._made:
                    self._drafts += 1
                    over = isinstance(draft, Exhausted) and isinstance(self._made[node], Exhausted)
                    if self._made[node] != draft and not over:
                        self._differences.append(f"node {node}: the reply makes another draft than the one kept")
            graph.apply(entry)
            for node, calls in self._calls[graph.seq].items():
                self._made[node] = await self._drafted(journal, node, calls)
        return Replayed(
            picks=self._picks, prompts=self._prompts, drafts=self._drafts, differences=tuple(self._differences)
        )

    def _pick(self, graph: Graph, policy: Policy, event: Picked, seed: int) -> None:
        self._picks += 1
        picks = policy.pick(graph, 1, random.Random(f"{seed}:{event.node}"))
        if not picks or picks[0] != event.pick:
            found = picks[0] if picks else "nothing"
            self._differences.append(f"node {event.node}: the policy picks {found}, then it picked {event.pick}")

    async def _drafted(self, journal: Journal, node: int, calls: Sequence[ModelCalled]) -> Draft:
        left = iter(calls)

        async def ask(brief: Brief, prompt: Prompt) -> Answered:
            call = next(left, None)
            if call is None:
                raise ModelOver("no more was said")
            self._prompts += 1
            if prompt != decode(Prompt, self._store.get(call.prompt)):
                self._differences.append(f"node {node}: another prompt than the one that was sent")
            return Answered(model=call.model, reply=decode(Reply, self._store.get(call.reply)))

        async def trial(number: int, candidate: Candidate) -> Evaluation | None:
            at, evaluation = self._trials.get(candidate.id, (0, None))
            return evaluation if at < self._ended.get(node, len(self._entries) + 1) else None

        return journal.measured(await asking_aside(journal, ask, trial).propose(brief_of(journal, node)))
