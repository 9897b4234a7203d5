"""`kernwright demo`."""

import json
from collections.abc import Iterator
from importlib.resources import as_file, files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kernwright.core.errors import MachineFault

from . import options, screen
from .driving import drive

if TYPE_CHECKING:
    from kernwright.core.spec import OperatorSpec
    from kernwright.engine.reading import RunView

PACKAGE = "kernwright.zoo.demo"
OUT = Path("kernwright-demo") / "champion.py"


def demo(
    seconds: Annotated[float, typer.Option(min=1, help="For the search; the verification comes on top.")] = 75.0,
    recording: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Another recording for the same problem.", show_default=False)
    ] = None,
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """Replay a recorded search on real builds and timings, go on from it, verify and export the best."""
    from kernwright import api
    from kernwright.core.spec import Budget, OperatorSpec
    from kernwright.engine.intake import home_of
    from kernwright.engine.reading import reading

    folder = home_of(home)
    problem, tape = _part("problem.py"), recording or _part("recording.jsonl")
    label = _label(tape)
    for line in _introduction(label):
        screen.say(line)
    run = api.begin(
        problem,
        home=folder,
        target="cpu",
        operators=(OperatorSpec(name="replay", settings={"recording": str(tape)}), *_keyless()),
        budget=Budget(seconds=seconds),
        author=label["author"],
    )
    drive(folder, run, resume=False)
    with reading(folder, run) as view:
        champion = view.graph.champion()
        if champion is None:
            raise MachineFault(f"The demo ended without a verified kernel; `kernwright show {run}` says why.")
        path = api.export(run, OUT, force=True, home=folder).path
        if as_json:
            from .run_view import run_json

            screen.emit({**run_json(view), "recording": label, "path": str(path)})
        else:
            _conclude(view, label, path)


def _keyless() -> "Iterator[OperatorSpec]":
    from kernwright.core.spec import OperatorSpec

    # Two of the compiler's settings and few trials, so that it all ends within two minutes on two cores.
    yield OperatorSpec(name="compiler", settings={"only": "default,reassociate"})
    if find_spec("optuna") is None:
        screen.say("The tuner is left out: pip install 'kernwright[tune]' brings it.")
    else:
        yield OperatorSpec(name="tuner", settings={"trials": 6})


def _part(name: str) -> Path:
    try:
        part = files(PACKAGE) / name
        found = part.is_file()
    except ModuleNotFoundError:
        found = False
    if not found:
        raise MachineFault(f"The demo's {name} is not part of this installation; install Kernwright again.")
    with as_file(part) as path:
        return path


def _label(tape: Path) -> dict[str, str]:
    """Who wrote the kernels of a recording and when; raises UserError where it is none."""
    from kernwright.search.operators.replay import read_recording

    authors = dict.fromkeys(entry.author for entry in read_recording(str(tape)) if entry.author)
    with tape.open(encoding="utf-8") as lines:
        made = str(json.loads(next(lines)).get("made", ""))
    return {"author": ", ".join(authors) or "an unnamed author", "made": made[:10]}


def _introduction(label: dict[str, str]) -> list[str]:
    return [
        f"The first kernels come from a RECORDING: {label['author']} wrote them, {label['made'] or 'some day'},",
        "through `kernwright ask` and `tell`: good ones, wrong ones and ones that cheat. No model is",
        "asked now. Every build, check and timing is real and happens on this machine. Then come",
        "PyTorch's own compiler and a tuner.",
        "",
    ]


def _conclude(view: "RunView", label: dict[str, str], path: Path) -> None:
    from . import figures
    from .run_view import header, verdicts_view, who

    champion = view.graph.champion()
    assert champion is not None
    assert champion.evaluation is not None
    screen.show(*header(view), "", *verdicts_view(view.graph), "")
    print(f"Champion: node {champion.id} by {who(champion)}.")
    print(f"Verified: {champion.evaluation.outcome.reason}.")
    print(f"Speedup here and today: {figures.result(champion.evaluation)}.")
    print(f"Kernels by `replay` come from the recording by {label['author']}.")
    print(f"Exported to {path}: it needs PyTorch and nothing of Kernwright.")
