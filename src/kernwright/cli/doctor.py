"""`kernwright doctor`."""

import typer

from . import options, screen
from .stages import Stages

_STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}


def doctor(home: options.Home = None, as_json: options.AsJson = False) -> None:
    """Look at this machine: what works, what is missing, what to do. Exit 1 where judging is impossible."""
    from rich.text import Text

    from kernwright.engine.doctor import examine
    from kernwright.engine.intake import home_of

    from .verdict_view import plain_table

    with Stages() as stages:
        lines = list(examine(home_of(home), stages))
    able = all(line.state != "fail" for line in lines)
    if as_json:
        screen.emit({"able": able, "lines": lines})
    else:
        table = plain_table("", "", "")
        table.show_header = False
        for line in lines:
            found = Text(line.found)
            if line.remedy:
                found.append(f"\n{line.remedy}", style=_STYLES[line.state])
            table.add_row(Text(line.state, style=_STYLES[line.state]), line.name, found)
        screen.show(table, "", "This machine can judge." if able else "Judging is impossible here; see what failed.")
    if not able:
        raise typer.Exit(1)
