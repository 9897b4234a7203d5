"""`kernwright diff RUN A B`."""

import difflib
from dataclasses import asdict
from typing import Annotated

import typer

from kernwright.core.candidate import Candidate

from . import options, screen

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def diff(
    run: options.Run,
    a: Annotated[int, typer.Argument(metavar="A", help="The node to compare with.")],
    b: Annotated[int, typer.Argument(metavar="B", help="The node to compare.")],
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """Compare two nodes: source, verdict and speedup."""
    from rich.text import Text

    from kernwright.engine.intake import home_of
    from kernwright.engine.reading import reading

    from . import figures
    from .profile_view import between, changes_view
    from .run_view import node_json, state_of, who

    with reading(home_of(home), run) as view:
        first, second = view.node(a), view.node(b)
        lines = unified(view.candidate(first), view.candidate(second), a, b)
        if as_json:
            changed = [{**asdict(each), "relative": each.relative} for each in between(first, second)]
            told = {"diff": "\n".join(lines), "changes": changed}
            screen.emit({"run": view.id, "a": node_json(first), "b": node_json(second), **told})
            return
        console = screen.out()
        for line in lines:
            console.print(Text(line, style=_COLOURS.get(line[:1], "")), soft_wrap=True)
        if not lines:
            console.print("The sources are the same.")
        screen.show("")
        for node in (first, second):
            name = f"node {node.id} ({who(node)}): {state_of(node)} {figures.result(node.evaluation)}"
            screen.show(Text(name, style="bold"), Text(node_json(node)["reason"] or ""))
        screen.show(*changes_view(between(first, second), f"node {a}"))


def unified(first: Candidate, second: Candidate, a: int, b: int) -> list[str]:
    """A unified diff over all files of both."""
    old, new = ({file.name: file.text for file in candidate.files} for candidate in (first, second))
    if first.main.name != second.main.name:  # the same part under another name
        old = {second.main.name if name == first.main.name else name: text for name, text in old.items()}
    lines: list[str] = []
    for name in dict.fromkeys((*old, *new)):
        texts = (old.get(name, "").splitlines(), new.get(name, "").splitlines())
        lines += difflib.unified_diff(*texts, f"{a}/{name}", f"{b}/{name}", lineterm="")
    return lines
