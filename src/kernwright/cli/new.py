"""`kernwright new PROBLEM`."""

from pathlib import Path
from typing import Annotated

import typer

from kernwright.core.errors import UserError

from . import options, screen


def new(
    problem: Annotated[Path, typer.Argument(metavar="PROBLEM", help="The file to write, for example mine.py.")],
    candidate: Annotated[
        str | None, typer.Option(metavar="cpp|torch", help="Write a commented candidate instead.", show_default=False)
    ] = None,
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """Write a commented template of a problem, or of a candidate, to start from."""
    from importlib.resources import files

    from kernwright.core.errors import unknown_name

    kinds = {"cpp": "candidate_cpp.py", "torch": "candidate_torch.py"}
    if candidate is not None and candidate not in kinds:
        raise unknown_name("template of a candidate", candidate, kinds)
    name = kinds[candidate] if candidate else "problem.py"
    text = (files("kernwright.cli") / "templates" / f"{name}.txt").read_text(encoding="utf-8")
    path = problem if problem.suffix == ".py" else problem.with_name(f"{problem.name}.py")
    if path.exists():
        raise UserError(f"{path} is there already and is not overwritten; choose another name.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as out:
            out.write(text)
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}; choose another path.") from None
    if as_json:
        screen.emit({"path": str(path), "kind": candidate or "problem"})
    elif candidate:
        print(f"Wrote {path}; judge it with: kernwright judge PROBLEM {path}")
    else:
        print(f"Wrote {path}; look at it with: kernwright check {path}")
