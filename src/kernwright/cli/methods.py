"""`kernwright methods [NAME]`."""

from dataclasses import fields
from typing import TYPE_CHECKING, Annotated

import typer

from . import options, screen

if TYPE_CHECKING:
    from kernwright.engine.methods import Method


def methods(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME|FILE]", help="One method in full.", show_default=False)
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """List the published methods, or show what one of them does."""
    from kernwright.engine import methods as known

    if name is not None:
        method = known.load(name)
        if as_json:
            screen.emit(method)
        else:
            _show(method)
        return
    every = [known.load(each) for each in known.names()]
    if as_json:
        screen.emit({"default": known.DEFAULT, "methods": every})
        return
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    for method in every:
        table.add_row(method.name + ("*" if method.name == known.DEFAULT else ""), method.summary)
    screen.show(table)
    print("* what `evolve` does by default; `kernwright methods NAME` shows one in full.")


def _show(method: "Method") -> None:
    from rich.padding import Padding
    from rich.text import Text

    settings = ", ".join(f"{key}={value}" for key, value in method.policy.settings.items())
    told = {f.name: value for f in fields(method.guidance) if (value := getattr(method.guidance, f.name)) != f.default}
    defaults = {f.name: getattr(method.guidance, f.name) for f in fields(method.guidance) if f.name not in told}
    words = {key: "+".join(value) if isinstance(value, tuple) else value for key, value in told.items()}
    guidance = ", ".join(f"{key}={value}" for key, value in {**words, "parents": method.guidance.parents}.items())
    off = ", ".join(key for key, value in defaults.items() if value in (False, 0, "none"))
    rows = {
        "source": method.source,
        "policy": f"{method.policy.name}({settings})" if settings else method.policy.name,
        "asks for": ", ".join(method.intents),
        "repairs": f"{method.repairs} in a row" if method.repairs else "none",
        "tells": f"the task, {guidance}",
        "not told": off or "-",
        "budget": f"{method.budget.proposals} proposals, {method.budget.in_flight} in flight",
    }
    screen.show(Text.assemble((method.name, "bold"), f"  {method.title}"), Text(method.summary), "")
    for key, value in rows.items():
        screen.show(Text(f"{key}:", style="dim"), Padding(Text(value), (0, 0, 0, 4), expand=False))
    if method.deviations:
        screen.show(Text("where it differs:", style="dim"))
        for each in method.deviations:
            screen.show(Padding(Text(f"- {each}"), (0, 0, 0, 4), expand=False))
