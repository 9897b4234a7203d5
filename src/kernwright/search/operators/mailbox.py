"""Proposals by someone outside: a person, or an agent that works through ask and tell."""

from collections.abc import Iterable

from kernwright.core.brief import Brief, Draft, Exhausted, Intent, Proposed
from kernwright.core.candidate import Candidate
from kernwright.core.inbox import Told
from kernwright.core.ports import OperatorContext
from kernwright.search.knobs import knob_names

NAME = "mailbox"
STARTS = 1


class Mailbox:
    """Waits for the answer to each brief."""

    name = NAME
    intents: frozenset[Intent] = frozenset(
        {"start", "improve", "repair", "combine", "simplify", "port", "explain", "critique"}
    )

    def __init__(self, context: OperatorContext, *, starts: int = STARTS) -> None:
        """`starts` fresh beginnings are asked for; after them every brief shows what came before."""
        self._context = context
        self._starts = starts
        self._asked = {(operator, item) for operator, item in context.used if operator == NAME}

    async def propose(self, brief: Brief) -> Draft:
        """Proposed, whenever it comes."""
        this = _item_of(brief.node, brief.intent)
        if not serves(brief.intent, self._asked - {this}, self._starts):
            return Exhausted(operator=NAME, intent=brief.intent)
        self._asked.add(this)
        told = await self._context.answers(brief.node)
        return proposed(told, brief.intent, self._context.get(told.candidate))


def serves(intent: Intent, used: Iterable[tuple[str, str]], starts: int = STARTS) -> bool:
    """Whether someone outside is still to be asked for this, after these (operator, item)."""
    if intent == "start":
        return sum(operator == NAME and item.startswith("start:") for operator, item in used) < starts
    return intent in Mailbox.intents


def proposed(told: Told, intent: Intent, candidate: Candidate) -> Proposed:
    """The draft that an answer makes."""
    return Proposed(
        candidate=told.candidate,
        operator=NAME,
        item=_item_of(told.node, intent)[1],
        summary=told.summary,
        expects=told.expects,
        insights=told.insights,
        author=told.author,
        knobs=knob_names(candidate),
    )


def _item_of(node: int, intent: Intent) -> tuple[str, str]:
    """(operator, item) of the answer to a node's brief."""
    return NAME, f"{intent}:{node}"
