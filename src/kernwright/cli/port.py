"""`kernwright port RUN --target TARGET --language LANGUAGE`."""

from typing import Annotated

import typer

from . import options
from .driving import conclude, drive


def port(
    run: options.Run,
    target: Annotated[str | None, typer.Option(help="Where it is to run; as before by default.")] = None,
    language: Annotated[str | None, typer.Option(help="How it is to be written; any that suits by default.")] = None,
    node: Annotated[int | None, typer.Option(help="The champion or best by default.", show_default=False)] = None,
    proposals: options.Proposals = 8,
    usd: options.Usd = None,
    tokens: options.Tokens = None,
    model: options.Models = None,
    base_url: options.BaseUrl = None,
    price: options.Prices = None,
    knowledge: options.Knowledge = None,
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """Have a model port a kernel to another target or language, in a run of its own that goes on from there."""
    from kernwright.core.spec import Budget
    from kernwright.engine import by_hand
    from kernwright.engine.chosen_models import models_of
    from kernwright.engine.intake import home_of

    models = models_of(model or [], base_url=base_url, prices=price or [])
    folder = home_of(home)
    budget = Budget(proposals=proposals, usd=usd, tokens=tokens)
    made = by_hand.port(folder, run, node, target, models, budget, language=language, knowledge=knowledge or ())
    drive(folder, made, resume=True)
    conclude(folder, made, as_json=as_json)
