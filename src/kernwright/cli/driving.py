"""Running a search to its end with live progress, and what is said afterwards."""

from pathlib import Path

from kernwright.core.spec import Budget

from . import screen
from .interruption import interruptible


def drive(
    home: Path,
    run: str,
    *,
    resume: bool,
    budget: Budget | None = None,
    until: float | None = None,
    patience: int | None = None,
) -> None:
    """To an ending, or to Ctrl-C with a sentence on how to go on."""
    from kernwright.engine import service

    from .progress import Progress

    with (
        interruptible(f"Stopped by Ctrl-C; what was finished is kept. Go on with: kernwright resume {run}"),
        Progress(run) as progress,
    ):
        service.drive(
            home,
            run,
            resume=resume,
            budget=budget,
            until=until,
            patience=patience,
            observe=progress.observe,
            progress=progress.say,
            announce=progress.announce,
        )


def conclude(home: Path, run: str, *, as_json: bool) -> None:
    """What came out, and how to take it away."""
    from kernwright.engine.reading import reading

    from . import figures
    from .run_view import baselines_view, header, run_json, verdicts_view, who

    with reading(home, run) as view:
        if as_json:
            screen.emit(run_json(view))
            return
        screen.show(*header(view), "", *verdicts_view(view.graph), "", *baselines_view(view.graph))
        champion = view.graph.champion()
        if champion is None and view.spec.elsewhere:
            print(*waiting(home, run), sep="\n")
            return
        if champion is None:
            best = view.graph.best()
            found = f"the best is node {best.id}, not verified" if best else "nothing could be measured"
            print(f"No candidate is verified; {found}. `kernwright show {view.id} NODE` says more.")
            return
        print(f"Champion: node {champion.id} by {who(champion)}, verified at {figures.result(champion.evaluation)}.")
        print(f"Take it with: kernwright export {view.id} -o champion.py")


def begin_by(home: Path, run: str) -> str:
    """The command that begins a run which was only made."""
    from kernwright.engine.reading import reading
    from kernwright.search.operators.mailbox import NAME

    with reading(home, run) as view:
        if any(operator.name == NAME for operator in view.spec.operators):
            return f"ask for a brief with: kernwright ask {run}"
    return f"begin it with: kernwright resume {run}"


def waiting(home: Path, run: str) -> list[str]:
    """What is to be done with a run that is judged elsewhere; nothing for any other."""
    from kernwright.engine.reading import reading

    with reading(home, run) as view:
        if not view.spec.elsewhere:
            return []
        nodes = sum(node.candidate is not None for node in view.graph.in_flight())
        return [
            f"Nothing of it is judged on this machine: {nodes} node{'s wait' if nodes != 1 else ' waits'} for "
            f"{view.spec.target}.",
            f"Write that work as a folder with: kernwright jobs export {view.id} -o jobs",
        ]
