"""Folders of jobs and of results: JSON files that say their own digest, and blobs.

The digest tells a file that was edited or cut off from one that was not. It is no signature: whoever can write the
folder can write a new digest too.
"""

import errno
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from kernwright import __version__
from kernwright.core.candidate import Candidate
from kernwright.core.digest import digest
from kernwright.core.errors import MachineFault, NewerJournal, RunLocked, UserError
from kernwright.core.jobs import JUDGE_VERSION
from kernwright.core.problem import Problem
from kernwright.store.blobs import Blobs
from kernwright.store.codec import decode, decode_candidate, encode
from kernwright.store.disk import made_writable
from kernwright.store.disk import writing as writing_for
from kernwright.store.locks import Locks

from .facts import Job, Manifest, Result, RunJobs

T = TypeVar("T")
FORMAT = 1
MANIFEST = "manifest.json"
BLOBS = "blobs"
AGAIN = "give the same command again"
"""What goes on with jobs, and with results, once the disk has room."""
LOCK = ".results"
LOCKLESS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
"""What file systems say that know no locks: some that clusters share do not."""
writing = partial(writing_for, chosen_by="-o", remedy=AGAIN)


def require_writable(path: Path) -> None:
    """Make a folder, and write something to it that does not stay.

    Raises:
        UserError: it is no folder, or cannot be written.
        DiskFull: it has no room.
    """
    if path.exists() and not path.is_dir():
        raise UserError(f"{path} is a file, and a folder is needed; name another one with -o.")
    made_writable(path, chosen_by="-o", remedy=AGAIN)


def write(path: Path, fact: object, *, chosen_by: str = "-o") -> None:
    """Write a fact with its digest; the file appears whole or not at all. `chosen_by` says which folder it is in."""
    body = json.loads(encode(fact))
    plain = {
        "format": FORMAT,
        "kernwright": __version__,
        "is": type(fact).__name__.lower(),
        "digest": digest(body),
        "body": body,
    }
    with writing(path.parent, chosen_by=chosen_by):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(json.dumps(plain, indent=1) + "\n")
            Path(name).chmod(0o644)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def read(path: Path, kind: type[T]) -> T:
    """The fact of this kind that a file holds.

    Raises:
        UserError: it cannot be read, holds something else, or was changed after it was written.
    """
    what = kind.__name__.lower()
    try:
        plain: Any = json.loads(path.read_text(encoding="utf-8"))
        found, number, body, writer = plain["is"], plain["format"], plain["body"], plain["kernwright"]
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{path} is no {what} that Kernwright wrote, or was cut off; copy it again.") from None
    if not isinstance(number, int) or number > FORMAT:
        raise NewerJournal(f"{path} was written by Kernwright {writer}; update this one ({__version__}).")
    if found != what:
        raise UserError(f"{path} holds a {found}, where a {what} is needed; were the two folders mixed up?")
    if plain.get("digest") != digest(body):
        raise UserError(f"{path} was changed after it was written (its digest differs); copy it again.")
    try:
        return decode(kind, json.dumps(body))
    except MachineFault:
        raise UserError(
            f"{path} was written by Kernwright {writer}, whose form this one ({__version__}) does not know; use the "
            "same version on both machines."
        ) from None


def _what(path: Path) -> str:
    """What a file says that it holds; empty where it is none that Kernwright wrote, or was cut off."""
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["is"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


class JobFolder:
    """A folder of jobs with the problems and candidates that they need."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._blobs = Blobs(path / BLOBS, writing)
        self._claimed = False

    def manifest(self) -> Manifest | None:
        """What it holds; None where it is not there yet.

        Raises:
            UserError: it is there and no folder of jobs, or was written for another version of the judge.
        """
        path = self.path / MANIFEST
        if not path.is_file():
            return None
        manifest = read(path, Manifest)
        if manifest.judge_version != JUDGE_VERSION:
            raise UserError(
                f"The jobs in {self.path} are for version {manifest.judge_version} of the judge and this is version "
                f"{JUDGE_VERSION}, whose verdicts may differ; use the same Kernwright ({manifest.kernwright}) on both "
                "machines, or export them anew into another folder."
            )
        return manifest

    def put(self, run: str, entry: RunJobs, jobs: Mapping[str, Job], blobs: Iterable[bytes]) -> None:
        """Have exactly these jobs of one run; those of others stay.

        Raises:
            UserError: the folder holds what is no job, or cannot be written; nothing was touched.
            DiskFull: it has no room.
        """
        old = self.manifest()
        self._claim(old)
        before = old.runs.get(run) if old else None
        for data in blobs:
            self._blobs.put(data)
        for id, job in jobs.items():
            write(self._path(id), job)
        runs = {**(old.runs if old else {}), run: entry}
        write(self.path / MANIFEST, Manifest(kernwright=__version__, judge_version=JUDGE_VERSION, runs=runs))
        for id in set(before.jobs if before else ()) - set(jobs):
            self._path(id).unlink(missing_ok=True)

    def jobs(self) -> tuple[Job, ...]:
        """All of them.

        Raises:
            UserError: it is no folder of jobs, or one of them is missing or was changed.
        """
        manifest = self.manifest()
        if manifest is None:
            raise UserError(
                f"{self.path} is no folder of jobs; write one with: kernwright jobs export RUN -o {self.path}"
            )
        return tuple(self._job(id) for entry in manifest.runs.values() for id in entry.jobs)

    def problem(self, job: Job) -> Problem:
        """The problem of a job; raises UserError where it is missing or another one."""
        problem = decode(Problem, self._blob(job.problem_blob))
        if problem.id != job.problem:
            raise UserError(f"The problem of job {job.id} is another one than it says; export the jobs again.")
        return problem

    def candidate(self, blob: str) -> Candidate:
        """The candidate of a blob; raises UserError where it is missing or damaged."""
        return decode_candidate(self._blob(blob))

    def _claim(self, manifest: Manifest | None) -> None:
        """Once for this object: a folder of many runs' jobs takes long to look through."""
        if self._claimed:
            return
        named = {id for entry in manifest.runs.values() for id in entry.jobs} if manifest else set()
        with writing(self.path):
            for path in sorted(self.path.iterdir()) if self.path.is_dir() else ():
                if path.name in (MANIFEST, BLOBS) or path.name.startswith("."):
                    continue
                what = _what(path) if path.suffix == ".json" else ""
                # A job whose file was damaged is ours all the same; and beside jobs there may be a note on them.
                if what == "job" or (not what and (path.stem in named or (manifest and path.suffix != ".json"))):
                    continue
                raise UserError(
                    f"{self.path} holds {path.name}, {f'a {what}' if what else 'which is no job'}. Nothing was "
                    "written; name an empty folder, or one that `jobs export` wrote, with -o."
                )
        require_writable(self.path)
        self._claimed = True

    def _job(self, id: str) -> Job:
        if not self._path(id).is_file():
            raise UserError(
                f"{self.path} lacks {self._path(id).name}, which its manifest names; copy the whole folder again. "
                "To do some of the jobs, choose their runs with --run."
            )
        job = read(self._path(id), Job)
        if job.id != id:
            raise UserError(f"{self._path(id)} holds job {job.id}; export the jobs again.")
        return job

    def _blob(self, id: str) -> bytes:
        try:
            return self._blobs.get(id)
        except (KeyError, MachineFault):
            raise UserError(
                f"The folder {self.path} lacks blob {id}, or holds a damaged one; copy the whole folder again."
            ) from None

    def _path(self, id: str) -> Path:
        return self.path / f"{id}.json"


class ResultFolder:
    """A folder of results, one file for each job."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def held(self) -> Iterator[None]:
        """Be the only one who does jobs into this folder, which is made, until the end of the block.

        Where the file system knows no locks, nobody is kept out.

        Raises:
            RunLocked: another process does, here or on a machine that shares the folder.
            UserError: it is a folder of jobs, or cannot be written.
            DiskFull: it has no room.
        """
        if (self.path / MANIFEST).is_file():
            raise UserError(f"{self.path} is a folder of jobs; keep results in another one with -o.")
        require_writable(self.path)
        with ExitStack() as stack:
            try:
                stack.enter_context(Locks(self.path, writing).hold(LOCK))
            except RunLocked:
                raise RunLocked(
                    f"Another `kernwright jobs run` writes to {self.path}, here or on a machine that shares the "
                    "folder; wait for it to end, or keep these results in another one with -o."
                ) from None
            except OSError as error:
                if error.errno not in LOCKLESS:
                    raise
            yield

    def write(self, result: Result) -> None:
        """Keep a result, in place of an earlier one of the same job."""
        write(self._path(result.job.id), result)

    def get(self, id: str) -> Result | None:
        """The result of a job; None where there is none, raises UserError where it was changed."""
        return read(self._path(id), Result) if self._path(id).is_file() else None

    def all(self) -> Iterator[tuple[Path, Result]]:
        """Every result with its file; raises UserError where there is none, or one was changed."""
        paths = sorted(self.path.glob("*.json"))
        if not paths and self.path.is_dir():
            raise UserError(
                f"{self.path} holds no result: no job was finished; give them more time with: kernwright jobs run "
                f"JOBS -o {self.path} --limit 30m"
            )
        if not paths or (self.path / MANIFEST) in paths:
            raise UserError(
                f"{self.path} is no folder of results; make one with: kernwright jobs run JOBS -o {self.path}"
            )
        for path in paths:
            yield path, read(path, Result)

    def _path(self, id: str) -> Path:
        return self.path / f"{id}.json"
