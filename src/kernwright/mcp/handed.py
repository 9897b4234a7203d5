"""Candidates as agents hand them in: a path, or files by name."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from .commands import Failed

Handed = str | dict[str, str]


@contextmanager
def as_path(candidate: Handed) -> Iterator[str]:
    """The path of its main file, which lies in a folder of its own for as long as this is held.

    Raises:
        Failed: the files are none, have folders in their names, or leave open which is the main one.
    """
    if isinstance(candidate, str):
        yield candidate
        return
    main = _main(candidate)
    with tempfile.TemporaryDirectory(prefix="kernwright-mcp-") as folder:
        for name, text in candidate.items():
            try:
                (Path(folder) / name).write_text(text, encoding="utf-8")
            except (OSError, ValueError) as error:
                raise Failed(f"The file {name[:60]!r} cannot be written: {error.args[-1]}.") from None
        yield str(Path(folder) / main)


def _main(files: Mapping[str, str]) -> str:
    for name in files:
        if not name or Path(name).name != name or not name.isprintable() or name.startswith("."):
            raise Failed(f"The file name {name!r} should be a plain name without folders, such as 'kernel.py'.")
    python = [name for name in files if name.endswith(".py")]
    if len(python) == 1:
        return python[0]
    if "candidate.py" in files:
        return "candidate.py"
    raise Failed(
        f"A candidate has one Python file with ModelNew or kernel, and beside it what that loads; "
        f"{', '.join(map(repr, files)) or 'no file'} came. Name the main one 'candidate.py'."
    )
