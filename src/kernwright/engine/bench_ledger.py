"""What a bench has begun: lines in a file of the home, so that calling it again goes on where it stopped."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from kernwright.core.errors import MachineFault, UserError
from kernwright.core.jobs import JUDGE_VERSION
from kernwright.core.problem import Scalar
from kernwright.core.spec import RunSpec
from kernwright.store.codec import decode, encode
from kernwright.store.disk import writing
from kernwright.store.locks import Locks


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What has to stay the same while a bench goes on."""

    source: str
    """Name of the source of problems."""
    spec: RunSpec
    rules: dict[str, Scalar] = field(default_factory=dict)
    given: bool = False
    """Whether each problem's run begins with candidates from a folder."""
    judge: str = JUDGE_VERSION
    kind: Literal["settings"] = "settings"


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A problem has its run; how far that is, the run's own journal says."""

    key: str
    problem: str
    """Id of the problem as it was then."""
    run: str
    start: tuple[str, ...] = ()
    """Ids of the candidates that the run began with."""
    kind: Literal["begun"] = "begun"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A problem cannot be judged; it is not tried again unless asked for, or mended."""

    key: str
    problem: str
    reason: str
    kind: Literal["refused"] = "refused"


Line = Settings | Begun | Refused
FOLDERS = {"bench": "benches", "comparison": "comparisons"}


class Ledger:
    """The lines of one bench, appended as things happen."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.settings: Settings | None = None
        self.known: dict[str, Begun | Refused] = {}
        """By problem: the last line about it."""
        self._has_runs = False
        self._read()

    def write(self, line: Line) -> None:
        """Durable once it returns.

        Raises:
            MachineFault: the disk is full or failed.
        """
        with writing(self._path.parent), self._path.open("ab") as file:
            file.write(encode(line) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self._take(line)

    def settle(self, name: str, settings: Settings) -> None:
        """Begin with these settings, or go on with them; while no run was made, others may take their place.

        Raises:
            UserError: runs of the bench were made with others.
        """
        if self.settings is None or (settings != self.settings and not self._has_runs):
            self.write(settings)
            return
        old, new = (_flat(json.loads(encode(each))) for each in (self.settings, settings))
        changed = [f"{key} {old.get(key)!r}, now {new.get(key)!r}" for key in new if old.get(key) != new[key]]
        changed += [f"{key} {old[key]!r}, now none" for key in old if key not in new]
        if changed:
            raise UserError(
                f"The bench {name!r} was begun with other settings: {'; '.join(changed)}. Give the old ones to go on "
                "with it, or another --name to begin a new one."
            )

    def _read(self) -> None:
        if not self._path.is_file():
            return
        with writing(self._path.parent):
            data = self._path.read_bytes()
        whole, newline, rest = data.rpartition(b"\n")
        if rest:  # cut short by a kill: it was never promised
            with writing(self._path.parent):
                os.truncate(self._path, len(whole) + len(newline))
        for line in whole.splitlines():
            try:
                self._take(decode(Line, line))  # type: ignore[arg-type]
            except MachineFault as error:
                raise UserError(
                    f"{self._path} is not what a bench wrote ({error}); give another --name, or remove the file."
                ) from error

    def _take(self, line: Line) -> None:
        if isinstance(line, Settings):
            self.settings, self.known = line, {}  # what was refused was so under the settings before
        else:
            self.known[line.key] = line
            self._has_runs = self._has_runs or isinstance(line, Begun)


@contextmanager
def opened(home: Path, name: str, kind: str = "bench") -> Iterator[Ledger]:
    """The ledger of this bench, or comparison, held so that no second process works on it.

    Raises:
        RunLocked: another process does.
        UserError: the name cannot be a file's.
    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
        raise UserError(f"{name!r} cannot be a {kind}'s name; use up to 64 letters, digits, dots, dashes and _.")
    folder = home / FOLDERS[kind]
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with Locks(folder).hold(name):
        yield Ledger(folder / f"{name}.jsonl")


def _flat(value: Any, where: str = "") -> dict[str, Any]:
    if not isinstance(value, dict):
        return {where: value}
    found: dict[str, Any] = {}
    for key, inner in value.items():
        found |= _flat(inner, f"{where}.{key}" if where and where != "spec" else key)
    return found
