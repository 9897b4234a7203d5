"""Packs on disk: folders of Markdown notes, each with an index that people read."""

import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernwright.core.digest import digest
from kernwright.core.errors import UserError
from kernwright.core.note import Note, Pack

from .documents import Broken, parsed, written

BUILT_IN = "kernwright"
"""Name of the pack that is part of the package."""
INDEX = "INDEX.md"
NOT_NOTES = frozenset({INDEX, "README.md"})
LARGEST = 64 << 10
"""Bytes of a file: a note is a page, not a book."""
MOST = 5_000
"""Files of a pack."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a folder holds."""

    name: str
    folder: Path
    notes: tuple[Note, ...]
    faults: tuple[Broken, ...] = ()
    """Files that are no notes; everything else of the folder counts."""

    @property
    def pack(self) -> Pack:
        """The folder as it was read."""
        return Pack(path=str(self.folder), digest=digest(self.notes))


def built_in() -> Path:
    """The folder of the notes that come with Kernwright; it may be missing."""
    return Path(__file__).parent / "packs"


def read(folder: str | Path, name: str = "") -> Found:
    """Every note under a folder; the pack is called like the folder unless a name is given.

    Raises:
        UserError: there is no such folder, it holds no Markdown, or far too much.
    """
    root = Path(folder).expanduser().absolute()
    if root.exists() and not root.is_dir():
        raise UserError(
            f"{str(folder)!r} is a file, and a folder of knowledge is wanted; give the folder that it is in."
        )
    if not root.is_dir():
        raise UserError(f"There is no folder {str(folder)!r} of knowledge; give one with Markdown files in it.")
    paths = list(files(root))
    if not paths:
        raise UserError(f"The folder {shown(root)} holds no notes; Markdown files with front matter were expected.")
    found = read_files(root, paths, name or root.name)
    return Found(name or root.name, root, *found)


def read_built_in() -> Found:
    """The notes that come with Kernwright."""
    root = built_in()
    return Found(BUILT_IN, root, *read_files(root, list(files(root)), BUILT_IN))


def read_files(root: Path, paths: Sequence[Path], pack: str) -> tuple[tuple[Note, ...], tuple[Broken, ...]]:
    """These notes of a folder, and what is none."""
    notes: list[Note] = []
    faults: list[Broken] = []
    for path in paths:
        try:
            notes.append(_note(root, path, pack))
        except Broken as broken:
            faults.append(broken)
    return tuple(notes), tuple(faults)


def files(root: Path) -> Iterator[Path]:
    """Markdown files of a pack but its indexes, by name; hidden ones are left alone.

    Raises:
        UserError: there are more than a pack can have.
    """
    count = 0
    for folder, inside, names in os.walk(root):
        inside[:] = sorted(name for name in inside if not name.startswith((".", "_")))
        for name in sorted(names):
            if not name.endswith(".md") or name in NOT_NOTES or name.startswith("."):
                continue
            if (count := count + 1) > MOST:
                raise UserError(f"The folder {shown(root)} holds more than {MOST} notes; is it the one that you mean?")
            yield Path(folder, name)


def write(root: Path, note: Note) -> Path:
    """Keep a note in a pack, whole or not at all; its file. Raises OSError where that cannot be done."""
    path = root / f"{note.name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    _replace(path, written(note))
    return path


def write_indexes(root: Path, texts: Sequence[tuple[Path, str]]) -> None:
    """Put these in place of the indexes of a pack, each whole or not at all. Raises OSError where that cannot be done.

    Raises:
        UserError: something stands there that is no file; nothing is written then.
    """
    for path, _ in texts:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            where = shown(path.relative_to(root))
            raise UserError(
                f"{where} in {shown(root)} is a link, or no file at all; remove it, so that it can be written."
            )
    for path, text in texts:
        _replace(path, text)


def _replace(path: Path, text: str) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def name_of(root: Path, path: Path) -> str:
    """The name of the note in this file of a pack."""
    return path.relative_to(root).with_suffix("").as_posix()


def shown(path: Path) -> str:
    """A path as part of one printable line, whatever it is called."""
    text = str(path)
    return text if text.isprintable() else repr(text)[1:-1]


def text_of(path: Path) -> str:
    """What a file holds that may be a note.

    Raises:
        Broken: it is no file, too large, not text or not to be read.
    """
    where = shown(path)
    try:
        state = path.stat()
        # To open a pipe is to wait for whoever writes into it.
        if not stat.S_ISREG(state.st_mode):
            raise Broken(where, 1, "this is a pipe, a device or a folder; a file was expected.")
        if state.st_size > LARGEST:
            raise _too_large(where)
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise Broken(where, 1, "this is not UTF-8; Markdown in UTF-8 was expected.") from None
    except OSError as error:
        raise Broken(where, 1, f"the file cannot be read ({error.strerror}); a readable file was expected.") from None


def check(note: Note, where: str) -> None:
    """That a note can be read again once it is written.

    Raises:
        Broken: it cannot.
    """
    text = written(note)
    if len(text.encode()) > LARGEST:
        raise _too_large(where)
    try:
        parsed(text, note.name, where)
    except Broken as broken:
        said = (
            f"it could not be read again once it is kept ({broken.said.rstrip('.')}); leave odd characters out of it."
        )
        raise Broken(where, 1, said) from None


def _too_large(where: str) -> Broken:
    """The error for a file that is none of a note for its size."""
    return Broken(where, 1, f"the file has more than {LARGEST >> 10} KiB; a note of a page was expected.")


def _note(root: Path, path: Path, pack: str) -> Note:
    where, name = shown(path), name_of(root, path)
    # A name is told, printed and kept as text.
    if not name.isprintable():
        raise Broken(where, 1, f"the file is called {name!r}; a name of printable characters in UTF-8 was expected.")
    if path.is_symlink():
        raise Broken(where, 1, "this is a link; a file was expected, so that a pack holds what it shows.")
    return parsed(text_of(path), name, where, pack)
