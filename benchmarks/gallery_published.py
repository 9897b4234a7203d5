"""The gallery's production cases beside what the KernelEvolve paper says of its own, shape by shape."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from gallery_rows import Shown

from kernwright.evaluation.timing.summary import CANDIDATE

PUBLISHED, STORY = "published.toml", "story.md"
MISSED, OUT_OF_REACH = "no", "no, nor would a copy"
BASELINES = ("eager", "compile")


def beside_the_paper(rows: Sequence[Shown], gallery: Path) -> list[str]:
    """A section of the page, in Markdown; nothing where no figures are at hand."""
    path = gallery / PUBLISHED
    published: dict[str, dict[str, list[float]]] = tomllib.loads(path.read_text()) if path.is_file() else {}
    known = {each.key: each for each in rows}
    cells = [
        _cells(key, workload, bounds, known[key])
        for key, workloads in published.items()
        if key in known
        for workload, bounds in workloads.items()
    ]
    if not cells:
        return []
    ours = [f"ours vs {name}" for name in BASELINES]
    head = ["problem", "workload", "KernelEvolve's", *ours, "a copy's", "reached"]
    return [
        "## Beside the paper, shape by shape",
        "",
        f"KernelEvolve's speedups are as published ([{PUBLISHED}]({PUBLISHED})), on another device and over baselines",
        "that are its own. Ours are medians of the champion's verification. A copy's: eager's time over that of a copy",
        "of as many bytes as inputs and outputs hold, which does nothing but move them.",
        "",
        f"| {' | '.join(head)} |",
        "|---" * len(head) + "|",
        *(f"| {' | '.join(row)} |" for row in cells),
        "",
        *_missed(cells, known, gallery),
    ]


def _missed(cells: Sequence[Sequence[str]], known: Mapping[str, Shown], gallery: Path) -> list[str]:
    """By how much and why, in the words of whoever wrote them down."""
    lines = []
    for key in dict.fromkeys(row[0] for row in cells if row[-1] in (MISSED, OUT_OF_REACH)):
        path = gallery / known[key].folder / STORY
        if known[key].folder and path.is_file():
            lines += [f"**{key}**: {path.read_text(encoding='utf-8').strip()}", ""]
    return lines


def _cells(key: str, workload: str, bounds: Sequence[float], shown: Shown) -> list[str]:
    low, high = bounds
    theirs = f"{low:g}x" if low == high else f"{low:g} to {high:g}x"
    times = shown.times_ns.get(workload)
    if times is None:
        return [key, workload, theirs, *["-"] * len(BASELINES), "-", "not verified"]
    ours = {name: times[name] / times[CANDIDATE] for name in BASELINES if name in times}
    copy_ns = shown.copies_ns.get(workload)
    allowed = times["eager"] / copy_ns if copy_ns and "eager" in times else None
    reached = "yes" if ours.get("eager", 0.0) >= low else MISSED
    if reached == MISSED and allowed is not None and allowed < low:
        reached = OUT_OF_REACH
    return [
        key,
        workload,
        theirs,
        *(f"{ours[name]:.2f}x" if name in ours else "-" for name in BASELINES),
        f"{allowed:.2f}x" if allowed else "-",
        reached,
    ]
