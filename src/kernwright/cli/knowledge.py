"""`kernwright knowledge search|show|add|lint|stats`."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kernwright.core.errors import UserError

from . import options, screen

if TYPE_CHECKING:
    from kernwright.core.note import Note
    from kernwright.engine.knowing import Known

app = typer.Typer(
    help="What is known about making kernels fast: search it, read it, add to it, check a folder of notes.",
    no_args_is_help=True,
)
OfRun = Annotated[
    str | None,
    typer.Option("--run", metavar="RUN", help="What this run is told, as it was when it began.", show_default=False),
]


@app.command(no_args_is_help=False)
def search(
    query: Annotated[list[str] | None, typer.Argument(metavar="[WORDS]", help="In any order.")] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option(metavar="TAG", help="A bottleneck or kind of operator, the weightiest first; may be repeated."),
    ] = None,
    target: Annotated[str | None, typer.Option(help="Only what applies to it, such as cuda:sm_90a.")] = None,
    language: Annotated[str | None, typer.Option(help="In which the candidate is written.")] = None,
    problem: Annotated[
        str | None, typer.Option(help="A problem file: its operators and words count too.", show_default=False)
    ] = None,
    count: Annotated[int, typer.Option("--count", "-k", min=1, help="Notes that are listed.")] = 5,
    run: OfRun = None,
    knowledge: options.Knowledge = None,
    built_in: options.BuiltIn = True,
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """List the notes that say most about a matter."""
    from kernwright.engine import knowing
    from kernwright.engine.intake import problem_of

    known = _known(home, run, knowledge, built_in)
    asked = knowing.Asked(
        words=" ".join(query or ()),
        tags=tuple(tag or ()),
        target=target or "",
        language=language or "",
        problem=problem_of(problem) if problem else None,
    )
    found = knowing.search(known, asked, count)
    if as_json:
        notes = [{"score": round(score, 4), **_brief(note)} for score, note in found]
        screen.emit({"notes": notes, "skipped": known.skipped})
        return
    _say_skipped(known)
    if not found:
        _say("Nothing was found; try fewer or other words.")
    for _, note in found:
        about = "; ".join(filter(None, (", ".join(note.applies_to), ", ".join(note.bottlenecks))))
        _say(f"{note.name}: {note.title} ({about})")


@app.command(no_args_is_help=False)
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="As search lists it.")],
    run: OfRun = None,
    knowledge: options.Knowledge = None,
    built_in: options.BuiltIn = True,
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """Print a note, with where it is from."""
    from kernwright.engine import knowing

    known = _known(home, run, knowledge, built_in)
    if not as_json:
        _say_skipped(known)
    note = knowing.show(known, name)
    if as_json:
        screen.emit({**_brief(note), "text": note.text, "supersedes": note.supersedes, "learned": note.learned})
        return
    _say(f"# {note.title}\n")
    for key in ("name", "pack", "tags", "applies_to", "bottlenecks", "source", "date", "evidence", "expires"):
        value = getattr(note, key)
        if value:
            _say(f"{key}: {', '.join(value) if isinstance(value, tuple) else value}")
    if (learned := note.learned) is not None:
        _say(f"confirmed: {learned.confirmed}, refuted: {learned.refuted}")
    _say(f"\n{note.text}")


@app.command(no_args_is_help=False)
def add(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Markdown with front matter.")],
    folder: Annotated[
        str, typer.Option(help="Of the pack: constraints, guidance, languages, platforms or samples.")
    ] = "guidance",
    force: Annotated[bool, typer.Option("--force", help="In place of a note of the same name.")] = False,
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """Keep notes in this home, for all its runs that remember others."""
    from kernwright.engine import knowing
    from kernwright.engine.intake import writable_home

    added = knowing.add(writable_home(home), files, folder, force=force)
    if as_json:
        screen.emit({"added": [{"name": note.name, "path": str(path)} for note, path in added]})
        return
    for note, path in added:
        _say(f"Added {note.name}: {path}")


@app.command(no_args_is_help=False)
def lint(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FOLDER...]", help="What comes with Kernwright and this home's by default."),
    ] = None,
    write_index: Annotated[bool, typer.Option("--write-index", help="Write INDEX.md into each folder.")] = False,
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """Check notes; exit 2 where one is broken. Advice is about notes that count all the same."""
    from kernwright.engine import knowing
    from kernwright.engine.intake import home_of

    packs, findings = knowing.lint(home_of(home), folders or (), write_index=write_index)
    notes = sum(len(pack.notes) for pack in packs)
    errors = [finding for finding in findings if finding.level == "error"]
    if as_json:
        screen.emit({"notes": notes, "findings": findings})
    else:
        for finding in findings:
            _say(f"{finding.where}, line {finding.line}: {finding.level}: {finding.said}")
        _say(f"{notes} notes in {len(packs)} packs; {len(errors)} broken, {len(findings) - len(errors)} with advice.")
    if errors:
        raise typer.Exit(2)


@app.command(no_args_is_help=False)
def stats(
    run: OfRun = None,
    knowledge: options.Knowledge = None,
    built_in: options.BuiltIn = True,
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """Count notes: by pack, folder, what they apply to and bottleneck; those that runs left, and how they fared."""
    from kernwright.engine.knowing import stats as counted

    found = counted(_known(home, run, knowledge, built_in))
    if as_json:
        screen.emit(found)
        return
    _say(f"{found['notes']} notes, {found['told']} of them told; about {found['tokens']} tokens.")
    for key in ("packs", "folders", "applies_to", "bottlenecks"):
        rows = Counter[str](found[key]).most_common()
        _say(f"{key}: {', '.join(f'{name} {count}' for name, count in rows) or '-'}")
    learnt: dict[str, Any] = found["learnt"]
    _say("learnt: " + ", ".join(f"{name} {count}" for name, count in learnt.items()))
    for said in found["skipped"]:
        _say(f"left out: {said}")


def _say(text: str) -> None:
    print(screen.printable(text))


def _say_skipped(known: "Known") -> None:
    """What of the packs is no note, which a search cannot find."""
    for said in known.skipped:
        screen.say(screen.printable(f"left out: {said}"))


def _known(home: Path | None, run: str | None, folders: list[Path] | None, built_in: bool) -> "Known":
    from kernwright.engine import knowing
    from kernwright.engine.intake import home_of

    if run is not None and (folders or not built_in):
        raise UserError("A run is told what it began with; leave out --knowledge and --no-built-in, or --run.")
    if run is not None:
        return knowing.of_run(home_of(home), run)
    return knowing.here(home_of(home), folders or (), built_in=built_in)


def _brief(note: "Note") -> dict[str, Any]:
    keys = ("name", "title", "pack", "tags", "applies_to", "bottlenecks", "source", "date", "evidence", "expires")
    return {key: getattr(note, key) for key in keys}
