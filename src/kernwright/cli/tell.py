"""`kernwright tell RUN BRIEF FILE`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from kernwright.core.errors import UserError
from kernwright.core.expectation import ALL, MOST, expectation_of

from . import options, screen
from .interruption import interruptible
from .stages import Stages

NEW = "new"
"""In place of a brief's number: nobody asked."""


def tell(
    run: options.Run,
    brief: Annotated[
        str, typer.Argument(metavar="BRIEF", help="The brief's number, as ask printed it; new where none asked for it.")
    ],
    file: Annotated[str, typer.Argument(metavar="FILE", help="The candidate.")],
    author: Annotated[str, typer.Option(help="Who wrote it; the run's author by default.")] = "",
    summary: Annotated[str, typer.Option(help="What it does, in a sentence.")] = "",
    expect: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="A figure that it changes against the parent: 'time on WORKLOAD -20 %', 'time on all -20 %' (which "
            "'time' alone means), or one that the brief lists as counted; may be repeated.",
        ),
    ] = None,
    insight: Annotated[
        list[str] | None,
        typer.Option(
            help="What was learnt that helps whoever writes the next one; may be repeated.", show_default=False
        ),
    ] = None,
    parent: Annotated[
        int | None, typer.Option(metavar="NODE", help="With new: the node whose candidate it was made of.")
    ] = None,
    language: options.Language = None,
    later: Annotated[bool, typer.Option("--later", help="Keep it for `resume` or `jobs`; judge nothing now.")] = False,
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """Answer a brief with a file, or hand in an unasked one; without an engine at work, judge it here and now."""
    from kernwright.engine import service
    from kernwright.engine.intake import candidate_of, home_of
    from kernwright.engine.reading import reading

    from .contract import judged
    from .verdict_view import evaluation_view

    folder = home_of(home)
    with reading(folder, run) as view:
        full, target, elsewhere = view.id, view.spec.target, view.spec.elsewhere
        named = view.spec.languages
        _require_workloads(expect or (), [workload.name for workload in view.problem.timed])
    candidate = candidate_of(file, target, language, here=not elsewhere, named=named)
    node = _place(folder, full, brief, parent)
    stopped = f"Stopped by Ctrl-C; the answer is kept. Go on with: kernwright resume {full}"
    with Stages() as stages, interruptible(stopped):
        event = service.tell(
            folder,
            full,
            node,
            candidate,
            author=author,
            summary=summary,
            expects=expect or (),
            insights=insight or (),
            progress=stages,
            later=later,
        )
    if event is None and (later or elsewhere):
        if as_json:
            screen.emit({"run": full, "node": node, "queued": False, "pending": True})
        else:
            print(f"Kept as node {node}, not judged; write it as a job with: kernwright jobs export {full} -o jobs")
    elif event is None:
        if as_json:
            screen.emit({"run": full, "node": node, "queued": True, "pending": False})
        else:
            print(f"Handed to the engine at work on {full}; see `kernwright show {full} {node}` in a moment.")
    elif as_json:
        screen.emit({"run": full, "node": node, "queued": False, "pending": False, **judged(event.evaluation)})
    else:
        screen.show(*evaluation_view(event.evaluation))


def _require_workloads(expect: Sequence[str], workloads: Sequence[str]) -> None:
    """Raises UserError for an expectation of a workload that there is none of; says which ones nobody can check."""
    for text in expect:
        expected = expectation_of(text)
        if expected.workload not in ("", ALL, *workloads):
            raise UserError(
                f"--expect {text!r} speaks of a workload {expected.workload!r}; "
                f"there are: {', '.join(workloads)}, or all."
            )
        if not expected.counter:
            screen.say(
                f"--expect {text!r} is kept as a sentence that nothing checks: it names no figure that can be counted, "
                "with a change such as 'time -20 %', 'time x0.8' or 'registers 168 -> 96'."
            )
    if len(expect) > MOST:
        screen.say(f"Of {len(expect)} expectations the first {MOST} are kept.")


def _place(home: Path, run: str, brief: str, parent: int | None) -> int:
    """The node to answer."""
    from kernwright.engine import service

    if brief == NEW:
        return service.place(home, run, parent)
    if not brief.isascii() or not brief.isdigit():
        raise UserError(f"The brief {brief!r} should be a number that `kernwright ask` printed, or {NEW!r}.")
    if parent is not None:
        raise UserError(f"The parent of brief {brief} is settled; --parent goes with {NEW!r} alone.")
    return int(brief)
