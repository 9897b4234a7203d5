"""`kernwright evolve PROBLEM`."""

from pathlib import Path
from typing import Annotated

import typer

from . import options, screen
from .driving import begin_by, conclude, drive, waiting


def evolve(
    problem: options.ProblemFile,
    start: Annotated[list[Path] | None, typer.Option(help="A candidate to begin with; may be repeated.")] = None,
    proposals: options.Proposals = None,
    evaluations: options.Evaluations = None,
    seconds: options.Seconds = None,
    usd: options.Usd = None,
    tokens: options.Tokens = None,
    budget: options.Budgets = None,
    model: options.Models = None,
    base_url: options.BaseUrl = None,
    price: options.Prices = None,
    max_tokens: options.MaxTokens = None,
    until: options.Until = None,
    patience: options.Patience = None,
    operator: options.Operators = None,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="A published method, or a TOML file of one; other options come before what it says; kernwright by "
            "default.",
            show_default=False,
        ),
    ] = None,
    policy: Annotated[
        str | None, typer.Option(help="How the next step is chosen; the method says it by default.")
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="A coding agent that writes, such as 'claude -p {brief}'."),
    ] = None,
    agent_env: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A variable that the agent may have; may be repeated.")
    ] = None,
    policy_set: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="A setting of the policy.")] = None,
    plan: Annotated[str, typer.Option(help="Plan of the search; the champion is verified in full.")] = "quick",
    rules: options.RuleTexts = None,
    target: options.Target = None,
    language: options.Language = None,
    threads: options.Threads = 1,
    seed: Annotated[int, typer.Option(help="Seed of the search.")] = 0,
    slots: Annotated[int, typer.Option(min=1, help="Evaluations at a time.")] = 1,
    repairs: Annotated[
        int | None, typer.Option(min=0, help="How often in a row a failure goes back; the method says it by default.")
    ] = None,
    in_flight: options.InFlight = None,
    profiles: Annotated[
        str, typer.Option(help="How survivors are looked at where the method tells of it: run, code or none.")
    ] = "run",
    knowledge: options.Knowledge = None,
    built_in: options.BuiltIn = True,
    memory: Annotated[
        str,
        typer.Option(
            metavar="on|run|off",
            help="on: notes and the best kernels of earlier runs count too; run: this run alone; off: nothing does.",
        ),
    ] = "on",
    executor: Annotated[
        str | None,
        typer.Option(help="Where evaluations run; processes by default; jobs: on another machine.", show_default=False),
    ] = None,
    author: Annotated[str, typer.Option(help="Who writes the candidates, for the record.")] = "",
    hold: Annotated[bool, typer.Option("--hold", help="Create the run and stop, for ask and tell.")] = False,
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """Search for a faster kernel and verify the best."""
    from kernwright import api
    from kernwright.core.spec import Budget
    from kernwright.engine import intake

    from .notes import folders
    from .parsing import budget_of
    from .writers import writers

    greedy = policy == "greedy" and not policy_set
    given = Budget(proposals=proposals, evaluations=evaluations, seconds=seconds, usd=usd, tokens=tokens)
    run = api.begin(
        problem,
        start=start or (),
        rules=intake.rules_of(rules or []),
        language=language,
        home=home,
        target=target,
        method=method,
        policy=policy,
        repairs=repairs,
        policy_settings=intake.settings_of(policy_set or [], "The policy setting"),
        languages=(language,) if language and (model or not start) else (),
        executor=executor,
        plan=plan,
        threads=threads,
        budget=budget_of(budget or [], given),
        until=until,
        patience=patience,
        proposals_in_flight=in_flight,
        profiles=profiles,
        evaluations_in_flight=slots,
        seed=seed,
        author=author,
        knowledge=folders(knowledge),
        built_in=built_in,
        memory=memory,
        **writers(
            operator,
            model,
            base_url=base_url,
            prices=price,
            max_tokens=max_tokens,
            agent=agent,
            agent_env=agent_env or (),
            greedy=greedy,
        ),
    )
    folder = intake.home_of(home)
    if hold:
        if as_json:
            screen.emit({"run": run})
        else:
            print(f"Created run {run}; {begin_by(folder, run)}")
            for line in waiting(folder, run):
                print(line)
        return
    drive(folder, run, resume=False)
    conclude(folder, run, as_json=as_json)
