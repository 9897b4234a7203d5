"""Why a C++ compiler left loops as they are: its vectorisation report, made by compiling once more."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from kernwright.core.profile import Profile

from . import tools
from .hand_vectors import HandVectors

MOST_NOTES = 6
_SOURCES = (".cpp", ".cc", ".cxx")
MOST_BYTES = 4 << 20
_LINE = re.compile(r"^(\S+?):(\d+):(\d+): (optimized|missed|remark|note): +(.*)$")
_REASON = re.compile(r"not vectorized: (.+?)\.?$")
_GNU = "-fopt-info-vec-optimized-missed={report}"
_CLANG = "-Rpass=loop-vectorize -Rpass-missed=loop-vectorize -Rpass-analysis=loop-vectorize"
_WRAPPER = """\
#!/bin/sh
case "$*" in
  *.cpp*|*.cc*|*.cxx*) {command} ;;
  *) exec {real} "$@" ;;
esac
"""
Again = Callable[[Mapping[str, str]], Path]


def look(again: Again, folder: Path) -> Profile:
    """What the compiler says of the loops in the candidate's own sources, compiled `again` into `folder`.

    Raises:
        Silent: there is no compiler, or the build does not use it.
    """
    real = shutil.which(os.environ.get("CXX") or "g++") or shutil.which("c++") or shutil.which("clang++")
    if real is None:
        raise tools.Silent("there is no C++ compiler to ask about its loops")
    folder.mkdir(parents=True, exist_ok=True)
    reports = folder / "reports"
    reports.mkdir(exist_ok=True)
    wrapper = folder / Path(real).name
    wrapper.write_text(_wrapped(real, reports))
    wrapper.chmod(0o755)
    again({"CXX": str(wrapper)})
    texts = [path.read_text(errors="replace")[:MOST_BYTES] for path in sorted(reports.iterdir())]
    if not texts:
        raise tools.Silent("the build asked no C++ compiler")
    return profile_of("\n".join(texts), folder.parent)


def profile_of(report: str, scratch: Path) -> Profile:
    """Loops of files below `scratch`; headers of others say nothing of a candidate.

    Loops that were written with vectors are counted apart: that a compiler left them as they are is no fault of theirs.
    """
    done: set[tuple[str, int]] = set()
    left: dict[tuple[str, int], str] = {}
    at: tuple[str, int] | None = None
    for line in report.splitlines():
        found = _LINE.match(line)
        if found is None or not (found[1].startswith(str(scratch)) and found[1].endswith(_SOURCES)):
            continue
        place, text = (found[1], int(found[2])), found[5]
        if "loop vectorized" in text or "vectorized loop" in text:
            done.add(place)
        elif "couldn't vectorize loop" in text or "loop not vectorized" in text:
            at = place
            left.setdefault(place, _clang_reason(text))
        elif at is not None and (reason := _REASON.search(text)):
            left[at] = left[at] or reason[1]
    sources = {path: HandVectors(_text(path)) for path in {path for path, _ in left}}
    by_hand = {(path, line) for (path, line), why in left.items() if sources[path].has(line, why)} - done
    missed = {place: why for place, why in left.items() if place not in done | by_hand}
    notes = [f"line {line}{_source(path, line)}: {why or 'not vectorised'}" for (path, line), why in missed.items()]
    counters = {"loops_vectorised": float(len(done)), "loops_missed": float(len(missed))}
    counters |= {"loops_by_hand": float(len(by_hand))} if by_hand else {}
    return Profile(tools=("vectorisation report",), counters=counters, notes=tuple(notes[:MOST_NOTES]))


def _clang_reason(text: str) -> str:
    return text.partition("loop not vectorized: ")[2].partition(" [-R")[0]


def _source(path: str, line: int) -> str:
    text = next(iter(_text(path).splitlines()[line - 1 : line]), "").strip()
    return f" `{text[:60]}`" if text else ""


def _text(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace")[:MOST_BYTES]
    except OSError:
        return ""


def _wrapped(real: str, reports: Path) -> str:
    version = subprocess.run([real, "--version"], capture_output=True, text=True, check=False).stdout
    if "clang" in version:
        command = f'exec {real} "$@" {_CLANG} 2>>{reports}/$$.txt'
    else:
        command = f'exec {real} "$@" {_GNU.format(report=f"{reports}/$$.txt")}'
    return _WRAPPER.format(command=command, real=real)
