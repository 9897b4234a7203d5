"""`kernwright judge PROBLEM CANDIDATE`."""

from pathlib import Path
from typing import Annotated

import typer

from . import options, screen
from .interruption import interruptible
from .stages import Stages


def judge(
    problem: options.ProblemFile,
    candidate: Annotated[str, typer.Argument(metavar="CANDIDATE", help="A Python file with ModelNew or kernel.")],
    plan: Annotated[str, typer.Option(help="quick (one set of processes) or full (ends in verified).")] = "full",
    rules: options.RuleTexts = None,
    target: options.Target = None,
    language: options.Language = None,
    threads: options.Threads = 1,
    champion: Annotated[Path | None, typer.Option(help="Another candidate, timed beside this one.")] = None,
    samples: Annotated[bool, typer.Option("--samples", help="With --json: the raw samples too.")] = False,
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """Say whether a candidate is right, and how fast, whatever the verdict exit 0."""
    from kernwright import api
    from kernwright.engine.intake import rules_of

    from .contract import judged
    from .verdict_view import evaluation_view

    with Stages() as stages, interruptible("Stopped by Ctrl-C; nothing was left running, nothing was judged."):
        evaluation = api.judge(
            problem,
            candidate,
            plan=plan,
            threads=threads,
            rules=rules_of(rules or []),
            target=target,
            language=language,
            champion=champion,
            home=home,
            progress=stages,
        )
    if as_json:
        screen.emit({**judged(evaluation, samples=samples), "problem_file": problem, "candidate_file": candidate})
    else:
        screen.show(*evaluation_view(evaluation))
