"""Sizes and words that keep the code readable; raising one is a line of diff."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "kernwright"
LARGEST_FILE, LARGEST_FUNCTION, LARGEST_LOOP = 400, 60, 200
GENERIC = ("core", "search", "engine", "evaluation")
DOCTOR = SOURCE / "engine" / "doctor.py"
"""Says for which devices PyTorch was built."""
INDUCTOR = frozenset((SOURCE / "search" / "operators").glob("inductor_*.py"))
"""Write Inductor's code down, in the languages that Inductor writes."""
VAGUE = {"utils", "helpers", "common", "manager", "misc"}


def _files() -> list[Path]:
    return sorted(p for p in SOURCE.rglob("*.py") if not {"hacks", "honest"} & set(p.parts))


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))


@pytest.mark.parametrize("path", _files(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_sizes(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= LARGEST_FILE
    for function in _functions(ast.parse(text)):
        # A command's signature is its options; what it does begins with the body.
        length = (function.end_lineno or 0) - function.body[0].lineno + 1
        assert length <= LARGEST_FUNCTION, f"{function.name} has {length} lines"


def test_the_loop_stays_small() -> None:
    assert len((SOURCE / "engine" / "loop.py").read_text().splitlines()) <= LARGEST_LOOP


def test_no_vague_names() -> None:
    assert not [p for p in SOURCE.rglob("*") if p.stem in VAGUE]
    for path in _files():
        bases = [n.name for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.ClassDef)]
        assert not [name for name in bases if name.startswith("Base")]


@pytest.mark.parametrize("family", GENERIC)
def test_generic_code_names_no_language_of_a_device(family: str) -> None:
    for path in set((SOURCE / family).rglob("*.py")) - {DOCTOR, *INDUCTOR}:
        found = re.findall(r"\b(triton|cuda|hip|opencl)\b", path.read_text(), flags=re.IGNORECASE)
        assert not found, f"{path.name} names {found}"
