"""`kernwright jobs export|run|import`."""

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kernwright.core.errors import UserError

from . import options, screen
from .interruption import interruptible

if TYPE_CHECKING:
    from kernwright.engine.jobs.facts import Job
    from kernwright.engine.jobs.running import Means, Summary

app = typer.Typer(
    help="Carry a run's work to a machine that has its target, and bring the results home.", no_args_is_help=True
)
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
ALL = "all"
Runs = Annotated[
    str,
    typer.Argument(metavar="RUN|all", help="A run's id, a part of it that no other has, 'latest', or 'all' of them."),
]
Folder = Annotated[Path, typer.Argument(metavar="JOBS", help="A folder that `jobs export` wrote.")]


@app.command(no_args_is_help=False)
def export(
    run: Runs,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="JOBS", help="The folder to write.")],
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="judge, baseline, seeds, tune or profile; may be repeated; all by default."),
    ] = None,
    tune: Annotated[
        list[int] | None, typer.Option(metavar="NODE", help="Tune this node's knobs besides; may be repeated.")
    ] = None,
    confirm: Annotated[
        bool, typer.Option("--confirm/--no-confirm", help="Whether the best is to be verified in this round already.")
    ] = True,
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """Write a run's pending work as a folder; again whenever there is more."""
    from kernwright.engine.intake import home_of
    from kernwright.engine.jobs.exporting import export as write
    from kernwright.engine.jobs.exporting import export_all

    if run == ALL and tune:
        raise UserError(f"--tune names a node of one run; give that run in place of {ALL!r}.")
    folder = home_of(home)
    kinds = only or ()
    if run == ALL:
        done = export_all(folder, out, only=kinds, confirm=confirm)
    else:
        done = [write(folder, run, out, only=kinds, tune=tune or (), confirm=confirm)]
    if as_json:
        rows = [{"run": each.run, **_row(job)} for each in done for job in each.jobs]
        one = {"run": done[0].run, "target": done[0].target} if run != ALL else {"runs": [each.run for each in done]}
        screen.emit({**one, "folder": str(out), "jobs": rows})
        return
    for each in done:
        written = [job.kind for job in each.jobs]
        counted = ", ".join(f"{written.count(kind)} {kind}" for kind in dict.fromkeys(written)) or "none"
        if written or len(done) == 1:
            print(f"Wrote {len(written)} job{'s' if len(written) != 1 else ''} of {each.run} to {out} ({counted}).")
    if len(done) > 1:
        busy = sum(bool(each.jobs) for each in done)
        print(f"{sum(len(each.jobs) for each in done)} jobs of {busy} runs; {len(done) - busy} more have none.")
    for target in dict.fromkeys(each.target for each in done if each.jobs):
        print(f"Where {target} is, do them with: kernwright jobs run {out} -o results")


def _row(job: "Job") -> dict[str, object]:
    return {"job": job.id, "kind": job.kind, "node": job.node, "purpose": job.purpose}


@app.command("run", no_args_is_help=False)
def run_(
    jobs: Folder,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="RESULTS", help="Where to keep the results.")],
    limit: Annotated[
        str | None, typer.Option(metavar="TIME", help="Stop after this time, such as 25m, 90s or 1h30m.")
    ] = None,
    slots: Annotated[int, typer.Option(min=1, help="Jobs at a time; timing is alone in any case.")] = 1,
    target: Annotated[
        str | None, typer.Option(help="Only the jobs for this target; all by default.", show_default=False)
    ] = None,
    of_run: Annotated[
        list[str] | None,
        typer.Option("--run", metavar="PART", help="Only the jobs of runs with this in their id; may be repeated."),
    ] = None,
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """Do the jobs of a folder on this machine; what is in RESULTS already is not done again."""
    from kernwright.engine.intake import writable_home
    from kernwright.engine.jobs.running import Means, run

    limit_s = seconds_of(limit) if limit else None
    means = Means(home=writable_home(home), slots=slots, limit_s=limit_s, target=target, runs=tuple(of_run or ()))
    again = _again(jobs, out, means, limit, home)
    with interruptible(f"Stopped by Ctrl-C; what was finished is in {out}. Go on with: {again}"):
        summary = run(jobs, out, means, screen.say)
    if as_json:
        screen.emit({"folder": str(jobs), "results": str(out), **_plain(summary)})
    else:
        _concluded(summary, out, again)
    blamed = {left.blame for left in summary.left}
    if blamed - {""}:
        raise typer.Exit(1 if "machine" in blamed else 2)


@app.command("import", no_args_is_help=False)
def import_(
    run: Runs,
    results: Annotated[Path, typer.Argument(metavar="RESULTS", help="A folder that `jobs run` wrote.")],
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """Append what was done elsewhere to a run; a second time changes nothing."""
    from kernwright.engine.intake import home_of
    from kernwright.engine.jobs.importing import bring
    from kernwright.engine.reading import reading

    from .run_view import header, run_json, verdicts_view

    folder = home_of(home)
    if run == ALL:
        _import_all(folder, results, as_json=as_json)
        return
    done = bring(folder, run, results)
    with reading(folder, done.run) as view:
        if as_json:
            counts = {"results": done.results, "others": done.others, "events": done.events, "reports": done.reports}
            screen.emit({**run_json(view), "imported": counts})
            return
        screen.show(*header(view), "", *verdicts_view(view.graph), "")
        for report in done.reports:
            print(f"{report.name} on {report.machine}: {report.to_win}")
        others = f"; {done.others} of other runs were left alone" if done.others else ""
        print(f"{done.results} results of {done.run}, {done.events} events that its journal did not have{others}.")
        if view.graph.champion() is None and view.graph.best() is not None:
            print(f"The best is not verified yet: kernwright jobs export {done.run} -o JOBS has that as a job.")


def _import_all(home: Path, results: Path, *, as_json: bool) -> None:
    """Every run of the folder in a line; those that were refused end the command with 2, after all others."""
    from kernwright.engine.jobs.importing import bring_all
    from kernwright.engine.reading import reading

    from . import figures
    from .run_view import devices_of, mixed

    done, refused = bring_all(home, results)
    rows: list[dict[str, object]] = []
    for each in done:
        with reading(home, each.run) as view:
            best, spent = view.graph.champion() or view.graph.best(), view.graph.spent
            found = "nothing measured" if best is None else figures.result(best.evaluation)
            rows.append(
                {
                    "run": each.run,
                    "results": each.results,
                    "events": each.events,
                    "best": found,
                    "reports": each.reports,
                    "devices": devices_of(view.graph),
                }
            )
            if not as_json:
                verdict = "verified" if best is not None and best.verified else "best"
                told = f"{each.events} new events, {spent.proposals} proposals"
                print(f"{each.run}: {told}; {verdict} {found}" if best else f"{each.run}: {told}; {found}")
                if warning := mixed(view.graph):
                    print(f"  {warning}")
                for report in each.reports:
                    print(f"  {report.name} on {report.machine}: {report.to_win}")
    if as_json:
        screen.emit({"imported": rows, "refused": refused})
    else:
        for run, why in refused.items():
            screen.say(f"{run}: {why}")
        print(f"{sum(each.events for each in done)} events of {len(done)} runs that their journals did not have.")
    if refused:
        raise typer.Exit(2)


def seconds_of(text: str) -> float:
    """A time such as `25m`, `90`, `1h30m`; raises UserError for anything else."""
    parts = re.findall(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if not parts or "".join(number + unit for number, unit in parts) != text or any(not u for _, u in parts[:-1]):
        raise UserError(f"The time {text!r} should look like 25m, 90s or 1h30m.")
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def _plain(summary: "Summary") -> dict[str, object]:
    from dataclasses import asdict

    return asdict(summary)


def _again(jobs: Path, out: Path, means: "Means", limit: str | None, home: Path | None) -> str:
    """The command that goes on with the same jobs, in the same way."""
    slots = str(means.slots) if means.slots > 1 else None
    given = (("--limit", limit), ("--slots", slots), ("--target", means.target), ("--home", home))
    options = [(name, str(value)) for name, value in given if value] + [("--run", part) for part in means.runs]
    words = ["kernwright", "jobs", "run", str(jobs), "-o", str(out), *(word for pair in options for word in pair)]
    return shlex.join(words)


def _concluded(summary: "Summary", out: Path, again: str) -> None:
    from . import figures

    ended = "the time limit struck after" if summary.struck else "in"
    print(
        f"{len(summary.done)} done now, {len(summary.before)} before, {len(summary.left)} left; "
        f"{ended} {figures.seconds(summary.seconds)}."
    )
    for left in summary.left:
        print(f"left: {left.job}: {left.reason}")
    if summary.left and summary.struck:
        print(f"Go on with: {again}")
    elif any(out.glob("*.json")):
        print(f"Where the run is, bring them home with: kernwright jobs import RUN {out}")
