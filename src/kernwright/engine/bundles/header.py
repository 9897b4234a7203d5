"""The comment above an exported kernel: written from facts, and held against a bundle that has the same facts."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from kernwright.core.candidate import Candidate, entry_of
from kernwright.core.outcome import Evaluation, Verified, timings_of
from kernwright.core.problem import Problem
from kernwright.problems.file import problem_in

from .facts import Bundle, Sealed

BEGINNING = "Exported by Kernwright "
BASELINES = {
    "eager": "PyTorch eager",
    "compile": "torch.compile",
    "mixed": "the faster of PyTorch eager and torch.compile",
}
CODING, CODING_LINES = re.compile("coding(?=[:=])"), 2
"""What makes a comment in a file's first lines tell Python to read other letters than everyone else does (PEP 263)."""


def header_of(origin: str, evidence: str, problem: Problem, candidate: Candidate, evaluation: Evaluation | None) -> str:
    """The comment, with the blank line after it; `origin` and `evidence` are what no bundle knows of itself."""
    lines = [origin, f"problem: {problem.name} ({problem.id})", *_found(evaluation), evidence]
    lines += [f"workload: {w.name} {w.params or 'get_inputs() as it stands'}" for w in problem.timed]
    entry = entry_of(candidate)
    if entry is not None:
        lines.append(f"use: from this file import {entry}, in the place of {problem.entry}")
    return "".join(f"# {_harmless(line, number)}\n" for number, line in enumerate(lines)) + "\n"


def parted(text: str) -> tuple[str, str]:
    """The header of an exported kernel, empty where there is none, and the rest."""
    header, blank, body = text.partition("\n\n")
    if text.startswith(f"# {BEGINNING}") and blank and all(line.startswith("# ") for line in header.split("\n")):
        return header, body
    return "", text


def fault_of(header: str, sealed: Sealed) -> str:
    """What a header hides, or states beyond a consistent bundle; empty for nothing. It may state less."""
    given = header.split("\n")
    # Python ends lines where "\n" is not, and terminals show other things than there are.
    if not all(map(str.isprintable, given)) or any(map(CODING.search, given[:CODING_LINES])):
        return "has a header in which code may hide"
    stated = _stated(sealed.bundle)
    labels = {label for label, colon, _ in (line.partition(": ") for line in stated) if colon}
    for line in given[1:]:
        label = line.partition(": ")[0]
        if label == "# evidence":
            if not line.endswith(f", bundle {sealed.id}"):
                return "has a header that names other evidence than the bundle"
        elif line not in stated:
            what = f"another {label.removeprefix('# ')}" if label in labels else "more"
            return f"has a header that states {what} than the bundle"
    return ""


def _stated(bundle: Bundle) -> set[str]:
    """All lines that the bundle itself can tell."""
    # A bundle sorts a workload's parameters; whoever exports has them in the order of the source.
    source = problem_in(Path("problem.py"), bundle.problem.source)
    problems = (bundle.problem, replace(bundle.problem, workloads=source.workloads))
    headers = (header_of("", "", problem, bundle.candidate, bundle.evaluation) for problem in problems)
    return {line for header in headers for line in header.splitlines()}


def _found(evaluation: Evaluation | None) -> Iterator[str]:
    if evaluation is None:
        yield "verdict: NOT EVALUATED. Nothing is known of it."
        return
    loud = "" if isinstance(evaluation.outcome, Verified) else " - NOT VERIFIED; exported by force"
    yield f"verdict: {evaluation.outcome.kind}{loud}"
    timings = timings_of(evaluation.outcome)
    if timings is not None:
        s, against = timings.speedup, BASELINES.get(timings.baseline, timings.baseline)
        yield f"speedup: {s.estimate:.3f}x [{s.low:.3f}, {s.high:.3f}], 95 % interval, against {against}"
        yield f"threads: {timings.threads}; cache: {timings.cache}"
        if not timings.faster:
            yield "It is not shown to be faster than the baseline."
    else:
        yield f"reason: {evaluation.outcome.reason}"
    yield f"machine: {evaluation.machine}, target {evaluation.target}; figures hold there"
    yield f"torch: {evaluation.environment.get('torch', 'unknown')}"
    yield from (f"note: {note}" for note in evaluation.notes)


def _harmless(line: str, number: int) -> str:
    """A line of names that anyone may have chosen, as one line of a comment and nothing else."""
    text = "".join(c if c.isprintable() else "?" for c in " ".join(line.split()))
    return CODING.sub("coding ", text) if number < CODING_LINES else text
