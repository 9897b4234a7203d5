"""Programs that read compiled code: where they are, and what they say, within limits."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

LIMIT_S = 30.0
MOST_BYTES = 64 << 20
LONGEST_NAME = 80


class Silent(Exception):
    """A tool says nothing; the text is why, as a sentence without its end."""


def place_of(name: str, folders: Sequence[Path] = ()) -> str:
    """The path of a program: on PATH, in these folders, or in a package that brings it along.

    Raises:
        Silent: it is not installed.
    """
    if found := shutil.which(name):
        return found
    for folder in (*folders, *packaged()):
        if (path := folder / name).is_file() and os.access(path, os.X_OK):
            return str(path)
    raise Silent(f"{name} is not installed")


def packaged() -> Iterator[Path]:
    """Folders in which Python packages keep programs."""
    for package, pattern in (("nvidia", "*/bin"), ("triton", "backends/*/bin")):
        try:
            spec = find_spec(package)
        except (ImportError, ValueError):
            continue
        for place in (spec and spec.submodule_search_locations) or ():
            yield from sorted(Path(place).glob(pattern))


def said(command: Sequence[str], limit_s: float = LIMIT_S) -> str:
    """What a program writes, the first 64 MiB of it.

    Raises:
        Silent: it fails, takes too long, or cannot be started.
    """
    name = Path(command[0]).name
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        try:
            code = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=errors, timeout=limit_s, check=False
            ).returncode
        except subprocess.TimeoutExpired:
            raise Silent(f"{name} took longer than {limit_s:g} s") from None
        except OSError as error:
            raise Silent(f"{name} cannot be started ({error.strerror})") from None
        out.seek(0)
        text = out.read(MOST_BYTES).decode(errors="replace")
        errors.seek(0)
        if code:
            why = (errors.read(4000).decode(errors="replace").strip() or text.strip()).splitlines()
            raise Silent(f"{name} failed with status {code}" + (f": {why[0][:200]}" if why else ""))
        return text


def plain(name: str) -> str:
    """A function's name that a report can show, whatever stands in it."""
    return re.sub(r"[^\w.:<>,*&() -]", "?", name)[:LONGEST_NAME] or "?"
