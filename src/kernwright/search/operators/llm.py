"""The universal operator: a brief becomes a prompt, a model's reply becomes files, whatever the intent."""

from dataclasses import replace
from importlib.util import find_spec

from kernwright.core.brief import REMARKS, Brief, Draft, Exhausted, Intent, Proposed, Remarked, Unusable
from kernwright.core.candidate import Candidate
from kernwright.core.errors import UserError, missing_extra
from kernwright.core.model import Answered, ModelOver, ModelRefused, Reply
from kernwright.core.ports import OperatorContext
from kernwright.search.knobs import knob_names

from .looking import marked, seen
from .rendering import Looked, Tried, base_of, prompt_of, tried_of
from .replies import NoCandidate, Written, written

NAME = "llm"
TRY = "TRY"
LONGEST_REMARK = 20_000


class Llm:
    """Asks one of the run's models once for each brief; again where it may try candidates out before it answers."""

    name = NAME
    intents: frozenset[Intent] = frozenset(
        {"start", "improve", "repair", "combine", "simplify", "port", "explain", "critique"}
    )

    def __init__(self, context: OperatorContext, *, starts: int = 0, tries: int = 0, reads: int = 0) -> None:
        """`starts` is how many fresh beginnings there are, 0 for as many as are asked for; `tries` how many candidates
        a model may have judged before each answer, `reads` how often it may look into the run's knowledge. Each try is
        a call and an evaluation of its own, each look a call.

        Raises:
            UserError: Jinja2 is not installed, or a setting is negative.
        """
        if find_spec("jinja2") is None:
            raise missing_extra(f"The operator {NAME!r}", "models")
        if starts < 0 or tries < 0 or reads < 0:
            raise UserError(f"The operator's starts are {starts}, its tries {tries}, reads {reads}; give 0 or more.")
        self._context = context
        self._limit = starts
        self._tries = tries
        self._reads = reads if context.knowledge is not None else 0
        self._starts = {item for operator, item in context.used if operator == NAME and item.startswith("start:")}

    async def propose(self, brief: Brief) -> Draft:
        """Proposed, Remarked, or Unusable with the reason; Exhausted where no model answers any more."""
        item = f"{brief.intent}:{brief.node}"
        if brief.intent == "start":
            if self._limit and item not in self._starts and len(self._starts) >= self._limit:
                return Exhausted(operator=NAME, intent=brief.intent)
            self._starts.add(item)
        try:
            answered = await self._answered(brief)
        except ModelOver as over:
            return Exhausted(operator=NAME, intent=brief.intent, reason=str(over))
        except ModelRefused as refused:
            return Unusable(operator=NAME, reason=str(refused), item=item)
        if brief.intent in REMARKS:
            return _remarked(answered, item)
        return self._proposed(answered, brief, item)

    async def _answered(self, brief: Brief) -> Answered:
        """The final answer, after what the model wanted looked up and tried."""
        tried: list[Tried] = []
        looked: list[Looked] = []
        left, looks = 0 if brief.intent in REMARKS else self._tries, self._reads
        while True:
            answered = await self._context.ask(brief, prompt_of(brief, tried, left, looked, looks))
            if looks and self._context.knowledge is not None and (wish := marked(answered.reply.text)):
                looks -= 1
                looked.append(seen(wish, self._context.knowledge, brief))
                continue
            text, trying = _without_mark(answered.reply.text)
            if not (trying and left):
                return replace(answered, reply=replace(answered.reply, text=text))
            left -= 1
            try:
                candidate = self._candidate(replace(answered.reply, text=text), brief)[0]
            except NoCandidate as reason:
                tried.append(Tried(text=text, verdict="unusable", reason=str(reason)))
                continue
            evaluation = await self._context.trial(brief.node, candidate)
            if evaluation is None:  # the budget has no evaluation to spare: what was tried is the answer
                return replace(answered, reply=replace(answered.reply, text=text))
            tried.append(tried_of(text, evaluation, brief))

    def _candidate(self, reply: Reply, brief: Brief) -> tuple[Candidate, Written]:
        base = base_of(brief)
        made = written(reply.text, base.candidate if base else None, truncated=reply.truncated)
        recognise = self._context.recognise
        texts = {file.name: file.text for file in made.files}
        language = recognise(texts) if recognise else brief.languages[0]
        return Candidate(language=language, files=made.files), made

    def _proposed(self, answered: Answered, brief: Brief, item: str) -> Draft:
        try:
            candidate, made = self._candidate(answered.reply, brief)
        except NoCandidate as reason:
            return Unusable(operator=NAME, reason=str(reason), item=item)
        return Proposed(
            candidate=self._context.put(candidate),
            operator=NAME,
            item=item,
            summary=made.name,
            approach=made.approach,
            insights=made.insights,
            expects=made.expects,
            author=answered.model,
            knobs=knob_names(candidate),
        )


def _remarked(answered: Answered, item: str) -> Draft:
    text = answered.reply.text.strip()[:LONGEST_REMARK]
    if not text:
        return Unusable(operator=NAME, reason="the reply is empty", item=item)
    return Remarked(operator=NAME, text=text, author=answered.model, item=item)


def _without_mark(text: str) -> tuple[str, bool]:
    """The text, and whether it began with the mark that has it tried."""
    first, _, rest = text.lstrip().partition("\n")
    return (rest, True) if first.strip(" *`:") == TRY else (text, False)
