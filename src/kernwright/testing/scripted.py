"""An operator that proposes what it was told to."""

import asyncio

from kernwright.core.brief import Brief, Draft, Exhausted, Intent, Proposed, Unusable
from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.ports import OperatorContext
from kernwright.search.knobs import knob_names


class Scripted:
    """Each line of `script` makes one candidate, for whichever of its intents is asked next.

    A line is Python (`SPEEDUP = 1.5; WRONG = True`), `unusable: REASON`, or `bug: TEXT`, at which
    it raises. `{node}` and `{seed}` in a line stand for the brief's. With `forever`, the last line
    is repeated.
    """

    name = "scripted"

    def __init__(
        self,
        context: OperatorContext,
        *,
        script: str = "NODE = {node}",
        intents: str = "start",
        forever: bool = False,
        sleep_s: float = 0.0,
        trials: int = 0,
        label: str = "",
    ) -> None:
        """`label` keeps the items of several apart;
        `trials` is how many candidates it tries out before it proposes, for intent `tune`."""
        self.intents: frozenset[Intent] = frozenset(intents.split(","))  # type: ignore[arg-type]
        self._context = context
        self._lines = script.splitlines()
        self._forever = forever
        self._sleep_s = sleep_s
        self._trials = trials
        self._label = label
        self._used = {item for operator, item in context.used if operator == self.name}
        self._next = 0

    async def propose(self, brief: Brief) -> Draft:
        index = self._claimed()
        if index >= len(self._lines) and not self._forever:
            return Exhausted(operator=self.name, intent=brief.intent)
        if self._sleep_s:
            await asyncio.sleep(self._sleep_s)
        line = self._lines[min(index, len(self._lines) - 1)]
        line = line.replace("{node}", str(brief.node)).replace("{seed}", str(brief.seed))
        if line.startswith("bug: "):
            raise ValueError(line)
        if line.startswith("unusable: "):
            return Unusable(operator=self.name, reason=line.removeprefix("unusable: "), item=self._item(index))
        for trial in range(self._trials if brief.intent == "tune" else 0):
            if await self._context.trial(brief.node, scripted(f"{line}\nTRIAL = {trial}")) is None:
                break
        candidate = scripted(line)
        return Proposed(
            candidate=self._context.put(candidate),
            operator=self.name,
            item=self._item(index),
            summary=line,
            author="a script",
            knobs=knob_names(candidate),
        )

    def _claimed(self) -> int:
        while self._item(self._next) in self._used:
            self._next += 1
        self._next += 1
        return self._next - 1

    def _item(self, index: int) -> str:
        return f"{self._label}{index}"


def scripted(text: str) -> Candidate:
    """A candidate of which only its literals matter."""
    text = text.replace("; ", "\n") + "\ndef kernel(x):\n    return x\n"
    return Candidate(language="torch", files=(SourceFile(name="kernel.py", text=text),))
