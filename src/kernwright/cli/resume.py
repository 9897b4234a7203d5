"""`kernwright resume RUN`."""

from . import options
from .driving import conclude, drive


def resume(
    run: options.Run,
    budget: options.Budgets = None,
    proposals: options.Proposals = None,
    evaluations: options.Evaluations = None,
    seconds: options.Seconds = None,
    usd: options.Usd = None,
    tokens: options.Tokens = None,
    until: options.Until = None,
    patience: options.Patience = None,
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """Go on with a run; limits are totals and include what was spent."""
    from kernwright.core.spec import Budget
    from kernwright.engine.intake import home_of
    from kernwright.engine.reading import reading

    from .parsing import budget_of

    given = Budget(proposals=proposals, evaluations=evaluations, seconds=seconds, usd=usd, tokens=tokens)
    limits = budget_of(budget or [], given)
    folder = home_of(home)
    with reading(folder, run) as view:
        full = view.id
    drive(folder, full, resume=True, budget=limits, until=until, patience=patience)
    conclude(folder, full, as_json=as_json)
