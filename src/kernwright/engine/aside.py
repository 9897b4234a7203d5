"""The operator that asks models, used outside a search: nothing can be tried out, nobody else answers."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from kernwright.core.brief import Brief
from kernwright.core.candidate import Candidate
from kernwright.core.inbox import Told
from kernwright.core.model import Answered, Prompt
from kernwright.core.outcome import Evaluation
from kernwright.core.ports import OperatorContext
from kernwright.search.operators.llm import NAME, Llm

from .journal import Journal
from .written import recognise

Ask = Callable[[Brief, Prompt], Awaitable[Answered]]
Trial = Callable[[int, Candidate], Awaitable[Evaluation | None]]


async def no_trial(node: int, candidate: Candidate) -> Evaluation | None:
    """Nothing can be tried out."""
    return None


def asking_aside(journal: Journal, ask: Ask, trial: Trial = no_trial) -> Llm:
    """For briefs of this journal, with as many tries as its own operator allows."""
    settings = next((each.settings for each in journal.spec.operators if each.name == NAME), {})
    return Llm(
        OperatorContext(
            home=Path(),
            run=journal.run,
            used=frozenset(),
            start=(),
            put=journal.put,
            get=journal.candidate,
            trial=trial,
            quiet=_quiet,
            answers=_no_answer,
            ask=ask,
            recognise=partial(recognise, named=journal.spec.languages),
            knowledge=journal.library,
        ),
        tries=int(settings.get("tries", 0)),
        reads=int(settings.get("reads", 0)),
    )


async def _no_answer(node: int) -> Told:
    raise NotImplementedError


@asynccontextmanager
async def _quiet() -> AsyncIterator[None]:
    yield
