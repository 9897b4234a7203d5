"""What a home's runs say of the gallery's problems. Figures come from verified bundles, and from nowhere else."""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from kernwright.core.brief import Exhausted, Proposed
from kernwright.core.errors import UserError
from kernwright.core.events import Evaluated
from kernwright.core.graph import Graph
from kernwright.core.jobs import JUDGE_VERSION
from kernwright.core.outcome import Evaluation, Interval, Timings, timings_of
from kernwright.core.report import ProblemReport
from kernwright.engine import examining
from kernwright.engine.bench_report import NOT_RUN, NOTHING, Row
from kernwright.engine.bundles.verifying import verify
from kernwright.engine.exporting import BUNDLE_SUFFIX, export
from kernwright.engine.jobs import folder as jobs_folder
from kernwright.engine.jobs import reports
from kernwright.engine.reading import RunView, reading_all
from kernwright.evaluation.timing.statistics import weighted_mean
from kernwright.evaluation.timing.summary import CANDIDATE, CHAMPION

KERNEL = "kernel.py"
HOST_STAGES = frozenset({"inspect", "build", "wait"})
"""Of an evaluation: those that need no device."""
UNBUILT = frozenset({"rejected", "build_failed"})
CORRECT = frozenset({"checked", "measured", "verified"})
_KERNELBENCH = re.compile(r"level(\d)_(\d+)_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A run's journal in numbers."""

    run: str
    proposals: int
    built: int
    correct: int
    verified: int
    evaluations: int
    """Trials of knobs and confirmations among them."""
    device_s: float
    """What evaluations took, without builds and waiting for others."""
    by: dict[str, int]
    """Proposals of each writer."""
    endings: dict[str, int]
    """How the proposals ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A candidate that was faster than all before it."""

    node: int
    by: str
    summary: str
    speedup: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """What was measured of a workload before anybody worked on it, in nanoseconds."""

    workload: str
    eager: float | None
    compile: float | None
    floor: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One problem in one column."""

    key: str
    row: Row
    folder: str = ""
    """Of its journal, kernel and evidence, below the gallery; empty where there is no run."""
    bundle: str = ""
    """Id of the evidence; empty where nothing is verified."""
    times_ns: dict[str, dict[str, float]] = field(default_factory=dict)
    """By workload: what each participant took when the champion was verified."""
    copies_ns: dict[str, float] = field(default_factory=dict)
    """By workload: what a copy of as many bytes took."""
    earlier: tuple[str, ...] = ()
    """Baselines that the confirmation left out as clearly slower: their figures are of the first measurement."""
    room: float | None = None
    """What the faster baseline took over the floor, the weighted geometric mean of the workloads; of the champion's
    verification, else of the best one's measurement."""
    by_copy: bool = False
    """The floor of some workload is not known, and a copy of as many bytes stands for it."""
    summary: Summary | None = None
    before: tuple[Before, ...] = ()
    to_win: str = ""
    course: tuple[Step, ...] = ()
    """Measured speedups as the search saw them: what a story needs, no figures to be quoted."""


def asked(problems: Path) -> list[str]:
    """Keys of the problems that a file lists: `level1/36`, `conv1d`."""
    listed = tomllib.loads(problems.read_text())
    levels = [f"{level}/{number}" for level, numbers in listed["kernelbench"].items() for number in numbers]
    return levels + list(listed["production"]["files"])


def key_of(name: str) -> str:
    """The key of a problem by its name."""
    found = _KERNELBENCH.match(name)
    return f"level{found[1]}/{found[2]}" if found else name


def folder_of(name: str) -> str:
    """A folder's name for a problem."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def shown_of(home: Path, keys: Sequence[str], gallery: Path, column: str = "") -> list[Shown]:
    """Each problem in order, its champion written below `gallery`; of several runs of one problem the newest.

    Raises:
        Refused: a bundle does not hold together.
    """
    with reading_all(home) as views:
        newest = {key_of(view.problem.name): view for view in views}
        return [_shown(home, key, newest.get(key), gallery, column) for key in keys]


def _shown(home: Path, key: str, view: RunView | None, gallery: Path, column: str) -> Shown:
    if view is None:
        return Shown(key=key, row=Row(problem=key, verdict=NOT_RUN, reason="no run of it is there"))
    report = _report(home, view)
    summary = _summary(view)
    place = Path(folder_of(view.problem.name)) / column
    shown = Shown(
        key=key,
        folder=place.as_posix(),
        row=_unverified(key, view, summary, report),
        summary=summary,
        before=tuple(
            Before(workload=w.workload, eager=w.eager_ns, compile=w.compile_ns, floor=w.floor_ns or None)
            for w in (report.workloads if report else ())
            if not w.held_out
        ),
        to_win=report.to_win if report else "",
        course=tuple(_course(view.graph)),
    )
    best = view.graph.best()
    if best is not None and best.evaluation is not None:
        shown = _with_room(shown, timings_of(best.evaluation.outcome))
    if view.graph.champion() is None:
        return shown
    path = gallery / place / KERNEL
    written = export(home, view.id, path, node=None, force=True)
    if written.bundle is None:
        return replace(shown, row=replace(shown.row, reason=f"no evidence: {written.without}"))
    sealed = verify(path.with_name(f"{path.stem}{BUNDLE_SUFFIX}")).sealed
    return _with_figures(replace(shown, bundle=sealed.id), sealed.bundle.evaluation)


def _with_figures(shown: Shown, evaluation: Evaluation) -> Shown:
    timings = timings_of(evaluation.outcome)
    assert timings is not None
    found: dict[str, Interval | None] = {
        "eager": timings.speedup_eager or timings.left_out.get("eager"),
        "compile": timings.speedup_compile or timings.left_out.get("compile"),
    }
    row = replace(
        shown.row,
        verdict=evaluation.outcome.kind,
        reason=evaluation.outcome.reason,
        correct=True,
        verified=True,
        faster=timings.faster,
        speedup=timings.speedup,
        speedup_eager=found["eager"],
        speedup_compile=found["compile"],
        compile_earlier="compile" in timings.left_out,
        of_floor=timings.of_floor,
        baseline=timings.baseline,
        notes=evaluation.notes,
        machine=evaluation.machine,
        environment=evaluation.environment,
    )
    times = {each.workload: dict(each.time_ns) for each in timings.workloads}
    copies = {each.workload: each.copy_ns for each in timings.workloads}
    earlier = tuple(sorted(timings.left_out))
    return _with_room(replace(shown, row=row, times_ns=times, copies_ns=copies, earlier=earlier), timings)


def _with_room(shown: Shown, timings: Timings | None) -> Shown:
    if timings is None:
        return shown
    logs = []
    for each in timings.workloads:
        fastest = min(time for name, time in each.time_ns.items() if name not in (CANDIDATE, CHAMPION))
        least = each.floor_ns or each.copy_ns
        logs.append(math.log(fastest / least) if least else 0.0)
    room = math.exp(weighted_mean(logs, [each.weight for each in timings.workloads]))
    return replace(shown, room=room, by_copy=any(not each.floor_ns for each in timings.workloads))


def _unverified(key: str, view: RunView, summary: Summary, report: ProblemReport | None) -> Row:
    """A row without figures: what is not verified has no bundle, and counts as a failure."""
    judged = [node for node in view.graph.nodes if node.evaluation is not None]
    best = view.graph.best() or (judged[-1] if judged else None)
    evaluation = best.evaluation if best else None
    waiting = sum(node.candidate is not None for node in view.graph.in_flight())
    none = (
        f"{waiting} candidate{'s wait' if waiting > 1 else ' waits'} for judgement"
        if waiting
        else "nothing was proposed"
    )
    return Row(
        problem=key,
        verdict=evaluation.outcome.kind if evaluation else NOTHING,
        reason=evaluation.outcome.reason if evaluation else none,
        run=view.id,
        node=best.id if best else None,
        findings=report.findings if report else None,
        proposals=summary.proposals,
        evaluations=summary.evaluations,
        seconds=summary.device_s,
    )


def _report(home: Path, view: RunView) -> ProblemReport | None:
    """What was said of the problem, if need be by an earlier version of the judge; where that was on the champion's
    machine, rather than on another one."""
    champion = view.graph.champion()
    machine = champion.evaluation.machine if champion is not None and champion.evaluation is not None else ""
    asked = (view.problem.id, view.spec.target, view.spec.plan.threads)
    found: list[ProblemReport] = []
    for version in range(int(JUDGE_VERSION), 0, -1):
        path = reports.path_of(home, *asked, version=str(version))
        with suppress(UserError):  # a damaged one
            found += [jobs_folder.read(path, ProblemReport)] if path.is_file() else []
    best = max(found, key=lambda report: report.machine == machine, default=None)
    return best or examining.known_report(view.problem, view.spec.target, home)


def _summary(view: RunView) -> Summary:
    nodes = [n for n in view.graph.nodes if n.draft is not None and not isinstance(n.draft, Exhausted)]
    endings = Counter(n.evaluation.outcome.kind if n.evaluation else n.draft.kind for n in nodes if n.draft)
    judged = [n.evaluation.outcome.kind for n in nodes if n.evaluation]
    evaluations = [e for e in _evaluated(view) if not e.reused]
    stages = [(name, s) for e in evaluations for name, s in e.evaluation.stage_s.items()]
    return Summary(
        run=view.id,
        proposals=view.graph.spent.proposals,
        built=sum(kind not in UNBUILT for kind in judged),
        correct=sum(kind in CORRECT for kind in judged),
        verified=endings["verified"],
        evaluations=len(evaluations),
        device_s=round(sum(s for name, s in stages if name not in HOST_STAGES), 1),
        by=dict(Counter(_author(n.draft) for n in nodes)),
        endings=dict(endings),
    )


def _evaluated(view: RunView) -> Iterator[Evaluated]:
    for entry in view.events():
        if isinstance(entry.event, Evaluated):
            yield entry.event


def _course(graph: Graph) -> Iterator[Step]:
    top = 0.0
    for node in graph.nodes:
        timings = timings_of(node.evaluation.outcome) if node.evaluation else None
        if timings is None or not isinstance(node.draft, Proposed) or (node.verified and not timings.faster):
            continue
        if timings.speedup.estimate > top:
            top = timings.speedup.estimate
            yield Step(node=node.id, by=_author(node.draft), summary=node.draft.summary, speedup=round(top, 3))


def _author(draft: object) -> str:
    return str(getattr(draft, "author", "") or getattr(draft, "operator", ""))
