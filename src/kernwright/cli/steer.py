"""`kernwright steer RUN`."""

from typing import TYPE_CHECKING, Annotated

import typer

from . import options, screen

if TYPE_CHECKING:
    from kernwright.core.inbox import Action, Steer


def steer(
    run: options.Run,
    pin: Annotated[
        list[int] | None, typer.Option(metavar="NODE", help="Expand this node next, and often after that.")
    ] = None,
    ban: Annotated[
        list[str] | None, typer.Option(metavar="NODE|IDEA", help="No more children of a node, or of an idea.")
    ] = None,
    free: Annotated[
        list[str] | None,
        typer.Option(metavar="NODE|TEXT", help="Take back a pin or a ban, a hint or a banned idea by its text."),
    ] = None,
    hint: Annotated[list[str] | None, typer.Option(metavar="TEXT", help="Tell it with every later brief.")] = None,
    fork: Annotated[int | None, typer.Option(metavar="NODE", help="Begin a new run with this node.")] = None,
    author: Annotated[str, typer.Option(help="Who wants it, for the record.")] = "",
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """Take a hand in a search, while it runs or before it goes on; without options, say who did."""
    from kernwright.core.errors import UserError
    from kernwright.core.inbox import Steer
    from kernwright.engine import steering
    from kernwright.engine.intake import home_of
    from kernwright.engine.reading import reading

    from .run_view import steering as lines
    from .run_view import steering_json

    wishes = (
        *(Steer(action="pin", node=node, author=author) for node in pin or ()),
        *(_of("ban", text, author) for text in ban or ()),
        *(_of("free", text, author) for text in free or ()),
        *(Steer(action="hint", text=text, author=author) for text in hint or ()),
    )
    folder = home_of(home)
    if fork is not None and wishes:
        raise UserError("A fork is a run of its own: steer that one after it, in a second command.")
    if fork is not None:
        new = steering.fork(folder, run, fork, author)
        if as_json:
            screen.emit({"run": new, "forked_from": run, "node": fork})
        else:
            print(f"Created run {new}, which begins with node {fork}; start it with: kernwright resume {new}")
        return
    done = steering.steer(folder, run, wishes) if wishes else True
    with reading(folder, run) as view:
        if as_json:
            screen.emit({"run": view.id, "queued": not done, **steering_json(view.graph)})
            return
        if not done:
            print(f"Handed to the engine at work on {view.id}; see `kernwright show {view.id}` in a moment.")
            return
        print(f"{view.id}:")
        print("\n".join(lines(view.graph)) or "nobody has steered it; see `kernwright steer --help`")


def _of(action: "Action", text: str, author: str) -> "Steer":
    """Of a node where the text is a number, else of an idea or a hint."""
    from kernwright.core.inbox import Steer

    if text.strip().lstrip("-").isdecimal():
        return Steer(action=action, node=int(text), author=author)
    return Steer(action=action, text=text, author=author)
