"""`kernwright bench SOURCE`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options, screen

if TYPE_CHECKING:
    from kernwright.engine.bench import Follower
    from kernwright.engine.bench_report import BenchReport, Row


def bench(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="Where the problems come from: kernelbench.")],
    path: Annotated[str, typer.Option(help="A KernelBench checkout, or 'huggingface' for its dataset.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for bench.json, bench.csv and bench.md.")],
    levels: Annotated[str | None, typer.Option(help="Such as 1,2; all of 1 to 3 that are there by default.")] = None,
    problems: Annotated[str | None, typer.Option(help="Such as 1-20,33,19_ReLU,level2/7; all by default.")] = None,
    name: Annotated[str, typer.Option(help="Name of the bench; the same name goes on with it.")] = "kernelbench",
    candidates: Annotated[
        Path | None, typer.Option(help="Judge the files in this folder (level1/19*.py) instead of searching.")
    ] = None,
    check: Annotated[bool, typer.Option("--check/--no-check", help="Look for degenerate problems first.")] = True,
    retry: Annotated[bool, typer.Option("--retry", help="Try again the problems that could not be judged.")] = False,
    budget: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE,...", help="Limits of each run: proposals=50,seconds=600.")
    ] = None,
    proposals: options.Proposals = None,
    evaluations: options.Evaluations = None,
    seconds: options.Seconds = None,
    usd: options.Usd = None,
    until: options.Until = None,
    patience: options.Patience = None,
    tokens: options.Tokens = None,
    model: options.Models = None,
    base_url: options.BaseUrl = None,
    price: options.Prices = None,
    max_tokens: options.MaxTokens = None,
    operator: options.Operators = None,
    knowledge: options.Knowledge = None,
    memory: options.OwnMemory = "run",
    method: Annotated[
        str | None,
        typer.Option(metavar="NAME|FILE", help="As for evolve; without one the policy says all.", show_default=False),
    ] = None,
    policy: Annotated[
        str | None, typer.Option(help="How the next step is chosen; greedy by default, or the method says it.")
    ] = None,
    policy_set: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="A setting of the policy.")] = None,
    plan: Annotated[str, typer.Option(help="Plan of the search; each champion is verified in full.")] = "quick",
    rules: options.RuleTexts = None,
    target: options.Target = None,
    threads: options.Threads = 1,
    seed: Annotated[int, typer.Option(help="Seed of the searches.")] = 0,
    slots: Annotated[int, typer.Option(min=1, help="Evaluations at a time.")] = 1,
    in_flight: options.InFlight = None,
    executor: Annotated[
        str | None,
        typer.Option(help="Where evaluations run; processes by default; jobs: on another machine.", show_default=False),
    ] = None,
    author: Annotated[str, typer.Option(help="Who writes the candidates, for the record.")] = "",
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """Search on many problems, each in a run of its own, and report over all of them. Calling it again goes on."""
    from kernwright import api
    from kernwright.core.spec import Budget
    from kernwright.engine import intake

    from .interruption import interruptible
    from .notes import folders, own_memory
    from .parsing import budget_of, levels_of
    from .writers import writers

    settings: dict[str, Any] = {
        "target": target,
        "method": method,
        "policy": policy,
        "policy_settings": intake.settings_of(policy_set or [], "The policy setting"),
        "executor": executor,
        "plan": plan,
        "threads": threads,
        "budget": budget_of(
            budget or [],
            Budget(proposals=proposals, evaluations=evaluations, seconds=seconds, usd=usd, tokens=tokens),
        ),
        "until": until,
        "patience": patience,
        "proposals_in_flight": in_flight,
        "evaluations_in_flight": slots,
        "seed": seed,
        "author": author,
        "knowledge": folders(knowledge),
        "memory": own_memory(memory),
    }
    greedy = method is None and policy in (None, "greedy") and not policy_set
    named = writers(operator, model, base_url=base_url, prices=price, max_tokens=max_tokens, greedy=greedy)
    if operator or model:  # with neither, candidates that are given are judged and nobody is asked
        settings |= named
    watch = RunWatch()
    with interruptible(f"Stopped by Ctrl-C; what was finished is kept, and reported in {out}. Call it again to go on."):
        report = api.bench(
            source,
            path,
            out,
            levels=levels_of(levels),
            problems=problems,
            name=name,
            candidates=candidates,
            rules=intake.rules_of(rules or []),
            examine=check,
            retry=retry,
            home=home,
            watch=watch,
            **settings,
        )
    if as_json:
        screen.emit(report)
        return
    from .bench_view import view

    screen.show(*view(report))
    print(f"Written to {out}: bench.md, bench.csv, bench.json.")


class RunWatch:
    """Progress on stderr: a line for each problem that begins and ends, and each run as `evolve` shows it."""

    def begins(self, number: int, total: int, key: str) -> None:
        screen.say(f"[{number}/{total}] {key}")

    @contextmanager
    def looks(self) -> Iterator[Callable[[str], None]]:
        from .stages import Stages

        with Stages() as stages:
            yield stages

    @contextmanager
    def follows(self, run: str) -> Iterator["Follower"]:
        from kernwright.engine.bench import Follower

        from .progress import Progress

        with Progress(run) as progress:
            yield Follower(progress.observe, progress.say)

    def ended(self, row: "Row", report: "BenchReport") -> None:
        from . import figures

        screen.say(f"[{len(report.rows)}/{report.asked}] {row.problem}: {row.verdict} {figures.interval(row.speedup)}")
