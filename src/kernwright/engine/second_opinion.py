"""Has one of a run's models say what the rules miss in a profile: an attempt like any other, capped and journalled."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from kernwright.core.brief import Brief
from kernwright.core.diagnosis import Diagnosis
from kernwright.core.model import Answered, Prompt
from kernwright.core.profile import Profile
from kernwright.search.diagnosis.opinion import joined
from kernwright.search.operators.rendering import diagnosis_prompt_of

from .briefs import brief_of
from .journal import Journal


class SecondOpinion:
    """Asked once for each profile."""

    def __init__(self, ask: Callable[[Brief, Prompt], Awaitable[Answered]]) -> None:
        self._ask = ask

    async def __call__(self, journal: Journal, node: int, profile: Profile, diagnosis: Diagnosis) -> Diagnosis:
        """Raises what asking a model raises."""
        blob = journal.graph.node(node).candidate
        assert blob is not None
        # By its intent the journal tells it from the call that wrote the node.
        brief = replace(brief_of(journal, node), intent="critique")
        prompt = diagnosis_prompt_of(brief, journal.candidate(blob), profile, diagnosis)
        answered = await self._ask(brief, prompt)
        return joined(diagnosis, answered.reply.text, answered.model)
