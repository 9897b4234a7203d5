"""`kernwright check PROBLEM`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kernwright.core.report import ProblemReport

from . import figures, options, screen
from .interruption import interruptible
from .stages import Stages
from .verdict_view import plain_table

if TYPE_CHECKING:
    from rich.console import RenderableType


def check(
    problem: options.ProblemFile,
    target: options.Target = None,
    threads: options.Threads = 1,
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """Say whether a problem can be judged, and what there is to win."""
    from kernwright import api

    with Stages() as stages, interruptible("Stopped by Ctrl-C; nothing was left running."):
        report = api.check(problem, target=target, threads=threads, home=home, progress=stages)
    if as_json:
        rows = [{**_plain(row), "headroom": row.headroom} for row in report.workloads]
        screen.emit({**_plain(report), "workloads": rows, "degenerate": bool(report.findings)})
    else:
        screen.show(*_view(report))


def _plain(fact: object) -> dict[str, object]:
    from dataclasses import fields

    return {f.name: getattr(fact, f.name) for f in fields(fact)}  # type: ignore[arg-type]


def _view(report: ProblemReport) -> "Iterator[RenderableType]":
    from rich.text import Text

    yield Text.assemble((report.name, "bold"), " loads; it is deterministic and its outputs hold no NaN.")
    for finding in report.findings:
        yield Text(f"{finding.name}: {finding.sentence} ({finding.workload}).", style="bold yellow")
    if not report.findings:
        yield Text("Not degenerate: every input and weight moves the output.", style="green")
    yield Text("")
    yield _sizes(report)
    yield Text("")
    yield _times(report)
    yield Text("")
    yield Text(report.to_win, style="bold")
    for note in report.notes:
        yield Text(f"note: {note}", style="dim")
    yield Text(
        f"{report.target} · {report.machine} · {report.threads} thread{'s' if report.threads != 1 else ''} · "
        f"cache {report.cache} · isolation {report.isolation}",
        style="dim",
    )


def _sizes(report: ProblemReport) -> "RenderableType":
    table = plain_table("workload", "weight", "inputs", "weights", "outputs", "", right=(1, 2, 3, 4))
    for row in report.workloads:
        sizes = (figures.size(count) for count in (row.input_bytes, row.weight_bytes, row.output_bytes))
        table.add_row(row.workload, f"{row.weight:g}", *sizes, "held out: checked, not timed" if row.held_out else "")
    return table


def _times(report: ProblemReport) -> "RenderableType":
    columns = ("workload", "eager", "compile", "compile vs eager [95 %]", "copy", "floor", "vs copy")
    table = plain_table(*columns, right=range(1, len(columns)))
    for row in report.workloads:
        if not row.held_out:
            table.add_row(
                row.workload,
                figures.duration(row.eager_ns),
                figures.duration(row.compile_ns),
                figures.interval(row.compile_speedup),
                figures.duration(row.copy_ns),
                figures.duration(row.floor_ns),
                f"{row.headroom:.2f}x" if row.headroom else "-",
            )
    return table
