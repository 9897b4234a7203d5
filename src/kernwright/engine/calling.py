"""A run's models: which is asked, whether the caps have room for it, what it said; all of it journalled."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from kernwright.core.brief import Brief
from kernwright.core.errors import UserError
from kernwright.core.events import ModelCalled
from kernwright.core.graph import Graph
from kernwright.core.model import Answered, ModelBusy, ModelOver, ModelRefused, ModelSpec, Prompt, Reply, Session
from kernwright.core.ports import Model
from kernwright.core.secrets import scrubbed
from kernwright.models.ensemble import Arm, chosen

from .journal import GaveUp, Journal

ATTEMPTS = 8
FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 60.0
REFUSALS = 5
"""Prompts in a row that a model refuses, after which it is not asked again: the fault is not the prompts'."""
NEARLY = 1e-9
"""Sums of prices are no more exact than that."""
Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Worst:
    """The most that a call can come to."""

    usd: float
    tokens: int


class Calls:
    """Answers prompts for operators. A cap is checked before every attempt against the most that it can cost, with
    what is in flight at its most too; where only the latter stands in the way, the call waits for it."""

    def __init__(
        self, journal: Journal, models: Sequence[tuple[ModelSpec, Model]], sleep: Sleep = asyncio.sleep
    ) -> None:
        self._journal = journal
        self._models = tuple(models)
        self._sleep = sleep
        self._flying: dict[int, Worst] = {}
        self._landed = asyncio.Condition()
        self._down: dict[int, str] = {}
        self._at_fault: set[int] = set()
        self._refusals = [0] * len(self._models)

    async def ask(self, brief: Brief, prompt: Prompt) -> Answered:
        """The reply of the model whose turn it is; another's where that one is down, or at fault itself.

        Raises:
            ModelRefused: this prompt gets no answer.
            ModelOver: the caps leave no room for a call of any model, scripts have no more replies, or every model
                refuses whatever it is asked.
            GaveUp: no model could be reached.
            UserError: every model is at fault, or its key; both only after calls in flight have landed.
        """
        prompt = Prompt(system=scrubbed(prompt.system, shapes=False), user=scrubbed(prompt.user, shapes=False))
        blob = self._journal.keep(prompt)
        over: dict[int, ModelOver] = {}
        while (index := self._next(brief.node, over)) is not None:
            try:
                reply = await self._persistent(brief, prompt, blob, index)
            except ModelRefused as refused:
                self._refusals[index] += 1
                if self._refusals[index] < REFUSALS:
                    raise
                reply = f"{refused} ({REFUSALS} prompts in a row)"
            except ModelOver as reason:
                over[index] = reason  # of this call: a cheaper model may still have room
                continue
            if isinstance(reply, Reply):
                self._refusals[index] = 0
                return Answered(model=self._models[index][0].name, reply=reply)
            self._down.setdefault(index, reply)
        if over:
            raise next(iter(over.values()))
        raise await self._none_left()

    async def _none_left(self) -> Exception:
        reasons = list(dict.fromkeys(self._down.values())) or ["the run has no model to ask"]
        if self._refusals and all(count >= REFUSALS for count in self._refusals):
            return ModelOver(reasons[0])
        async with self._landed:  # whoever ends the run now would throw away what is paid for
            await self._landed.wait_for(lambda: not self._flying)
        if self._at_fault and self._at_fault == set(self._down):
            return UserError(" ".join(reasons))
        return GaveUp(f"{'; '.join(reason.removesuffix('.') for reason in reasons)}; the run can be resumed")

    async def close(self) -> None:
        """Close the models' connections."""
        for _, model in self._models:
            await model.close()

    def _next(self, node: int, over: Collection[int]) -> int | None:
        if len(self._models) == 1:
            return None if self._down or over else 0
        names = [spec.name for spec, _ in self._models]
        return chosen(arms_of(self._journal.graph, names, {*self._down, *over}), node)

    async def _persistent(self, brief: Brief, prompt: Prompt, blob: str, index: int) -> Reply | str:
        """The reply, or why none came after all attempts, or none will."""
        rng = random.Random(f"{self._journal.spec.seed}:wait:{brief.node}")
        reason = ""
        for attempt in range(ATTEMPTS):
            try:
                return await self._attempt(brief, prompt, blob, index)
            except ModelBusy as busy:
                reason = str(busy)
                if attempt + 1 < ATTEMPTS:
                    grown = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2**attempt * rng.uniform(0.75, 1.25))
                    await self._sleep(min(LONGEST_WAIT_S, busy.after_s) if busy.after_s is not None else grown)
        return f"{reason} ({ATTEMPTS} attempts)"

    async def _attempt(self, brief: Brief, prompt: Prompt, blob: str, index: int) -> Reply | str:
        spec, model = self._models[index]

        def called(reply: Reply | None = None, error: str = "", billed: bool = False, barred: bool = False) -> None:
            tokens_in = reply.tokens_in if reply else prompt.most_tokens if billed else 0
            tokens_out = reply.tokens_out if reply else spec.max_tokens if billed else 0
            self._journal.write(
                ModelCalled(
                    node=brief.node,
                    model=spec.name,
                    intent=brief.intent,
                    prompt=blob,
                    reply=self._journal.keep(reply) if reply else "",
                    tokens_in=tokens_in,
                    tokens_out=tokens_out,
                    usd=spec.usd(tokens_in, tokens_out),
                    seconds=time.monotonic() - began,
                    error=error,
                    barred=barred,
                    after=brief.after,
                )
            )

        async with self.room(worst_of(spec, prompt)):
            if index in self._down:  # found out while this call waited for room
                return self._down[index]
            began = time.monotonic()
            try:
                reply = await model.complete(prompt)
                reply = replace(reply, text=scrubbed(reply.text, shapes=False))
                called(reply)
                return reply
            except ModelBusy as busy:
                called(error=str(busy), billed=busy.billed)
                raise
            except ModelRefused as refused:
                called(error=str(refused))
                raise
            except UserError as fault:
                # It was turned away before anything was written for it, and nobody charges for that.
                self._at_fault.add(index)
                self._down[index] = str(fault)
                called(error=str(fault), barred=True)
                return str(fault)
            except asyncio.CancelledError:
                # The engine stops before the reply is there; the provider may charge for it all the same.
                called(error="stopped before the reply came", billed=True)
                raise

    @asynccontextmanager
    async def room(self, worst: Worst) -> AsyncIterator[None]:
        """To be held around what may cost this much, until what it cost is journalled; raises ModelOver."""
        ticket = await self._reserved(worst)
        try:
            yield
        finally:
            del self._flying[ticket]
            async with self._landed:
                self._landed.notify_all()

    async def _reserved(self, worst: Worst) -> int:
        async with self._landed:
            while (short := self._short(worst, flying=True)) and self._flying:
                if self._short(worst, flying=False):
                    break
                await self._landed.wait()
            if short:
                raise ModelOver(short)
            ticket = max(self._flying, default=0) + 1
            self._flying[ticket] = worst
            return ticket

    def _short(self, worst: Worst, *, flying: bool) -> str:
        """Why a call of this size does not fit; empty where it does."""
        budget, spent = self._journal.graph.budget, self._journal.graph.spent
        held = tuple(self._flying.values()) if flying else ()
        usd = spent.usd + sum(each.usd for each in held)
        tokens = spent.tokens + sum(each.tokens for each in held)
        if budget.usd is not None and usd + worst.usd > budget.usd + NEARLY:
            return (
                f"the budget of {budget.usd:g} usd leaves no room for another call "
                f"({spent.usd:.4f} spent, a call may cost {worst.usd:.4f})"
            )
        if budget.tokens is not None and tokens + worst.tokens > budget.tokens:
            return (
                f"the budget of {budget.tokens} tokens leaves no room for another call "
                f"({spent.tokens} spent, a call may take {worst.tokens})"
            )
        return ""


def record(journal: Journal, brief: Brief, prompt: Prompt, session: Session) -> None:
    """Journal what an agent was told and said."""
    text = scrubbed(session.reply.text, shapes=False)
    journal.write(
        ModelCalled(
            node=brief.node,
            model=session.model,
            intent=brief.intent,
            prompt=journal.keep(prompt),
            reply=journal.keep(replace(session.reply, text=text)),
            usd=session.usd,
            seconds=session.seconds,
            error=session.error,
            after=brief.after,
        )
    )


def worst_of(spec: ModelSpec, prompt: Prompt) -> Worst:
    """The most that this prompt can cost at this model."""
    return Worst(usd=spec.usd(prompt.most_tokens, spec.max_tokens), tokens=prompt.most_tokens + spec.max_tokens)


def arms_of(graph: Graph, names: Sequence[str], down: Collection[int]) -> list[Arm]:
    """What each model has brought so far; a function of the journal but for which are down."""
    calls, gained, usd = ([0.0] * len(names) for _ in range(3))
    place = {name: i for i, name in enumerate(names)}
    for call in graph.calls:
        if (i := place.get(call.model)) is None:
            continue
        usd[i] += call.usd
        if call.reply and not graph.is_aside(call):
            calls[i] += 1
            gained[i] += _gain(graph, call.node)
    return [Arm(calls=int(calls[i]), gained=gained[i], usd=usd[i], alive=i not in down) for i in range(len(names))]


def _gain(graph: Graph, number: int) -> float:
    node = graph.nodes[number]
    if node.score is None:
        return 0.0
    scores = [score for p in node.pick.parents if (score := graph.nodes[p].score) is not None]
    return max(0.0, node.score - max(scores, default=0.0))
