"""`kernwright tell RUN BRIEF FILE`."""

from typing import Annotated

import typer

from . import options, screen
from .interruption import interruptible
from .stages import Stages


def tell(
    run: options.Run,
    brief: Annotated[int, typer.Argument(metavar="BRIEF", help="The brief's number, as ask printed it.")],
    file: Annotated[str, typer.Argument(metavar="FILE", help="The candidate.")],
    author: Annotated[str, typer.Option(help="Who wrote it; the run's author by default.")] = "",
    summary: Annotated[str, typer.Option(help="What it does, in a sentence.")] = "",
    expect: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="A figure that it changes, such as 'DRAM bytes -30 %'; may be repeated."),
    ] = None,
    insight: Annotated[
        list[str] | None,
        typer.Option(
            help="What was learnt that helps whoever writes the next one; may be repeated.", show_default=False
        ),
    ] = None,
    language: options.Language = None,
    later: Annotated[bool, typer.Option("--later", help="Keep it for `resume` or `jobs`; judge nothing now.")] = False,
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """Answer a brief with a file; without an engine at work, judge it here and now."""
    from kernwright.engine import service
    from kernwright.engine.intake import candidate_of, home_of
    from kernwright.engine.reading import reading

    from .contract import judged
    from .verdict_view import evaluation_view

    folder = home_of(home)
    with reading(folder, run) as view:
        full, target, elsewhere = view.id, view.spec.target, view.spec.elsewhere
        named = view.spec.languages
    candidate = candidate_of(file, target, language, here=not elsewhere, named=named)
    stopped = f"Stopped by Ctrl-C; the answer is kept. Go on with: kernwright resume {full}"
    with Stages() as stages, interruptible(stopped):
        event = service.tell(
            folder,
            full,
            brief,
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
            screen.emit({"run": full, "node": brief, "queued": False, "pending": True})
        else:
            print(f"Kept as node {brief}, not judged; write it as a job with: kernwright jobs export {full} -o jobs")
    elif event is None:
        if as_json:
            screen.emit({"run": full, "node": brief, "queued": True, "pending": False})
        else:
            print(f"Handed to the engine at work on {full}; see `kernwright show {full} {brief}` in a moment.")
    elif as_json:
        screen.emit({"run": full, "node": brief, "queued": False, "pending": False, **judged(event.evaluation)})
    else:
        screen.show(*evaluation_view(event.evaluation))
