"""The build stage: a candidate compiled in a sandbox, once per content and machine."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kernwright.core.calls import CallSpec
from kernwright.core.candidate import Candidate
from kernwright.core.digest import digest, digest_bytes
from kernwright.core.jobs import EvalJob
from kernwright.core.outcome import BuildFailed, Crashed, TimedOut

from . import commons
from .ended import Ended
from .participants.keeping import keep
from .participants.participant import Participant
from .participants.workshop import Workshop
from .profile_words import text_of
from .runner.structure import encode_calls

Calls = Sequence[CallSpec]
MOST_NOTES, NOTE_CHARACTERS = 4, 500


@dataclass(frozen=True, slots=True)
class Build:
    """Where a built candidate lies, read-only for its runners."""

    folder: Path
    resources: Mapping[str, float]
    notes: tuple[str, ...] = ()


def build(
    candidate: Candidate, language: str, job: EvalJob, shop: Workshop, calls: Calls, *, emulated: bool = False
) -> Build:
    """Compile, or find compiled; `emulated`: for what stands in for the device.

    Raises:
        Ended: the compiler, the import, or the deadline said no.
    """
    spec = json.dumps(encode_calls(calls)).encode()
    watched = dict(shop.tool.environment) if shop.tool else {}
    tools = (shop.machine, os.environ.get("CXX", ""), compiler_version(), watched)
    key = digest((candidate.id, language, job.target, emulated, digest_bytes(spec), tools))
    final = Path(job.home) / "cache" / "build" / key
    if not final.exists():
        kept = commons.folder(language, job, shop)
        with shop.runner("builder", candidate.files, job.plan, building=True, emulated=emulated, common=kept) as runner:
            resources, notes = _compile(runner, candidate, language, job, spec)
            runner.close()  # nothing may change what is being looked at and copied
            texts = commons.texts_in(runner.scratch)
            keep(runner.scratch, final, resources, notes)
        commons.add(texts, language, job, shop)
    return Build(final, _resources(final), _notes(final))


@cache
def compiler_version() -> str:
    """First line of the C++ compiler's `--version`; empty without one."""
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++") or shutil.which("clang++")
    if compiler is None:
        return ""
    done = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
    return (done.stdout.splitlines() or [""])[0]


def _compile(
    runner: Participant, candidate: Candidate, language: str, job: EvalJob, spec: bytes
) -> tuple[dict[str, float], tuple[str, ...]]:
    message = {
        "op": "build",
        "name": candidate.language,
        "language": language,
        "target": job.target,
        "files": [file.name for file in candidate.files],
    }
    try:
        reply = runner.ask("build", message, job.plan.limits.build_s, spec=spec)
    except Ended as error:
        raise Ended(_as_build_failure(error)) from error
    numbers = reply.get("resources")
    items = numbers.items() if isinstance(numbers, dict) else ()
    resources = {k: float(v) for k, v in items if re.fullmatch(r"[\w .:/-]{1,60}", k) and _is_plain(v)}
    return resources, sentences(reply.get("notes"))


def sentences(said: object) -> tuple[str, ...]:
    """What a build has to say, a line each. They begin alike, since a candidate's own code may have written them."""
    texts = (text_of(each, NOTE_CHARACTERS) for each in (said if isinstance(said, list) else ()))
    return tuple(f"build: {text}" for text in texts if text)[:MOST_NOTES]


def _is_plain(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def _as_build_failure(error: Ended) -> BuildFailed | TimedOut:
    match error.outcome:
        case TimedOut() as late:
            return late
        case Crashed(log=log, reason=reason):
            return BuildFailed(log=log or reason, reason=_telling(log) or reason)
        case other:
            return BuildFailed(log="", reason=f"the build ended in {other.kind}")


def _telling(log: str) -> str:
    """The first line in which a compiler says what is wrong; empty where none does."""
    return next((line.strip()[:300] for line in log.splitlines() if re.search(r"\berror: ", line)), "")


def _resources(folder: Path) -> dict[str, float]:
    lines = (folder / "resources.tsv").read_text().splitlines()
    return {name: float(value) for name, value in (line.split("\t") for line in lines)}


def _notes(folder: Path) -> tuple[str, ...]:
    return tuple(json.loads((folder / "notes.json").read_text()))
