"""Kernels that the judge must refuse or accept, and the problems they are for; files are read, never imported."""

import ast
from dataclasses import dataclass
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.errors import unknown_name
from kernwright.core.problem import Problem, Rules, Workload

Kind = Literal["hacks", "honest"]
_SIGNS = {"cpp_loader": "cpp", "cuda_loader": "cuda", "import triton": "triton"}
"""What stands in the text of a kernel that is written in another language than Python alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One kernel of the zoo with the rules under which it is judged."""

    name: str
    kind: Kind
    row: str
    """The row of the threat model, `honest` for an honest kernel."""
    summary: str
    problem: str
    rules: Rules
    expect: frozenset[str]
    """Verdicts that end it as they should."""
    contained_ok: bool
    """A hack that computes the right answer: it may be measured, but never as faster."""
    destructive: bool
    """Runs nowhere but under a judge that confines it."""
    alone: bool
    """Takes what all judges of a device share: no other is at work beside it."""
    needs_harness: bool
    """Its target is a judge with processes of its own; a naive one has nothing to attack."""
    leaves: str
    """Name of a process that it tries to leave behind; empty where none."""
    platforms: frozenset[str]
    """Kinds of device that it is for."""
    path: Path
    """Where the file lies; inside an archive there is no such file, and `text` is all there is."""
    text: str

    @property
    def candidate(self) -> Candidate:
        """The kernel as it would be handed in."""
        language = next((name for sign, name in _SIGNS.items() if sign in self.text), "torch")
        return Candidate(language=language, files=(SourceFile(name=f"{self.name}.py", text=self.text),))


def members(kind: Kind) -> list[Member]:
    """The hacks, or the honest kernels, by name."""
    return [_member(kind, entry) for entry in _python_files(kind)]


def problem_names(*, degenerate: bool = False) -> list[str]:
    """The problems that kernels are judged on, or those that a linter of problems must name (row A4)."""
    names = [entry.name.removesuffix(".py") for entry in _python_files("problems")]
    return [name for name in names if name.startswith("degenerate_") == degenerate]


def problem(name: str, rules: Rules | None = None, *, platform: str = "") -> Problem:
    """A problem of the zoo under these rules, in the sizes that it has on such a `platform`: what takes a GPU
    microseconds keeps a processor busy for as many milliseconds.

    Raises:
        UserError: there is no such problem.
    """
    entries = {entry.name.removesuffix(".py"): entry for entry in _python_files("problems")}
    if name not in entries:
        raise unknown_name("zoo problem", name, entries)
    text = entries[name].read_text(encoding="utf-8")
    smaller = _literal(text, "ON_PROCESSORS") if platform == "cpu" else {}
    workloads = {key: entry | smaller.get(key, {}) for key, entry in _literal(text, "WORKLOADS").items()}
    return Problem(
        name=name,
        source=text,
        workloads=tuple(_workload(key, entry) for key, entry in workloads.items()),
        rules=rules or Rules(),
        backward=bool(_literal(text, "BACKWARD")),
        origin=f"zoo/problems/{name}.py",
    )


def flaw(name: str) -> str:
    """What is wrong with a degenerate problem, in its own words; empty for a sound one."""
    text = (files(__name__) / "problems" / f"{name}.py").read_text(encoding="utf-8")
    return str(_literal(text, "ZOO").get("degenerate", ""))


def _python_files(folder: str) -> list[Traversable]:
    found = [entry for entry in (files(__name__) / folder).iterdir() if entry.name.endswith(".py")]
    return sorted((entry for entry in found if entry.name != "__init__.py"), key=lambda entry: entry.name)


def _member(kind: Kind, entry: Traversable) -> Member:
    text = entry.read_text(encoding="utf-8")
    zoo = _literal(text, "ZOO")
    with as_file(entry) as path:
        where = path
    return Member(
        name=entry.name.removesuffix(".py"),
        kind=kind,
        row=zoo["row"],
        summary=ast.get_docstring(ast.parse(text)) or "",
        problem=zoo["problem"],
        rules=Rules(**zoo["rules"]),
        expect=frozenset(zoo["expect"]),
        contained_ok=zoo.get("contained_ok", False),
        destructive=zoo.get("destructive", False),
        alone=zoo.get("alone", False),
        needs_harness=zoo.get("needs_harness", False),
        leaves=zoo.get("leaves", ""),
        platforms=frozenset(zoo.get("platforms", ["cpu"])),
        path=where,
        text=text,
    )


def _literal(text: str, name: str) -> dict[str, Any]:
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
            value: dict[str, Any] = ast.literal_eval(node.value)
            return value
    return {}


def _workload(name: str, entry: dict[str, Any]) -> Workload:
    params = {key: value for key, value in entry.items() if key not in ("weight", "held_out")}
    return Workload(
        name=name, params=params, weight=float(entry.get("weight", 1.0)), held_out=entry.get("held_out", False)
    )
