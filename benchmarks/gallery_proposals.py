"""Candidates that lie in gallery/proposals/, told to the runs of their problems."""

import ast
from collections.abc import Iterator
from pathlib import Path

from kernwright.core.candidate import Candidate
from kernwright.engine import intake, service
from kernwright.engine.reading import reading_all

TF32 = "_tf32"
"""How the names of those end that need TF32 allowed."""


def tell_all(home: Path, folder: Path, run_of: dict[str, str], precision: str | None, author: str) -> Iterator[str]:
    """Hand every candidate that its run has not had to it, unjudged; a sentence for each problem.

    `run_of`: the run of each key, such as level1/36.

    Raises:
        UserError: a file is no candidate, or a run takes no more.
    """
    for key, run in run_of.items():
        files = [path for path in _files(folder / key.replace("/", "-")) if precision or not path.stem.endswith(TF32)]
        told, target = _told(home, run)
        new = 0
        for path in files:
            candidate = intake.candidate_of(path, target, here=False)
            if _texts(candidate) in told:
                continue
            node = service.place(home, run)
            service.tell(home, run, node, candidate, author=author, summary=_summary(path), later=True)
            told.add(_texts(candidate))
            new += 1
        yield f"{key}: {new} of {len(files)} told"


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("[0-9]*.py"))


def _told(home: Path, run: str) -> tuple[set[tuple[str, ...]], str]:
    with reading_all(home) as views:
        view = next(view for view in views if view.id == run)
        nodes = [node for node in view.graph.nodes if node.candidate is not None]
        return {_texts(view.candidate(node)) for node in nodes}, view.spec.target


def _texts(candidate: Candidate) -> tuple[str, ...]:
    return tuple(file.text for file in candidate.files)


def _summary(path: Path) -> str:
    """The first line of its docstring."""
    said = ast.get_docstring(ast.parse(path.read_text())) or path.stem
    return said.splitlines()[0]
