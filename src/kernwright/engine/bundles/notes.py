"""What whoever reads of a consistent bundle must know beside its figures."""

from pathlib import Path

from kernwright.core.candidate import Candidate
from kernwright.core.errors import UserError
from kernwright.core.jobs import JUDGE_VERSION
from kernwright.core.plan import FULL
from kernwright.engine.exporting import BUNDLE_SUFFIX, stand_alone

from .document import LIMIT_BYTES
from .facts import Bundle, plain, shown

HEADER = "# Exported by Kernwright "
LOADER, SOURCES, CANDIDATE = "# --- the loader, from ", "\n_SOURCES = {\n", "# --- the candidate\n"
"""What `stand_alone` puts around a loader, the sources that it loads, and the rest."""


def notes_on(path: Path, bundle: Bundle) -> tuple[str, ...]:
    """Of a bundle in this file: a plan or judge not of today, a baseline that failed, another kernel beside it."""
    evaluation, found = bundle.evaluation, []
    if bundle.plan.name != FULL.name:
        found.append(f"it was judged under a plan of its own, {shown(bundle.plan.name)}, and not under {FULL.name!r}")
    if evaluation.judge_version != JUDGE_VERSION:
        found.append(
            f"it is by version {plain(evaluation.judge_version)} of the judge, and this Kernwright has {JUDGE_VERSION}"
        )
    for name in bundle.plan.baselines:
        if reason := evaluation.failed_baselines.get(name):
            found.append(f"the baseline {shown(name)} was not timed: {plain(reason)}")
    if path.name.endswith(BUNDLE_SUFFIX):
        kernel = path.with_name(f"{path.name.removesuffix(BUNDLE_SUFFIX)}.py")
        fault = _fault_of(kernel, bundle.candidate) if kernel.is_file() else ""
        found += [f"{plain(kernel.name)}, beside it, {fault}"] if fault else []
    return tuple(found)


def _fault_of(kernel: Path, candidate: Candidate) -> str:
    """How a file differs from the candidate as `export` writes it; empty where it does not."""
    try:
        with kernel.open("rb") as file:
            text = file.read(LIMIT_BYTES).decode(errors="replace")
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    try:
        expected = stand_alone(candidate)
    except UserError:  # it was never exported as one file
        return ""
    body = _without_header(text)
    if body == expected:
        return ""
    if _without_loader(body) == _without_loader(expected):
        return "holds the bundle's candidate with a loader that is not this Kernwright's, which was not looked at"
    return "does not hold the bundle's candidate"


def _without_header(text: str) -> str:
    header, blank, body = text.partition("\n\n")
    if text.startswith(HEADER) and blank and all(line.startswith("# ") for line in header.split("\n")):
        return body
    return text


def _without_loader(text: str) -> tuple[str, ...]:
    before, _, rest = text.partition(LOADER)
    loader, _, after = rest.partition(CANDIDATE)
    return before, loader.partition(SOURCES)[2], after
