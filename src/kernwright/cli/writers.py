"""Who writes the candidates: what the options that name models, operators and an agent come to."""

from collections.abc import Sequence
from typing import Any

from kernwright.core.spec import RunSpec
from kernwright.engine.chosen_agents import with_agent
from kernwright.engine.chosen_models import BESIDE, about, asked_last, models_of

from . import screen
from .parsing import operator_of


def writers(
    operators: Sequence[str] | None,
    models: Sequence[str] | None,
    *,
    base_url: str | None,
    prices: Sequence[str] | None,
    max_tokens: int | None,
    agent: str | None = None,
    agent_env: Sequence[str] = (),
    greedy: bool = False,
) -> dict[str, Any]:
    """`operators` and `models` of a run; what there is to know of a local model is said. `greedy` takes every start.

    Raises:
        UserError: a name, an address or a price is malformed, a price is not known, or an extra is missing.
    """
    named = models_of(models or [], base_url=base_url, prices=prices or [], max_tokens=max_tokens)
    for text in filter(None, map(about, named)):
        screen.say(text)
    given = tuple(operator_of(text) for text in operators or ())
    asked = asked_last(given, named, greedy=greedy) or (BESIDE if agent else RunSpec(target="").operators)
    return {"models": named, "operators": with_agent(asked, agent, agent_env, greedy=greedy)}
