"""`kernwright ask RUN`."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from . import options, screen

if TYPE_CHECKING:
    from pathlib import Path

    from kernwright.core.brief import Brief

_AGAIN_S = 0.5


def ask(
    run: options.Run,
    wait: Annotated[
        float, typer.Option("--wait", metavar="SECONDS", min=0, help="Wait so long while an engine has no brief open.")
    ] = 0.0,
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """Print the next brief, as Markdown: what to write and what came before."""
    from kernwright.engine.intake import home_of

    from .brief_text import brief_json, markdown

    brief = _asked(home_of(home), run, time.monotonic() + wait)
    if as_json:
        screen.emit(brief_json(brief))
    else:
        print(markdown(brief))


def _asked(home: "Path", run: str, until: float) -> "Brief":
    from kernwright.engine import service
    from kernwright.engine.asking import NotYet

    while True:
        try:
            return service.ask(home, run)
        except NotYet:
            if time.monotonic() >= until:
                raise
        time.sleep(_AGAIN_S)
