"""The door for Python programs: judge, evolve, bench, check, export and verify. Importing it loads nothing heavy."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from kernwright.core.events import Entry
    from kernwright.core.graph import Graph
    from kernwright.core.jobs import EvalJob
    from kernwright.core.outcome import Evaluation
    from kernwright.core.problem import Scalar
    from kernwright.core.report import ProblemReport
    from kernwright.engine.bench import Watch
    from kernwright.engine.bench_report import BenchReport
    from kernwright.engine.bundles.facts import Verdict
    from kernwright.engine.exporting import Exported

T = TypeVar("T")


def judge(
    problem_path: str | Path,
    candidate_path: str | Path,
    *,
    plan: str = "full",
    threads: int = 1,
    rules: Mapping[str, Scalar] | None = None,
    target: str | None = None,
    language: str | None = None,
    champion: str | Path | None = None,
    home: str | Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> Evaluation:
    """Judge one candidate file on one problem file, in processes of their own.

    Raises:
        UserError: a file, a name, or the problem itself is at fault.
        MachineFault: the machine failed; nothing is said of the candidate.
    """
    from kernwright.engine import intake

    where = intake.target_for(candidate_path, target, language)
    problem = intake.problem_of(problem_path, rules)
    candidate = intake.candidate_of(candidate_path, where, language)
    other = intake.candidate_of(champion, where) if champion is not None else None
    chosen = intake.plan_of(plan, threads)
    job = intake.job_of(problem, candidate, where, chosen, intake.writable_home(home), other)
    return _blocking(lambda: asyncio.run(_judged(job, progress or _silent)))


def profile(
    problem_path: str | Path,
    candidate_path: str | Path,
    *,
    code_only: bool = False,
    threads: int = 1,
    rules: Mapping[str, Scalar] | None = None,
    target: str | None = None,
    language: str | None = None,
    home: str | Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> Evaluation:
    """Look at how a candidate uses the device; the evaluation holds a profile and judges nothing.

    With `code_only` the candidate is built and its compiled code read, but not run.

    Raises:
        UserError: a file, a name, or the problem itself is at fault.
        MachineFault: the machine failed; nothing is said of the candidate.
    """
    from kernwright.engine import intake
    from kernwright.engine.profiles import look_of

    where = intake.target_for(candidate_path, target, language)
    problem = intake.problem_of(problem_path, rules)
    candidate = intake.candidate_of(candidate_path, where, language)
    chosen = intake.plan_of("quick", threads)
    job = intake.job_of(problem, candidate, where, chosen, intake.writable_home(home))
    return _blocking(lambda: asyncio.run(_judged(look_of(job, "code" if code_only else "run"), progress or _silent)))


def begin(
    problem_path: str | Path,
    *,
    start: Iterable[str | Path] = (),
    rules: Mapping[str, Scalar] | None = None,
    language: str | None = None,
    home: str | Path | None = None,
    **settings: Any,
) -> str:
    """Create a run that `evolve`, `resume` or `ask` takes up; its id.

    `settings` are fields of `RunSpec`; `plan` may be a plan's name, with `threads` beside it. `method` is a published
    method by name, or a file of one, that says whatever is not given; the default one unless a `policy` is. A run for a
    target that another machine has is judged there, by jobs. `knowledge` names folders of notes; `memory` is `on`
    (earlier runs of the home count too) unless it is `run` or `off`.

    Raises:
        UserError: a file, a name or a setting is at fault.
    """
    from kernwright.engine import intake, methods, service

    problem = intake.problem_of(problem_path, rules)
    if settings.get("method") is None and settings.get("policy") is None:
        settings["method"] = methods.DEFAULT
    if settings.get("memory") is None:
        settings["memory"] = "on"
    spec = intake.spec_of(settings)
    candidates = [intake.candidate_of(path, spec.target, language, here=not spec.elsewhere) for path in start]
    return service.create(intake.writable_home(home), spec, problem, candidates)


def evolve(
    problem_path: str | Path,
    *,
    observe: Callable[[Entry, Graph], None] | None = None,
    progress: Callable[[str], None] | None = None,
    home: str | Path | None = None,
    **settings: Any,
) -> tuple[str, Graph]:
    """Search for a faster kernel; the run's id and the state that it ended in.

    `settings` are what `begin` takes. `observe` gets every event, `progress` what the judge says of itself.

    Raises:
        UserError: a file, a name, a setting or the problem is at fault.
        MachineFault: the machine failed; the run can be resumed.
    """
    from kernwright.engine import intake, service

    folder = intake.home_of(home)
    run = begin(problem_path, home=folder, **settings)
    graph = _blocking(lambda: service.drive(folder, run, resume=False, observe=observe, progress=progress))
    return run, graph


def bench(
    source: str,
    path: str,
    out: str | Path,
    *,
    levels: Sequence[int] | None = None,
    problems: str | None = None,
    name: str = "kernelbench",
    candidates: str | Path | None = None,
    rules: Mapping[str, Scalar] | None = None,
    examine: bool = True,
    retry: bool = False,
    home: str | Path | None = None,
    watch: Watch | None = None,
    **settings: Any,
) -> BenchReport:
    """One run for each of many problems; `out` gets the report after each of them.

    `settings` are what `begin` takes, with `greedy` where no method is named. The same `name` goes on where it stopped.
    With `candidates`, a folder of files such as `level1/19_mine.py`, runs judge those and no operator is asked, unless
    `operators` names some.

    Raises:
        UserError: a name, path or setting is at fault, or the bench was begun with other settings.
    """
    from kernwright.engine import bench as benches
    from kernwright.engine import intake
    from kernwright.engine.bench_ledger import Settings

    spec = intake.spec_of(settings)
    folder = Path(candidates) if candidates is not None else None
    items = benches.items_of(source, path, levels, problems, folder)
    if folder is not None:
        spec = benches.given_first(spec, alone="operators" not in settings)
    asked = benches.Bench(
        home=intake.writable_home(home),
        name=name,
        settings=Settings(source=source, spec=spec, rules=dict(rules or {}), given=folder is not None),
        items=items,
        out=Path(out),
        examine=examine,
        retry=retry,
    )
    return _blocking(lambda: benches.bench(asked, watch or benches.Unwatched()))


def check(
    problem_path: str | Path,
    *,
    target: str | None = None,
    threads: int = 1,
    home: str | Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> ProblemReport:
    """What there is to say of a problem before anyone works on it.

    Raises:
        UserError: the file is no problem, or its outputs are not finite or not repeatable.
    """
    from kernwright.engine import intake, reporting, targets

    where = targets.target_of(target)
    plan = intake.plan_of("quick", threads)
    problem = intake.problem_of(problem_path)
    folder = intake.writable_home(home)
    return reporting.report(problem, where, plan, folder, progress or _silent)


def export(
    run: str,
    out: str | Path | None = None,
    *,
    node: int | None = None,
    force: bool = False,
    bundle: str | Path | None = None,
    sign: str | Path | None = None,
    home: str | Path | None = None,
) -> Exported:
    """Write a run's champion, or one of its nodes, as a file that needs PyTorch alone, and its evidence.

    The evidence bundle goes to `bundle`, or else beside the kernel, where what is exported has any; signed with the
    Ed25519 key in the file `sign`.

    Raises:
        UserError: nothing is verified (unless `force`), a file is there already (likewise), or there is no evidence
            although `bundle` or `sign` asks for it.
    """
    from kernwright.engine import exporting, intake

    return exporting.export(
        intake.home_of(home),
        run,
        Path(out) if out else None,
        node=node,
        force=force,
        bundle=Path(bundle) if bundle else None,
        keyfile=Path(sign) if sign else None,
    )


def verify(
    bundle: str | Path,
    *,
    key: str | Path | None = None,
    rerun: bool = False,
    problem: str | Path | None = None,
    trust_problem: bool = False,
    home: str | Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> Verdict:
    """Check an evidence bundle: its hashes, statistics and signature; with `rerun`, judge its candidate again here.

    Raises:
        Refused: it was edited, is inconsistent, not signed by `key`, or contradicted by what is measured here.
        UserError: there is no such file, this is no machine to measure it again on, or nobody vouches for its problem.
        MachineFault: the machine failed while it was judged again.
    """
    from kernwright.engine import intake
    from kernwright.engine.bundles import verifying

    verdict = verifying.verify(Path(bundle), Path(key) if key else None)
    if not rerun:
        return verdict
    own = intake.problem_of(problem) if problem is not None else None
    verifying.require_trusted(verdict, own, trusted=trust_problem)
    folder = intake.writable_home(home)
    return verifying.again(
        verdict, folder, lambda job: _blocking(lambda: asyncio.run(_judged(job, progress or _silent)))
    )


async def _judged(job: EvalJob, progress: Callable[[str], None]) -> Evaluation:
    from kernwright.core.spec import JUDGE
    from kernwright.engine.executors.processes import Processes

    executor = Processes(JUDGE, job.home, 1, progress)
    try:
        return await executor.submit(job)
    finally:
        await executor.close()


def _blocking(call: Callable[[], T]) -> T:
    """Call something that makes an event loop of its own, from inside a notebook's too."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return call()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()


def _silent(text: str) -> None:
    pass
