"""A bench on a screen of 80 columns."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kernwright.core.outcome import Interval
from kernwright.engine.bench_report import (
    BASELINES,
    BenchReport,
    Row,
    Totals,
    conditions,
    counted,
    mark,
    shown,
)
from kernwright.engine.proportion import Proportion
from kernwright.engine.proportion import shown as share

from . import figures
from .verdict_view import COLOURS, plain_table

if TYPE_CHECKING:
    from rich.console import RenderableType

LONGEST_NAME, WIDEST_INTERVAL, WIDEST_BOUNDS = 27, 22, 14


def view(report: BenchReport) -> "Iterator[RenderableType]":
    """Every problem, what was left out and why, totals, and what has to be known beside them."""
    from rich.padding import Padding
    from rich.text import Text

    yield Text.assemble((report.name, "bold"), f"  {report.source} on {report.target}, plan {report.plan}")
    yield Text(f"{report.method}", style="dim")
    yield Text(f"all figures: {conditions(report)}", style="dim")
    yield Text("")
    yield Text(f"{'problem':<28}{'verdict':<13}{'vs faster [95 %]':<23}{'eager':>7}{'compile':>8}", style="bold")
    for row in report.rows:
        yield Text.assemble(
            f"{_name(row):<28}",
            (f"{row.verdict:<13}", "cyan" if row.waiting else COLOURS.get(row.verdict, "bold red")),
            f"{_interval(row):<23}{_short(row, 'eager'):>7}{_short(row, 'compile'):>8}",
        )
        if row.waiting or not row.correct:
            yield Padding(Text(" ".join(row.reason.split())[:240], style="dim"), (0, 0, 0, 2), expand=False)
    if report.degenerate:
        yield Text("\nDegenerate, so left out of the totals:", style="bold yellow")
        for name, why in report.degenerate.items():
            yield Padding(Text(f"{name}: {'; '.join(why)}"), (0, 0, 0, 2), expand=False)
    yield Text("")
    yield from _totals(report.headline)
    if report.degenerate:
        yield Text("\nWith the degenerate problems:", style="dim")
        yield from _totals(report.everything)
    yield Text("")
    for note in _notes(report):
        yield Text(f"note: {note}", style="dim")


def _notes(report: BenchReport) -> Iterator[str]:
    if len(report.rows) < report.asked:
        yield f"{report.asked - len(report.rows)} of {report.asked} problems are not done yet; call it again to go on"
    if report.unexamined:
        yield f"{len(report.unexamined)} problems were not looked at for degeneracy"
    yield from report.notes
    for each in report.headline.against:
        if each.without:
            names = ", ".join(each.without)
            yield f"the baseline {each.baseline} was not timed on {names}: left out of its figures"


def _totals(totals: Totals) -> "Iterator[RenderableType]":
    from rich.text import Text

    begins = f"{counted(totals)}: "
    yield Text(f"{begins}correct {share(totals.correct)}", style="bold")
    yield Text(f"{'':>{len(begins)}}verified {share(totals.verified)}", style="bold")
    table = plain_table("against", *totals.against[0].fast, "mean, correct", "failures at 1", right=range(1, 7))
    for each in totals.against:
        fast = map(_share, each.fast.values())
        table.add_row(each.baseline, *fast, _mean(each.correct), _mean(each.all))
    yield table


def _share(part: Proportion) -> str:
    """With Wilson's interval in whole percent below it."""
    if part.share is None or part.low is None or part.high is None:
        return "-"
    return f"{part.share:.1%}\n[{part.low * 100:.0f},{part.high * 100:.0f}]"


def _mean(value: Interval | None) -> str:
    """With its interval below it; that of two problems may reach from nothing to millions."""
    estimate, _, bounds = shown(value).partition(" ")
    if value is None or not bounds:
        return estimate
    return f"{figures.speedup(value.estimate)}\n{bounds if len(bounds) <= WIDEST_BOUNDS else 'wide'}"


def _name(row: Row) -> str:
    return row.problem if len(row.problem) <= LONGEST_NAME else f"{row.problem[: LONGEST_NAME - 1]}…"


def _interval(row: Row) -> str:
    text = figures.interval(row.speedup)
    if row.speedup is None or len(text) <= WIDEST_INTERVAL:
        return text
    # An interval from few process sets may have a bound of many digits.
    return f"{figures.speedup(row.speedup.estimate)} [wide]"


def _short(row: Row, baseline: str) -> str:
    assert baseline in BASELINES
    speedup = row.against(baseline)
    return f"{_narrow(speedup.estimate)}x{mark(row, baseline)}" if speedup else "-"


def _narrow(value: float) -> str:
    """In five places at most."""
    if value < 100:
        return f"{value:.2f}"
    return f"{value:.0f}" if value < 9999 else ">9999"
