"""`kernwright profile PROBLEM CANDIDATE`."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options, screen
from .interruption import interruptible
from .stages import Stages

if TYPE_CHECKING:
    from kernwright.core.diagnosis import Diagnosis
    from kernwright.core.note import Note

NOTES = 3
"""That are named for a diagnosis."""


def profile(
    problem: options.ProblemFile,
    candidate: Annotated[str, typer.Argument(metavar="CANDIDATE", help="A Python file with ModelNew or kernel.")],
    against: Annotated[str | None, typer.Option(help="Another candidate, to be compared with.")] = None,
    code: Annotated[bool, typer.Option("--code", help="Read the compiled code only; run nothing.")] = False,
    rules: options.RuleTexts = None,
    target: options.Target = None,
    language: options.Language = None,
    threads: options.Threads = 1,
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """Say how a candidate uses the device and what limits it; judge nothing."""
    from rich.text import Text

    from kernwright import api
    from kernwright.core.outcome import Evaluation
    from kernwright.core.profile import changes
    from kernwright.engine.intake import rules_of
    from kernwright.search.diagnosis import diagnose, figures_of

    from .profile_view import changes_view, profile_view
    from .verdict_view import headline

    with Stages() as stages, interruptible("Stopped by Ctrl-C; nothing was left running."):

        def looked(path: str) -> Evaluation:
            return api.profile(
                problem,
                path,
                code_only=code,
                threads=threads,
                rules=rules_of(rules or []),
                target=target,
                language=language,
                home=home,
                progress=stages,
            )

        evaluation = looked(candidate)
        other = looked(against) if against is not None else None
    found = diagnose(evaluation.profile, evaluation)
    before, after = (figures_of(e.profile if e else None, e) for e in (other, evaluation))
    differences = changes(before, after)
    notes = _notes(home, problem, candidate, evaluation.target, language, found) if found and found.bottlenecks else ()
    if as_json:
        screen.emit(
            {
                "candidate_file": candidate,
                "target": evaluation.target,
                "machine": evaluation.machine,
                "reason": evaluation.outcome.reason,
                "profile": asdict(evaluation.profile) if evaluation.profile else None,
                "diagnosis": asdict(found) if found else None,
                "against": asdict(other.profile) if other and other.profile else None,
                "notes": [{"name": note.name, "title": note.title} for note in notes],
                "changes": [{**asdict(each), "relative": each.relative} for each in differences],
                "stage_s": evaluation.stage_s,
            }
        )
        return
    screen.show(headline(evaluation))
    if evaluation.profile is not None:
        screen.show(*profile_view(evaluation.profile, found))
    if notes:
        screen.show("", "Notes about it, for `kernwright knowledge show`:")
        screen.show(*(Text(f"  {note.name}: {note.title}") for note in notes))
    if other is not None:
        screen.show("", *changes_view(differences, against or ""))


def _notes(
    home: Path | None, problem: str, candidate: str, target: str, language: str | None, found: "Diagnosis"
) -> "Sequence[Note]":
    """The first few about what limits it."""
    from kernwright.engine import knowing
    from kernwright.engine.intake import candidate_of, home_of, problem_of

    written = candidate_of(candidate, target, language, here=False).language
    return knowing.about(home_of(home), problem_of(problem), target, written, found, NOTES)
