"""What many candidates' builds need alike: compiled from its text alone, where no candidate is, for builds to come.

A build leaves such texts in a folder of its artefacts. What is made of one lies in a folder that is named after it, so
whatever a hostile build writes, and whatever that does where it is compiled, nobody finds who needs another text.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from kernwright.core.candidate import SourceFile
from kernwright.core.commons import FOLDER, place_of
from kernwright.core.digest import digest
from kernwright.core.jobs import EvalJob

from .ended import Ended
from .participants.keeping import keep
from .participants.workshop import ARTIFACTS, Workshop

MOST_TEXTS, MOST_CHARACTERS, MOST_KEPT = 4, 64_000, 256
"""Texts of one build and their length, and how many a home keeps; what is beyond is compiled by each build."""


def folder(language: str, job: EvalJob, shop: Workshop) -> Path:
    """Where a home keeps those of one language."""
    return Path(job.home) / "cache" / "common" / digest((language, shop.machine, os.environ.get("CC", "")))


def texts_in(scratch: Path) -> tuple[str, ...]:
    """What a build has left to be compiled for others; a link or a folder is none."""
    return tuple(_texts(scratch / ARTIFACTS / FOLDER))


def _texts(there: Path) -> Iterator[str]:
    if there.is_symlink() or not there.is_dir():
        return
    with os.scandir(there) as entries:
        names = sorted(e.name for e in entries if e.is_file(follow_symlinks=False))[:MOST_TEXTS]
    for name in names:
        handle = os.open(there / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            data = file.read(MOST_CHARACTERS + 1)
        if len(data) <= MOST_CHARACTERS:
            yield data.decode(errors="replace")


def add(texts: tuple[str, ...], language: str, job: EvalJob, shop: Workshop) -> None:
    """Compile those that are not kept yet. One that cannot be is not tried again."""
    kept = folder(language, job, shop)
    for text in texts:
        final = kept / place_of(text)
        if final.exists() or len([*kept.glob("*")]) >= MOST_KEPT:
            continue
        main = SourceFile(name="common.txt", text=text)
        with shop.runner("builder", (main,), job.plan, building=True) as runner:
            try:
                runner.ask("build", {"op": "common", "language": language, "file": main.name}, job.plan.limits.build_s)
                runner.close()
                keep(runner.scratch, final, {})
            except Ended:
                final.mkdir(parents=True, exist_ok=True)
