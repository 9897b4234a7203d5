"""An evaluation on a screen of 80 columns."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kernwright.core.outcome import Evaluation, Suspicious, Timings, timings_of

from . import figures
from .contract import log_of, notes_of

if TYPE_CHECKING:
    from rich.console import RenderableType

COLOURS = {
    "verified": "bold green",
    "measured": "green",
    "checked": "cyan",
    "built": "cyan",
    "suspicious": "bold yellow",
}
STRONGEST = "namespaces"


def evaluation_view(evaluation: Evaluation) -> "Iterator[RenderableType]":
    """Verdict, times, checks, isolation, notes and where the time went."""
    from rich.text import Text

    yield headline(evaluation)
    timings = timings_of(evaluation.outcome)
    if timings is None and isinstance(evaluation.outcome, Suspicious) and evaluation.outcome.timings:
        yield Text("\nDoubtful figures, not a speedup:", style="yellow")
        timings = evaluation.outcome.timings
    if timings:
        yield Text("")
        yield times_table(timings)
        yield from _against(timings)
    if evaluation.checks:
        yield Text("")
        yield checks_table(evaluation)
    if log := log_of(evaluation):
        yield Text("\nIt last said:")
        yield Text(log.rstrip(), style="dim")
    yield Text("")
    yield isolation_line(evaluation)
    for note in notes_of(evaluation):
        yield Text(f"note: {note}", style="dim")
    spent = sorted(evaluation.stage_s.items(), key=lambda item: -item[1])
    stages = " · ".join(f"{name} {figures.seconds(s)}" for name, s in spent if s >= 0.05)
    if stages:
        yield Text(f"time: {stages}", style="dim")
    yield Text(f"{evaluation.target} · {evaluation.machine} · plan {evaluation.plan}", style="dim")


def headline(evaluation: Evaluation) -> "RenderableType":
    """The verdict with its reason."""
    from rich.text import Text

    kind = evaluation.outcome.kind
    return Text.assemble((kind.upper(), COLOURS.get(kind, "bold red")), " ", evaluation.outcome.reason)


def times_table(timings: Timings) -> "RenderableType":
    """A row for each workload: times, against the floor or a copy of memory, speedup with interval."""
    against = "of floor" if any(workload.floor_ns for workload in timings.workloads) else "vs copy"
    table = plain_table("workload", "time", against, *_others(timings), "speedup [95 %]", right=range(1, 9))
    for workload in timings.workloads:
        ratio = workload.of_floor
        table.add_row(
            workload.workload,
            figures.duration(workload.time_ns.get("candidate")),
            f"{ratio:.0%}" if ratio else "-",
            *(figures.duration(workload.time_ns.get(name)) for name in _others(timings)),
            figures.interval(workload.speedup),
        )
    return table


def checks_table(evaluation: Evaluation) -> "RenderableType":
    """A row for each check, with what it found."""
    from rich.text import Text

    table = plain_table("check", "", "found")
    for check in evaluation.checks:
        mark = Text("ok", style="green") if check.passed else Text("FAIL", style="bold red")
        table.add_row(check.name, mark, check.detail or _evidence(check.evidence))
    return table


def isolation_line(evaluation: Evaluation) -> "RenderableType":
    """How far the candidate was kept apart; loud where it was less than it could be."""
    from rich.text import Text

    level = evaluation.isolation
    if level == STRONGEST:
        return Text(f"isolation: {level}", style="dim")
    missing = evaluation.environment.get("isolation_missing", "")
    if not level:
        return Text("isolation: no candidate ran", style="dim")
    return Text(
        f"WEAK ISOLATION: {level} only{': ' + missing if missing else ''}. A hostile candidate could reach more than "
        "it should; `kernwright doctor` says what is missing.",
        style="bold red",
    )


def plain_table(*columns: str, right: "range | tuple[int, ...]" = ()) -> "RichTable":
    """A table without a frame, as narrow as what is in it."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for index, name in enumerate(columns):
        number = index in right
        table.add_column(name, justify="right" if number else "left", no_wrap=number, overflow="fold")
    return table


def _others(timings: Timings) -> list[str]:
    names = dict.fromkeys(name for workload in timings.workloads for name in workload.time_ns)
    return [name for name in names if name != "candidate"]


def _against(timings: Timings) -> "Iterator[RenderableType]":
    from rich.text import Text

    yield Text(
        f"\nagainst the faster baseline ({timings.baseline}): {figures.interval(timings.speedup)}"
        f" · whole call {figures.speedup(timings.speedup_call.estimate)}"
    )
    parts = [
        f"{name} {figures.interval(value)}"
        for name, value in (
            ("eager", timings.speedup_eager),
            ("torch.compile", timings.speedup_compile),
            ("champion", timings.speedup_champion),
        )
        if value is not None
    ]
    if parts:
        yield Text("against " + " · ".join(parts), style="dim")
    yield Text(
        f"{timings.threads} thread{'s' if timings.threads != 1 else ''} · cache {timings.cache} · equal kernels differ "
        f"by up to {timings.aa_floor:.1%} here",
        style="dim",
    )


def _evidence(evidence: dict[str, float]) -> str:
    return " · ".join(f"{name} {value:.4g}" for name, value in list(evidence.items())[:3])


if TYPE_CHECKING:
    from rich.table import Table as RichTable
