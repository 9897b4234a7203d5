"""The best kernels of earlier runs on the same or a like problem."""

from kernwright.core.brief import Brief, Draft, Exhausted, Intent, Proposed
from kernwright.core.ports import OperatorContext
from kernwright.search.knobs import knob_names


class Earlier:
    """Each one once, the likest first. It is judged like any other: what it was worth there is only a hint."""

    name = "earlier"
    intents: frozenset[Intent] = frozenset({"start"})

    def __init__(self, context: OperatorContext) -> None:
        self._context = context
        used = {item for operator, item in context.used if operator == self.name}
        self._left = [seed for seed in context.seeds if seed.candidate not in used]

    async def propose(self, brief: Brief) -> Draft:
        """The next one."""
        if not self._left:
            return Exhausted(operator=self.name, intent=brief.intent)
        seed = self._left.pop(0)
        where = "on this problem" if seed.likeness >= 1.0 else "on a like problem"
        return Proposed(
            candidate=seed.candidate,
            operator=self.name,
            item=seed.candidate,
            summary=f"node {seed.node} of {seed.run}, {seed.speedup:.3f}x {where}",
            knobs=knob_names(self._context.get(seed.candidate)),
        )
