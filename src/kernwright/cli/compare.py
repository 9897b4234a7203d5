"""`kernwright compare METHODS`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options, screen

if TYPE_CHECKING:
    from kernwright.engine.bench import Watch
    from kernwright.engine.comparing_cells import Cell, Row
    from kernwright.engine.comparing_report import Comparison


def compare(
    methods: Annotated[
        list[str], typer.Argument(metavar="METHOD...", help="Names or files; the others are set against the first.")
    ],
    problem: Annotated[
        list[str] | None,
        typer.Option("--problem", "--problems", help="As for evolve; may be repeated. A family with --landscape."),
    ] = None,
    landscape: Annotated[
        bool, typer.Option("--landscape", help="On the synthetic landscape: no models, no devices, seconds.")
    ] = False,
    seeds: Annotated[int, typer.Option(min=1, help="Searches per method and problem.")] = 5,
    name: Annotated[str, typer.Option(help="Of the comparison; the same one goes on where it stopped.")] = "compare",
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the report.")] = Path("compare"),
    plot: Annotated[bool, typer.Option("--plot", help="Draw compare.png too; needs the extra plot.")] = False,
    proposals: options.Proposals = None,
    evaluations: options.Evaluations = None,
    seconds: options.Seconds = None,
    usd: options.Usd = None,
    tokens: options.Tokens = None,
    model: options.Models = None,
    base_url: options.BaseUrl = None,
    price: options.Prices = None,
    max_tokens: options.MaxTokens = None,
    operator: options.Operators = None,
    knowledge: options.Knowledge = None,
    memory: options.OwnMemory = "run",
    plan: Annotated[str, typer.Option(help="Plan of the searches; each champion is verified in full.")] = "quick",
    rules: options.RuleTexts = None,
    target: options.Target = None,
    threads: options.Threads = 1,
    slots: Annotated[int, typer.Option(min=1, help="Evaluations at a time.")] = 1,
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """Compare methods on the same problems, seeds, budget and judge. Calling it again goes on."""
    from kernwright.core.errors import UserError
    from kernwright.core.spec import Budget
    from kernwright.engine import comparing, intake
    from kernwright.engine import landscape as field
    from kernwright.engine.comparing_report import require_plotting

    from .interruption import interruptible
    from .notes import folders, own_memory
    from .writers import writers

    if plot:
        require_plotting()
    if landscape and (model or base_url or price or max_tokens or operator):
        raise UserError("On the landscape nobody is asked to write; leave --model and --operator out, or --landscape.")
    settings: dict[str, Any] = {
        "budget": Budget(proposals=proposals, evaluations=evaluations, seconds=seconds, usd=usd, tokens=tokens),
        "evaluations_in_flight": slots,
        "memory": own_memory(memory),
    }
    if not landscape:
        settings |= {"plan": plan, "threads": threads, "target": target, "knowledge": folders(knowledge)}
        settings |= writers(operator, model, base_url=base_url, prices=price, max_tokens=max_tokens)
    asked = comparing.Asked(
        home=intake.writable_home(home),
        name=name,
        methods=tuple(methods),
        problems=tuple(field.problems(problem or []) if landscape else problem or ()),
        seeds=seeds,
        settings=settings,
        out=out,
        rules=intake.rules_of(rules or []),
        on_landscape=landscape,
        plot=plot,
    )
    with interruptible(f"Stopped by Ctrl-C; what was finished is kept, and reported in {out}. Call it again to go on."):
        report = comparing.compare(asked, _Told(quiet=landscape))
    if as_json:
        screen.emit(report)
        return
    _show(report)
    drawn = ", compare.png" if plot else ""
    print(f"Written to {out}: compare.md, compare.csv, compare.json{drawn}.")


class _Told:
    """Progress on stderr: each search of a comparison, or on the landscape each hundredth."""

    def __init__(self, *, quiet: bool) -> None:
        from .bench import RunWatch

        self.watch: Watch = RunWatch()
        self._quiet = quiet
        self._number = 0

    def begins(self, number: int, total: int, cell: "Cell") -> None:
        if not self._quiet or number % 100 == 1:
            screen.say(f"[{number}/{total}] {cell.method} on {cell.problem}, seed {cell.seed}")

    def ended(self, row: "Row") -> None:
        if row.reason:
            screen.say(f"  {row.reason}")
        elif not self._quiet:
            screen.say(f"  {row.kept:.3f}x after {row.proposals} proposals")


def _show(report: "Comparison") -> None:
    from kernwright.engine.comparing_report import said, tied

    head = f"{'method':<22} {'speedup [95 %]':<20} {'ratio':>6}"
    print(f"{head}  {'built':>5} {'right':>5} {'1.2x':>5} {'2x':>5} {'usd':>6}")
    for each in sorted(report.summaries, key=lambda each: -(each.speedup.value if each.speedup else 0.0)):
        ratio = f"{each.against_first.value:.3f}" if each.against_first else "-"
        to_first, to_second = (
            "-" if proposals is None else f"{proposals:.0f}" for proposals in (each.to_first, each.to_second)
        )
        print(
            f"{each.method:<22} {said(each.speedup):<20} {ratio:>6}{'=' if tied(each.against_first) else ' '} "
            f"{each.built:>5.0%} {each.correct:>5.0%} {to_first:>5} {to_second:>5} {each.usd:>6.2f}"
        )
    print(f"{len(report.problems)} problems, {report.seeds} seeds, {report.budget}; on {report.where}.")
    if report.missing:
        print(f"{report.missing} searches are still to be done.")
