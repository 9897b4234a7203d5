"""What a bench found: a row for each problem, and totals with intervals."""

import csv
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kernwright.core.brief import Unusable
from kernwright.core.graph import Graph
from kernwright.core.node import Node
from kernwright.core.outcome import Checked, Interval, timings_of
from kernwright.core.problem import Scalar
from kernwright.core.report import Finding
from kernwright.evaluation.timing.statistics import t_interval
from kernwright.store.codec import to_json
from kernwright.store.disk import writing

from .proportion import Proportion, share_of
from .proportion import shown as share

THRESHOLDS = (0.0, 1.0, 1.5, 2.0)
"""The p of fast_p."""
BASELINES = ("faster", "eager", "compile")
"""`faster`: the faster of the other two on each workload."""
NOT_RUN = "not_run"
"""Verdict of a problem that no candidate could be tried on; beside it stand the kinds of `Outcome`."""
COMPILE_EARLIER = "against torch.compile: as first measured; the slower baseline is left out of confirmations"
EARLIER_MARK = "†"
"""Beside a speedup that was first measured so, and not again in the confirmation."""
NOTHING = "no_candidate"
"""Verdict where nobody proposed anything that could be judged."""
WAITING = "waiting"
"""Verdict of a problem while another machine has jobs of its run to do: it is no ending, so it counts nowhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What came of one problem."""

    problem: str
    verdict: str
    reason: str
    run: str = ""
    node: int | None = None
    correct: bool = False
    verified: bool = False
    faster: bool = False
    """Lower bound above the machine's A/A floor."""
    speedup: Interval | None = None
    """Against the faster baseline; None where it was not measured."""
    speedup_eager: Interval | None = None
    speedup_compile: Interval | None = None
    compile_earlier: bool = False
    """Whether that against torch.compile is from the first measurement, because the confirmation left it out."""
    of_floor: float | None = None
    """The physical floor's share in the time taken, or that of a plain copy of memory where no datasheet gives one."""
    baseline: str = ""
    waiting: int = 0
    """Jobs that another machine has yet to do; what else stands here is then as far as the run has come."""
    findings: tuple[Finding, ...] | None = None
    """Ways in which the problem is degenerate; None where nobody looked."""
    notes: tuple[str, ...] = ()
    proposals: int = 0
    evaluations: int = 0
    seconds: float = 0.0
    machine: str = ""
    environment: dict[str, str] = field(default_factory=dict)

    def against(self, baseline: str) -> Interval | None:
        """The speedup against one of `BASELINES`."""
        return {"faster": self.speedup, "eager": self.speedup_eager, "compile": self.speedup_compile}[baseline]


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """Figures against one baseline."""

    baseline: str
    without: tuple[str, ...]
    """Correct problems on which this baseline was not timed: they count in none of these figures."""
    fast: dict[str, Proportion]
    """`fast_1.5` and so on: the share of all problems that are correct and faster than that; a failure is not."""
    correct: Interval | None
    """Geometric mean over the correct, with Student's 95 % t-interval over problems' log speedups."""
    all: Interval | None
    """The same with every failure at 1.0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Figures over a set of problems."""

    problems: int
    """Those that have come to an ending; whichever wait for jobs count in no figure."""
    correct: Proportion
    verified: Proportion
    against: tuple[Against, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchReport:
    """A bench as far as it has come."""

    name: str
    source: str
    target: str
    precision: str
    rules: dict[str, Scalar]
    method: str
    plan: str
    kernwright: str
    judge: str
    asked: int
    """Problems that were asked for; those without a row are not finished."""
    headline: Totals
    """Degenerate problems left out."""
    everything: Totals
    """Degenerate problems included."""
    degenerate: dict[str, tuple[str, ...]]
    """Those left out of the headline, with what is wrong with each."""
    unexamined: tuple[str, ...]
    """Problems that nobody looked at for degeneracy."""
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    waiting: tuple[str, ...] = ()
    """Problems whose runs wait for jobs on another machine; in none of the figures."""


def row_of(problem: str, run: str, graph: Graph, findings: tuple[Finding, ...] | None, jobs: Sequence[str] = ()) -> Row:
    """A run's best node as a row: the champion, else the best measured, else the last that was judged.

    `jobs` are the kinds of those that the run waits for.
    """
    spent = graph.spent
    node = _representative(graph)
    evaluation = node.evaluation if node else None
    timings = timings_of(evaluation.outcome) if evaluation else None
    checked = evaluation is not None and isinstance(evaluation.outcome, Checked)
    verdict, reason = _verdict(graph, node)
    if jobs:
        verdict, reason = WAITING, _waits(run, graph, jobs, f"{verdict}: {reason}" if node else "")
    notes = evaluation.notes if evaluation else ()
    against_compile = timings.speedup_compile if timings else None
    earlier = _earlier_compile(graph, node) if timings is not None and against_compile is None else None
    if earlier is not None:
        notes = (*notes, COMPILE_EARLIER)
    return Row(
        problem=problem,
        verdict=verdict,
        reason=reason,
        run=run,
        node=node.id if node else None,
        correct=timings is not None or checked,
        verified=node.verified if node else False,
        faster=timings.faster if timings else False,
        speedup=timings.speedup if timings else None,
        speedup_eager=timings.speedup_eager if timings else None,
        speedup_compile=against_compile or earlier,
        compile_earlier=earlier is not None,
        of_floor=timings.of_floor if timings else None,
        baseline=timings.baseline if timings else "",
        waiting=len(jobs),
        findings=findings,
        notes=notes,
        proposals=spent.proposals,
        evaluations=spent.evaluations,
        seconds=spent.seconds,
        machine=evaluation.machine if evaluation else "",
        environment=evaluation.environment if evaluation else {},
    )


def _representative(graph: Graph) -> Node | None:
    judged = [node for node in graph.nodes if node.evaluation is not None]
    checked = [n for n in judged if n.evaluation is not None and isinstance(n.evaluation.outcome, Checked)]
    return graph.champion() or graph.best() or next(iter(checked), None) or (judged[-1] if judged else None)


def _earlier_compile(graph: Graph, node: Node | None) -> Interval | None:
    """Against torch.compile as first measured: a confirmation leaves a baseline out that is clearly slower."""
    assert node is not None
    assert node.evaluation is not None
    timings = timings_of(node.evaluation.outcome)
    if timings is not None and (known := timings.left_out.get("compile")):
        return known
    for event in graph.evaluations.values():
        timings = timings_of(event.evaluation.outcome)
        if event.evaluation.candidate == node.evaluation.candidate and timings and timings.speedup_compile:
            return timings.speedup_compile
    return None


def _verdict(graph: Graph, node: Node | None) -> tuple[str, str]:
    if node is not None and node.evaluation is not None:
        return node.evaluation.outcome.kind, node.evaluation.outcome.reason
    reasons = [n.draft.reason for n in graph.nodes if isinstance(n.draft, Unusable)]
    ended = graph.finished.reason if graph.finished else "it has not ended"
    return NOTHING, reasons[-1] if reasons else f"nothing was proposed: {ended}"


def _waits(run: str, graph: Graph, jobs: Sequence[str], so_far: str) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in Counter(jobs).items())
    target = graph.spec.target if graph.spec else "another machine"
    what = f"{len(jobs)} jobs wait" if len(jobs) > 1 else "1 job waits"
    told = f"; so far {so_far}" if so_far else ""
    return f"{what} for {target} ({kinds}): kernwright jobs export {run} -o jobs{told}"


def totals(rows: Sequence[Row]) -> Totals:
    """Figures over those of these problems that wait for no job: what came early is no fair part of them."""
    rows = [row for row in rows if not row.waiting]
    return Totals(
        problems=len(rows),
        correct=share_of(sum(row.correct for row in rows), len(rows)),
        verified=share_of(sum(row.verified for row in rows), len(rows)),
        against=tuple(_against(rows, baseline) for baseline in BASELINES),
    )


def _against(rows: Sequence[Row], baseline: str) -> Against:
    timed = any(row.speedup is not None for row in rows)
    without = [row for row in rows if timed and row.correct and row.against(baseline) is None]
    counted = [row for row in rows if row not in without]
    speedups = [row.against(baseline) for row in counted if row.correct]
    logs = [math.log(speedup.estimate) for speedup in speedups if speedup is not None]
    fast = {}
    for threshold in THRESHOLDS:
        # Whatever is correct is faster than 0 times, even where it could not be timed.
        reached = sum(s is not None and s.estimate > threshold if threshold else True for s in speedups)
        fast[f"fast_{threshold:g}"] = share_of(reached, len(counted))
    failed = [0.0] * (len(counted) - len(speedups))
    return Against(
        baseline=baseline,
        without=tuple(row.problem for row in without),
        fast=fast,
        correct=t_interval(logs) if logs else None,
        all=t_interval(logs + failed) if logs else None,
    )


def is_degenerate(row: Row) -> bool:
    """Whether the problem's answer says too little for a headline."""
    return bool(row.findings)


def notes_of(rows: Iterable[Row], precision: str) -> tuple[str, ...]:
    """What a reader has to know beside all figures."""
    rows = list(rows)
    machines = sorted({row.machine for row in rows if row.machine})
    floor = "geometric means: Student's 95 % t-interval over problems' log speedups; shares: Wilson's 95 % interval"
    found = ["modules ran in eval() mode", f"precision {precision} for baselines and candidates alike", floor]
    if len(machines) > 1:
        found.append(f"figures come from {len(machines)} machines: {', '.join(machines)}")
    if waiting := sum(row.waiting > 0 for row in rows):
        found.append(
            f"in no figure, since jobs of theirs wait for another machine: {waiting} of {len(rows)} problems; write "
            "them with kernwright jobs export all -o jobs, and call the bench again once their results are imported"
        )
    if any(row.compile_earlier for row in rows):
        found.append(f"{EARLIER_MARK} {COMPILE_EARLIER}")
    return tuple(found)


def write(folder: Path, report: BenchReport) -> tuple[Path, ...]:
    """`bench.json`, `bench.csv` and `bench.md` in this folder; each is replaced as a whole.

    Raises:
        UserError: the folder cannot be written.
        MachineFault: the disk is full.
    """
    texts = {"bench.json": to_json(report).decode() + "\n", "bench.csv": "", "bench.md": markdown(report)}
    with writing(folder, chosen_by="--out"):
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            part = folder / f".{name}.part"
            if name == "bench.csv":
                _write_csv(part, report.rows)
            else:
                part.write_text(text, encoding="utf-8")
            part.replace(folder / name)
    return tuple(folder / name for name in texts)


def _write_csv(path: Path, rows: Sequence[Row]) -> None:
    intervals = [f"{prefix}{end}" for prefix in ("speedup", "eager", "compile") for end in ("", "_low", "_high")]
    plain = ("problem", "verdict", "correct", "verified", "faster", "of_floor")
    after = ("baseline", "degenerate", "run", "node", "proposals", "evaluations", "seconds", "notes", "reason")
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow([*plain, *intervals, *after])
        for row in rows:
            bounds = [_bounds(row.against(baseline)) for baseline in BASELINES]
            degenerate = None if row.findings is None else "; ".join(f.sentence for f in row.findings)
            table.writerow(
                [
                    *(getattr(row, name) for name in plain),
                    *(value for each in bounds for value in each),
                    row.baseline,
                    "not looked at" if degenerate is None else degenerate,
                    *(getattr(row, name) for name in after[2:7]),
                    "; ".join(row.notes),
                    row.reason,
                ]
            )


def _bounds(interval: Interval | None) -> tuple[float | str, ...]:
    return (interval.estimate, interval.low, interval.high) if interval else ("", "", "")


def markdown(report: BenchReport) -> str:
    """The report as a page."""
    lines = [f"# Bench {report.name}", ""]
    done = f"{len(report.rows)} of {report.asked} problems of {report.source}"
    lines.append(f"{done} on {report.target}; {report.method}; plan {report.plan}.")
    lines += ["", *(f"* {note}" for note in report.notes), ""]
    under = conditions(report)
    for title, figures in (("Totals", report.headline), ("Totals with the degenerate problems", report.everything)):
        if figures is report.headline or report.degenerate:
            lines += [f"## {title} ({under})", "", *_totals_table(figures), ""]
    if report.degenerate:
        lines += ["## Degenerate problems, left out of the totals", ""]
        lines += [f"* {name}: {'; '.join(why)}" for name, why in report.degenerate.items()]
        lines.append("")
    lines += [
        f"## Problems ({under})",
        "",
        "| problem | verdict | vs faster [95 %] | vs eager | vs compile | faster | of floor | notes |",
    ]
    lines.append("|---|---|---|---|---|---|---|---|")
    for row in report.rows:
        speedups = " | ".join(shown(row.against(baseline)) + mark(row, baseline) for baseline in BASELINES)
        said = "; ".join(row.notes) if row.correct and not row.waiting else row.reason
        cells = (row.problem, row.verdict, speedups, "yes" if row.faster else "no", _percent(row.of_floor), _cell(said))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _totals_table(figures: Totals) -> list[str]:
    names = list(figures.against[0].fast)
    lines = [
        f"{counted(figures)}: correct {share(figures.correct)}, verified {share(figures.verified)}.",
        "",
        f"| against | {' | '.join(names)} | geometric mean, correct [95 %] | failures at 1.0 [95 %] | not timed on |",
        "|---" * (len(names) + 4) + "|",
    ]
    for each in figures.against:
        cells = [share(each.fast[name]) for name in names]
        ends = (shown(each.correct), shown(each.all), ", ".join(each.without) or "-")
        lines.append(f"| {each.baseline} | {' | '.join((*cells, *ends))} |")
    return lines


def conditions(report: BenchReport) -> str:
    """What holds for every figure, in a few words."""
    return f"eval(), precision {report.precision}"


def counted(figures: Totals) -> str:
    """`1 problem`, `20 problems`."""
    return f"{figures.problems} problem{'s' if figures.problems != 1 else ''}"


def shown(value: Interval | None) -> str:
    """`1.234x [1.200, 1.270]`; one value has no interval."""
    if value is None:
        return "-"
    bounds = f"{value.low:.3f}, {value.high:.3f}" if math.isfinite(value.high) else f"n = {value.n}"
    return f"{value.estimate:.3f}x [{bounds}]"


def mark(row: Row, baseline: str) -> str:
    """What stands behind the speedup against this baseline."""
    return EARLIER_MARK if baseline == "compile" and row.compile_earlier else ""


def _percent(value: float | None) -> str:
    return f"{value:.0%}".replace("%", " %") if value is not None else "-"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")[:300]
