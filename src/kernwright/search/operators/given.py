"""The candidates that the user began with."""

from kernwright.core.brief import Brief, Draft, Exhausted, Intent, Proposed
from kernwright.core.ports import OperatorContext
from kernwright.search.knobs import knob_names


class Given:
    """Each one once, in the order given."""

    name = "given"
    intents: frozenset[Intent] = frozenset({"start"})
    reads = False

    def __init__(self, context: OperatorContext) -> None:
        self._context = context
        used = {item for operator, item in context.used if operator == self.name}
        self._left = [blob for blob in dict.fromkeys(context.start) if blob not in used]

    async def propose(self, brief: Brief) -> Draft:
        """The next one."""
        if not self._left:
            return Exhausted(operator=self.name, intent=brief.intent)
        blob = self._left.pop(0)
        knobs = knob_names(self._context.get(blob))
        return Proposed(candidate=blob, operator=self.name, item=blob, summary="given by the user", knobs=knobs)
