"""The gallery as a page with a plot, and as a table to be read by programs."""

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gallery_published import STORY, beside_the_paper
from gallery_rows import KERNEL, Shown

from kernwright.core.outcome import Interval
from kernwright.engine.bench_report import Against, Row, Totals, is_degenerate, shown, totals
from kernwright.engine.exporting import BUNDLE_SUFFIX
from kernwright.engine.proportion import share_of
from kernwright.engine.proportion import shown as share
from kernwright.evaluation.timing.statistics import t_interval

PLOT = "speedups.svg"
TOLD = 3
"""So many problems that moved most, and so many that did not, have their story on the page."""
TO_WIN = 0.15
"""Of the faster baseline's time above the floor, from which on there is something to win."""
BASELINES = ("faster", "eager", "compile")
Columns = Mapping[str, Sequence[Shown]]
"""By name, the first of which is the headline and has every problem; the others may have fewer."""


def page(columns: Columns, gallery: Path) -> str:
    """The page, in Markdown."""
    first = next(iter(columns.values()))
    lines = [
        "# Gallery",
        "",
        "Kernels that Kernwright found, each with its evidence. Every figure is of a champion that was verified in",
        f"fresh processes, and follows from `{KERNEL.removesuffix('.py')}{BUNDLE_SUFFIX}` beside it, which",
        "`kernwright verify FILE` checks. What is not verified counts as a failure and has no figures. Problems that",
        "are not KernelBench's are in [problems/](problems/), which say whose shapes they have. Written by",
        "`benchmarks/gallery.py report`.",
        "",
        *(line if line.startswith("  ") else f"* {line}" for line in _conditions(columns)),
        "",
        f"![Speedups with 95 % intervals]({PLOT})",
        "",
    ]
    for name, rows in columns.items():
        lines += _totals(name, rows, missing=_missing(first, rows))
    lines += _table(columns)
    lines += beside_the_paper(first, gallery)
    lines += _stories(first, gallery)
    return "\n".join(lines).rstrip("\n") + "\n"


def table_rows(columns: Columns) -> list[dict[str, Any]]:
    """A flat row for each problem and column."""
    return [_flat(name, each) for name, rows in columns.items() for each in rows]


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """The flat rows as a table."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def draw(path: Path, columns: Columns) -> None:
    """Speedups against the faster baseline, with intervals, on a log axis; failures are crosses at 1."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "kernwright"  # the same rows draw the same file
    first = next(iter(columns.values()))
    order = sorted(range(len(first)), key=lambda at: _estimate(first[at]))
    canvas = Figure(figsize=(8, max(3.0, 1.2 + 0.22 * len(order))), layout="constrained")
    axes = canvas.subplots()
    for number, (name, rows) in enumerate(columns.items()):
        colour, offset, found = f"C{number}", 0.25 * number, {each.key: each.row.speedup for each in rows}
        for place, key in enumerate(first[at].key for at in order):
            if key not in found:
                continue
            speedup = found[key]
            if speedup is None:
                axes.plot(1.0, place - offset, "x", color=colour)
                continue
            reach = [[speedup.estimate - speedup.low], [speedup.high - speedup.estimate]]
            axes.errorbar(speedup.estimate, place - offset, xerr=reach, fmt="o", ms=4, capsize=2, color=colour)
        axes.plot([], [], "o", color=colour, label=name)
    axes.axvline(1.0, color="grey", linewidth=0.8)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}x")
    axes.set_yticks(range(len(order)), [first[at].key for at in order], fontsize="small")
    axes.set_xlabel("speedup against the faster of eager and torch.compile, 95 %; x: nothing verified")
    axes.legend(loc="lower right")
    canvas.savefig(path, metadata={"Date": None})


def _conditions(columns: Columns) -> list[str]:
    rows = [each.row for shown_ in columns.values() for each in shown_ if each.row.verified]
    machines = sorted({row.machine for row in rows})
    lines = [
        "speedups against eager PyTorch, `torch.compile`, and the faster of both on each workload; 95 % intervals",
        "of floor: the time in which memory moves what must be moved, by its datasheet, over that of the kernel",
        "‡ there was no room to find out what must be moved, and a copy of as many bytes stands for it, which a kernel",
        "  that reads more than it writes may beat",
        "† left out of the confirmation as the clearly slower baseline: the figure is of the first measurement",
    ]
    lines += [f"measured on {machine}" for machine in machines]
    lines.append("device: seconds that all evaluations of the run took there, without builds and waiting")
    return lines


def _totals(name: str, rows: Sequence[Shown], missing: Sequence[str]) -> list[str]:
    degenerate = [each for each in rows if is_degenerate(each.row)]
    sound = [each for each in rows if not is_degenerate(each.row)]
    lines = [f"## Totals, {name}", "", *_figures(totals([each.row for each in sound])), "", _winnable(sound), ""]
    if degenerate:
        lines += [
            "Left out, because their answers say too little: "
            + "; ".join(f"{each.key} ({each.row.findings[0].sentence})" for each in degenerate if each.row.findings),
            "",
        ]
    if unseen := [each.key for each in rows if each.row.findings is None]:
        lines += [f"Not asked yet whether their answers say enough: {', '.join(unseen)}.", ""]
    if missing:
        lines += [f"No run in this column: {', '.join(missing)}.", ""]
    return lines


def _missing(first: Sequence[Shown], rows: Sequence[Shown]) -> list[str]:
    """KernelBench's problems that a column has no run of; the others state their own precision."""
    known = {each.key for each in rows}
    return [each.key for each in first if "/" in each.key and each.key not in known]


def _winnable(rows: Sequence[Shown]) -> str:
    """Of those whose floor leaves something to win."""
    chosen = [each for each in rows if each.room is None or each.room >= 1 + TO_WIN]
    faster = share_of(sum(each.row.verified and each.row.faster for each in chosen), len(chosen))
    logs = [math.log(speedup.estimate) for each in chosen if (speedup := each.row.speedup) is not None]
    mean = shown(t_interval(logs)) if logs else "-"
    out = ", ".join(each.key for each in rows if each not in chosen)
    return (
        f"Of the {len(chosen)} whose floor leaves at least {TO_WIN:.0%} to win, {share(faster)} are verified as faster "
        f"than the faster baseline; geometric mean over it, of those verified, {mean}."
        + (f" Nothing much to win: {out}." if out else "")
    )


def _figures(figures: Totals) -> list[str]:
    head = f"{figures.problems} problems, verified {share(figures.verified)}."
    names = [name for name in figures.against[0].fast if name != "fast_0"]
    lines = [head, "", f"| against | {' | '.join(names)} | geometric mean, verified | failures at 1.0 |"]
    lines.append("|---" * (len(names) + 3) + "|")
    for each in figures.against:
        lines.append(
            f"| {_against(each)} | {' | '.join(share(each.fast[name]) for name in names)} | "
            f"{shown(each.correct)} | {shown(each.all)} |"
        )
    return lines


def _against(each: Against) -> str:
    return f"{each.baseline} ({len(each.without)} not timed)" if each.without else each.baseline


def _table(columns: Columns) -> list[str]:
    others = {name: {e.key: e.row for e in rows} for name, rows in list(columns.items())[1:]}
    head = ["problem", "verdict", "vs faster [95 %]", "vs eager", "vs compile", "of floor"]
    head += [f"{name}: vs faster" for name in others]
    head += ["before: eager, compile, floor", "proposals, built, correct", "device"]
    lines = ["## Problems", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    first = next(iter(columns.values()))
    for each in first:
        row, summary = each.row, each.summary
        name = f"[{each.key}]({each.folder}/{KERNEL})" if each.bundle else each.key
        verdict = row.verdict if row.verified else f"{row.verdict}: {_cell(row.reason)}"
        cells = [name, verdict, shown(row.speedup), *(_marked(each, baseline) for baseline in BASELINES[1:])]
        cells.append((_percent(row.of_floor) or "-") + ("‡" if row.of_floor and each.by_copy else ""))
        cells += [_in_column(found.get(each.key)) for found in others.values()]
        cells.append(_before(each))
        cells.append(f"{summary.proposals}, {summary.built}, {summary.correct}" if summary else "-")
        cells.append(f"{summary.device_s:.0f} s" if summary else "-")
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def _in_column(row: Row | None) -> str:
    """What came of a problem in a column that is not the first; nothing where it has no run there."""
    if row is None:
        return ""
    left_out = " (left out)" if is_degenerate(row) else ""
    return (shown(row.speedup) if row.verified else f"{row.verdict}, not verified") + left_out


def _marked(each: Shown, baseline: str) -> str:
    return shown(each.row.against(baseline)) + ("†" if baseline in each.earlier else "")


def _before(each: Shown) -> str:
    cells = [f"{_ms(load.eager)}, {_ms(load.compile)}, {_ms(load.floor)}" for load in each.before]
    return "; ".join(cells) or "-"


def _ms(ns: float | None) -> str:
    return "-" if ns is None else f"{ns / 1e6:.3g} ms"


def _stories(rows: Sequence[Shown], gallery: Path) -> list[str]:
    moved = [each for each in rows if each.row.faster]
    still = [each for each in rows if not each.row.faster]
    lines: list[str] = []
    for title, chosen in (
        ("The three that gained most", sorted(moved, key=_estimate, reverse=True)[:TOLD]),
        ("Three that did not move", sorted(still, key=lambda each: (each.row.speedup is None, _estimate(each)))[:TOLD]),
    ):
        if chosen:
            lines += [f"## {title}", ""]
        for each in chosen:
            lines += [f"**{each.key}**: {_story(each, gallery)}", ""]
    return lines


def _story(each: Shown, gallery: Path) -> str:
    """What somebody wrote about it, else what the journal has."""
    written = gallery / each.folder / STORY
    if each.folder and written.is_file():
        return written.read_text(encoding="utf-8").strip()
    row, summary = each.row, each.summary
    told = []
    if row.speedup is not None:
        floor = f", {_percent(row.of_floor)} of the floor" if row.of_floor else ""
        told.append(f"{shown(row.speedup)} against the faster of both{floor}.")
    else:
        told.append(f"Nothing is verified: {row.verdict}, {row.reason}.")
    if summary is not None:
        endings = ", ".join(f"{count} {kind}" for kind, count in sorted(summary.endings.items()))
        told.append(f"Proposals: {endings}.")
    if each.course:
        steps = "; then ".join(f"{step.summary or 'node ' + str(step.node)} ({step.by})" for step in each.course[-4:])
        told.append(f"What was faster than all before it: {steps}.")
    return " ".join([*told, each.to_win]).strip()


def _percent(share_: float | None) -> str:
    return f"{100 * share_:.0f} %" if share_ else ""


def _flat(column: str, each: Shown) -> dict[str, Any]:
    row, summary = each.row, each.summary
    flat: dict[str, Any] = {"problem": each.key, "column": column, "verdict": row.verdict, "verified": row.verified}
    for baseline in BASELINES:
        flat |= _bounds(baseline, row.against(baseline))
    flat |= {"faster": row.faster, "of_floor": row.of_floor, "left_out": " ".join(each.earlier)}
    flat |= {"proposals": 0, "built": 0, "correct": 0, "evaluations": 0, "device_s": 0.0}
    if summary is not None:
        flat |= {name: getattr(summary, name) for name in ("proposals", "built", "correct", "evaluations", "device_s")}
    degenerate = "; ".join(f.sentence for f in row.findings or ())
    return flat | {"degenerate": degenerate, "folder": each.folder, "bundle": each.bundle, "reason": row.reason}


def _bounds(name: str, interval: Interval | None) -> dict[str, float | str]:
    values = (interval.estimate, interval.low, interval.high) if interval else ("", "", "")
    return dict(zip((f"vs_{name}", f"vs_{name}_low", f"vs_{name}_high"), values, strict=True))


def _estimate(each: Shown) -> float:
    return each.row.speedup.estimate if each.row.speedup else -math.inf


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")[:160]
