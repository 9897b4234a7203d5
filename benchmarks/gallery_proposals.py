"""Candidates that lie in gallery/proposals/, told to the runs of their problems."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kernwright.core.candidate import Candidate
from kernwright.engine import intake, service
from kernwright.engine.reading import reading_all

TF32 = "_tf32"
"""How the names of those end that need TF32 allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """Whose candidates the runs of a home are handed."""

    home: Path
    run_of: Mapping[str, str]
    """The run of each key, such as level1/36."""
    precision: str | None = None
    champions: Path | None = None
    """A home whose champions are handed on; of the files then only those that are made for the precision."""


def tell_all(column: Column, folder: Path, author: str) -> Iterator[str]:
    """Hand every candidate that its run has not had to it, unjudged; a sentence for each problem.

    Raises:
        UserError: a file is no candidate, or a run takes no more.
    """
    champions = dict(_champions(column.champions)) if column.champions is not None else {}
    for key, run in column.run_of.items():
        told, target, name = _told(column.home, run)
        offered = [
            (intake.candidate_of(path, target, here=False), _summary(path))
            for path in _files(folder / key.replace("/", "-"))
            if _is_for(column, path)
        ]
        offered += [(champions[name], "Champion of another column.")] if name in champions else []
        new = 0
        for candidate, summary in offered:
            if _texts(candidate) in told:
                continue
            node = service.place(column.home, run)
            service.tell(column.home, run, node, candidate, author=author, summary=summary, later=True)
            told.add(_texts(candidate))
            new += 1
        yield f"{key}: {new} of {len(offered)} told"


def _is_for(column: Column, path: Path) -> bool:
    made = path.stem.endswith(TF32)
    return made if column.champions is not None else not made or column.precision is not None


def _champions(home: Path) -> Iterator[tuple[str, Candidate]]:
    """By the problem's name, which is the same under other rules."""
    with reading_all(home) as views:
        for view in views:
            if (best := view.graph.champion()) is not None:
                yield view.problem.name, view.candidate(best)


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("[0-9]*.py"))


def _told(home: Path, run: str) -> tuple[set[tuple[str, ...]], str, str]:
    with reading_all(home) as views:
        view = next(view for view in views if view.id == run)
        nodes = [node for node in view.graph.nodes if node.candidate is not None]
        return {_texts(view.candidate(node)) for node in nodes}, view.spec.target, view.problem.name


def _texts(candidate: Candidate) -> tuple[str, ...]:
    return tuple(file.text for file in candidate.files)


def _summary(path: Path) -> str:
    """The first line of its docstring."""
    said = ast.get_docstring(ast.parse(path.read_text())) or path.stem
    return said.splitlines()[0]
