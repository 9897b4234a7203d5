"""What whoever reads of a consistent bundle must know beside its figures."""

from pathlib import Path

from kernwright.core.candidate import Candidate
from kernwright.core.errors import UserError
from kernwright.core.jobs import JUDGE_VERSION
from kernwright.core.plan import FULL
from kernwright.engine.exporting import BUNDLE_SUFFIX, stand_alone

from .document import LIMIT_BYTES
from .facts import Sealed, plain, shown
from .header import fault_of, parted

LOADER, SOURCES, CANDIDATE = "# --- the loader, from ", "\n_SOURCES = {\n", "# --- the candidate\n"
"""What `stand_alone` puts around a loader, the sources that it loads, and the rest."""


def notes_on(path: Path, sealed: Sealed) -> tuple[str, ...]:
    """Of a bundle in this file: a plan or judge not of today, a baseline that failed, another kernel beside it."""
    bundle, evaluation, found = sealed.bundle, sealed.bundle.evaluation, list[str]()
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
        faults = _faults_of(kernel, sealed) if kernel.is_file() else []
        found += [f"{plain(kernel.name)}, beside it, {fault}" for fault in faults]
    return tuple(found)


def _faults_of(kernel: Path, sealed: Sealed) -> list[str]:
    """How a file differs from the candidate as `export` writes it."""
    try:
        with kernel.open("rb") as file:
            data = file.read(LIMIT_BYTES + 1)
    except OSError as error:
        return [f"cannot be read: {error.strerror}"]
    if len(data) > LIMIT_BYTES:
        return [f"is larger than {LIMIT_BYTES >> 20} MiB, and was not looked at"]
    header, body = parted(data.decode(errors="replace"))
    expected = _exported(sealed.bundle.candidate)
    if body != expected and _without_loader(body) != _without_loader(expected):
        return ["does not hold the bundle's candidate"]
    another = "holds the bundle's candidate with a loader that is not this Kernwright's, which was not looked at"
    fault = fault_of(header, sealed) if header else ""
    return [*([another] if body != expected else []), *([fault] if fault else [])]


def _exported(candidate: Candidate) -> str:
    try:
        return stand_alone(candidate)
    except UserError:  # it was never exported as one file
        return candidate.main.text


def _without_loader(text: str) -> tuple[str, ...]:
    before, _, rest = text.partition(LOADER)
    loader, _, after = rest.partition(CANDIDATE)
    return before, loader.partition(SOURCES)[2], after
