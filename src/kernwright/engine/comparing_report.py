"""What a comparison comes to: medians over problems with intervals over seeds; as a table, CSV, JSON and a plot."""

import csv
import json
import math
import random
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from io import StringIO
from pathlib import Path

from kernwright.core.errors import missing_extra
from kernwright.store.codec import to_json
from kernwright.store.disk import writing

from .comparing_cells import Row

RESAMPLES = 2_000
LEVEL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A mean over seeds with its bootstrap interval; low and high are None with one seed."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A method over all problems and seeds that ended."""

    method: str
    cells: int
    failed: int
    speedup: Figure | None
    """Median over problems, verified, over the faster baseline; the baseline itself where nothing faster was."""
    speedup_start: Figure | None
    """Median over problems over the kernel that the search began with; of the problems where that is known."""
    against_first: Figure | None
    """Ratio of speedups to the first method's on the same problems and seeds (geometric mean)."""
    built: float
    """Share of the proposals."""
    correct: float
    verified: float
    to_first: float | None
    """Median proposals to 1.2x among the searches that came there."""
    reached_first: float
    """Share of the searches that came to 1.2x."""
    to_second: float | None
    reached_second: float
    tokens_in: float | None
    """Per search, like all that follows."""
    tokens_out: float | None
    usd: float
    proposals: float
    evaluations: float
    device_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Everything that a report says."""

    name: str
    where: str
    """`landscape 1`, or the target."""
    problems: tuple[str, ...]
    seeds: int
    budget: str
    judge: str
    kernwright: str
    summaries: tuple[Summary, ...]
    rows: tuple[Row, ...]
    missing: int
    """Searches that are still to be done."""


def summary_of(method: str, rows: Sequence[Row], first: Sequence[Row]) -> Summary:
    """One method's rows, beside those of the first method."""
    ended = [row for row in rows if not row.reason]
    proposals = max(1, sum(row.proposals for row in ended))
    starts = [row for row in ended if row.speedup_start is not None]
    firsts = [row.to_first for row in ended if row.to_first is not None]
    seconds = [row.to_second for row in ended if row.to_second is not None]
    return Summary(
        method=method,
        cells=len(ended),
        failed=len(rows) - len(ended),
        speedup=_over_seeds(ended, lambda each: statistics.median(row.kept for row in each)),
        speedup_start=_over_seeds(starts, lambda each: statistics.median(row.speedup_start or 1.0 for row in each)),
        against_first=_ratio(ended, [row for row in first if not row.reason]),
        built=sum(row.built for row in ended) / proposals,
        correct=sum(row.correct for row in ended) / proposals,
        verified=sum(row.verified for row in ended) / proposals,
        to_first=statistics.median(firsts) if firsts else None,
        reached_first=len(firsts) / max(1, len(ended)),
        to_second=statistics.median(seconds) if seconds else None,
        reached_second=len(seconds) / max(1, len(ended)),
        tokens_in=_mean(row.tokens_in for row in ended),
        tokens_out=_mean(row.tokens_out for row in ended),
        usd=_mean(row.usd for row in ended) or 0.0,
        proposals=_mean(row.proposals for row in ended) or 0.0,
        evaluations=_mean(row.evaluations for row in ended) or 0.0,
        device_s=_mean(row.device_s for row in ended) or 0.0,
    )


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def _over_seeds(rows: Sequence[Row], of: Callable[[list[Row]], float]) -> Figure | None:
    seeds: dict[int, list[Row]] = {}
    for row in rows:
        seeds.setdefault(row.seed, []).append(row)
    return figure([of(each) for _, each in sorted(seeds.items())])


def _ratio(rows: Sequence[Row], first: Sequence[Row]) -> Figure | None:
    there = {(row.problem, row.seed): row.kept for row in first}
    seeds: dict[int, list[float]] = {}
    for row in rows:
        if (row.problem, row.seed) in there:
            seeds.setdefault(row.seed, []).append(math.log(row.kept / there[row.problem, row.seed]))
    logs = figure([statistics.fmean(each) for _, each in sorted(seeds.items())])
    if logs is None:
        return None
    low, high = (None if bound is None else math.exp(bound) for bound in (logs.low, logs.high))
    return Figure(value=math.exp(logs.value), low=low, high=high)


def figure(values: Sequence[float]) -> Figure | None:
    """Their mean, with the interval that resampling them gives."""
    if not values:
        return None
    mean = statistics.fmean(values)
    if len(values) < 2:
        return Figure(value=mean, low=None, high=None)
    rng = random.Random(0)
    means = sorted(statistics.fmean(rng.choices(values, k=len(values))) for _ in range(RESAMPLES))
    cut = round(RESAMPLES * (1 - LEVEL) / 2)
    return Figure(value=mean, low=means[cut], high=means[-cut - 1])


def tied(figure: Figure | None) -> bool:
    """Whether a ratio to the first method may be 1."""
    return figure is not None and figure.low is not None and figure.high is not None and figure.low <= 1 <= figure.high


def markdown(report: Comparison) -> str:
    """The comparison as a page."""
    lines = [
        f"# Comparison {report.name}",
        "",
        f"{len(report.problems)} problems ({', '.join(report.problems)}), {report.seeds} seeds, {report.budget}; "
        f"on {report.where}; judge {report.judge}, Kernwright {report.kernwright}.",
        "",
        "Speedups: median over problems of the best verified one (1 where nothing faster was verified), mean over "
        f"seeds [{LEVEL:.0%} bootstrap interval over seeds]. Ratio: to the first method, on the same problems and "
        "seeds; `=` marks an interval that holds 1. Costs are per search.",
        "",
        "| method | speedup | over the start | ratio | built | correct | verified | to 1.2x | to 2x | tokens in / out "
        "| usd | evaluations | device s |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for each in sorted(report.summaries, key=lambda each: -(each.speedup.value if each.speedup else 0.0)):
        ratio = said(each.against_first) + (" =" if tied(each.against_first) else "")
        tokens = f"{_count(each.tokens_in)} / {_count(each.tokens_out)}"
        lines.append(
            f"| {each.method} | {said(each.speedup)} | {said(each.speedup_start)} | {ratio} | {each.built:.0%} "
            f"| {each.correct:.0%} | {each.verified:.0%} | {mark(each.to_first, each.reached_first)} "
            f"| {mark(each.to_second, each.reached_second)} | {tokens} | {each.usd:.2f} | {each.evaluations:.0f} "
            f"| {each.device_s:.0f} |"
        )
    failed = [row for row in report.rows if row.reason]
    lines += ["", *(f"* {row.method} on {row.problem}, seed {row.seed}: {row.reason}" for row in failed)]
    if report.missing:
        lines.append(f"* {report.missing} searches are still to be done.")
    return "\n".join(lines).rstrip() + "\n"


def said(figure: Figure | None) -> str:
    """A figure with its interval."""
    if figure is None:
        return "-"
    return f"{figure.value:.3f}" + (f" [{figure.low:.3f}, {figure.high:.3f}]" if figure.low is not None else "")


def mark(proposals: float | None, reached: float) -> str:
    """How many proposals a speedup took, and how often it was reached."""
    return f"{proposals:.0f} ({reached:.0%})" if proposals is not None else "- (0%)"


def _count(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


def write(out: Path, report: Comparison, *, plot: bool = False) -> None:
    """`compare.md`, `compare.csv` (a line for each search), `compare.json`, and `compare.png` where asked for."""
    with writing(out, chosen_by="--out"):
        out.mkdir(parents=True, exist_ok=True)
        (out / "compare.md").write_text(markdown(report), encoding="utf-8")
        (out / "compare.csv").write_text(_csv(report.rows), encoding="utf-8")
        plain = json.loads(to_json(report))
        (out / "compare.json").write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
        if plot:
            draw(out / "compare.png", report)


def _csv(rows: Sequence[Row]) -> str:
    names = [f.name for f in fields(Row) if f.name != "course"]
    text = StringIO()
    writer = csv.DictWriter(text, names, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return text.getvalue()


def require_plotting() -> None:
    """Raises UserError where nothing can draw."""
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError:
        raise missing_extra("A plot", "plot") from None


def draw(path: Path, report: Comparison) -> None:
    """Left: each method's speedup with its interval. Right: the median course of the best speedup measured."""
    require_plotting()
    from matplotlib import colormaps
    from matplotlib.figure import Figure as Canvas

    order = sorted(report.summaries, key=lambda each: each.speedup.value if each.speedup else 0.0)
    colours = {each.method: colormaps["tab20"](place % 20) for place, each in enumerate(reversed(order))}
    canvas = Canvas(figsize=(13, max(4.0, 1.5 + 0.3 * len(order))), layout="constrained")
    bars, lines = canvas.subplots(1, 2)
    for place, each in enumerate(order):
        if each.speedup is None:
            continue
        low, high = each.speedup.low or each.speedup.value, each.speedup.high or each.speedup.value
        reach = [[each.speedup.value - low], [high - each.speedup.value]]
        bars.errorbar(each.speedup.value, place, xerr=reach, fmt="o", capsize=3, color=colours[each.method])
    bars.set_yticks(range(len(order)), [each.method for each in order])
    bars.set_xlabel("verified speedup: median over problems, mean over seeds, 95 %")
    for each in reversed(order):
        courses = [row.course for row in report.rows if row.method == each.method and row.course]
        longest = max(map(len, courses), default=0)
        medians = [statistics.median(c[min(i, len(c) - 1)] for c in courses) for i in range(longest)]
        lines.plot(range(1, longest + 1), medians, label=each.method, color=colours[each.method])
    lines.set_xlabel("proposals")
    lines.set_ylabel("best measured so far, median")
    lines.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    title = f"{report.name}: {report.where}, {len(report.problems)} problems, {report.seeds} seeds, {report.budget}"
    canvas.suptitle(title)
    canvas.savefig(path, dpi=110)
