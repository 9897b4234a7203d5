"""What a run may be told: gathered and frozen when it begins, the same ever after."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

from kernwright.core.errors import MachineFault, UserError
from kernwright.core.note import Note, Pack, PackCopy, Shelf
from kernwright.core.ports import Store
from kernwright.core.spec import RunSpec
from kernwright.knowledge.documents import Broken
from kernwright.knowledge.folders import Found, read, read_built_in, read_files
from kernwright.knowledge.folders import files as files_of
from kernwright.knowledge.library import Library
from kernwright.store.codec import decode, encode

OWN = "home"
"""Name of the pack of a home: what its runs have learnt, and what was added to it."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """Packs in the order in which later ones stand in place of earlier ones."""

    packs: tuple[Found, ...]

    @property
    def notes(self) -> tuple[Note, ...]:
        """All of them."""
        return tuple(note for pack in self.packs for note in pack.notes)

    @property
    def faults(self) -> tuple[Broken, ...]:
        """Files that are no notes."""
        return tuple(fault for pack in self.packs for fault in pack.faults)


def gathered(home: Path | None, folders: Iterable[str | Path] = (), *, built_in: bool = True) -> Gathered:
    """What comes with Kernwright unless that is to be left out, what the home has learnt, where one is given, and these
    folders.

    Raises:
        UserError: a folder is not there, holds no notes, or is named twice.
    """
    own, given = [of_home(home)] if home is not None else [], [*map(read, folders)]
    _require_names(given)
    return Gathered((*([_built_in()] if built_in else []), *own, *given))


def own_folder(home: Path) -> Path:
    """Where a home keeps its notes."""
    return home / "knowledge"


def of_home(home: Path) -> Found:
    """What a home's runs have learnt, and what was added to it; nothing where there is no such folder."""
    folder = own_folder(home)
    return Found(OWN, folder, *read_files(folder, list(files_of(folder)), OWN))


def packs_of(folders: Sequence[str | Path]) -> tuple[Pack, ...]:
    """These folders as settings of a run, with what they hold now.

    Raises:
        UserError: a folder is not there, holds no notes, or is named twice.
    """
    found = [read(folder) for folder in folders]
    _require_names(found)
    return tuple(pack.pack for pack in found)


def _require_names(found: Sequence[Found]) -> None:
    names = [pack.name for pack in found]
    for name in names:
        if names.count(name) > 1:
            raise UserError(
                f"Two folders of knowledge are called {name!r}; rename one, so that notes can be told apart."
            )


def frozen(home: Path, spec: RunSpec, store: Store) -> str:
    """Keep what a run with these settings may be told; the blob, empty where its method tells nothing.

    Raises:
        UserError: a folder is not there any more, or has changed since it was named.
    """
    reads = any(operator.settings.get("reads") for operator in spec.operators)
    if not (spec.guidance.knowledge_tokens or spec.knowledge or reads):
        return ""
    own = home if spec.memory == "on" else None
    all_of_it = gathered(own, [pack.path for pack in spec.knowledge], built_in=spec.built_in)
    if changed := _changed(spec, all_of_it.packs):
        raise UserError(f"The notes in {changed} have changed since this was begun; restore them, or begin anew.")
    day = date.today().isoformat()
    # An engine's first brief is not to wait for an index that is the same each time.
    image = Library(all_of_it.notes, today=day).image() if all_of_it.notes else b""
    shelf = Shelf(
        packs=tuple(store.put(encode(PackCopy(name=f.name, notes=f.notes))) for f in all_of_it.packs if f.notes),
        day=day,
        first=tuple(found.name for found in all_of_it.packs if found.pack in spec.knowledge),
        skipped=tuple(map(str, all_of_it.faults)),
        index=store.put(image) if image else "",
    )
    return store.put(encode(shelf))


def shelf_of(store: Store, blob: str) -> Shelf:
    """What was kept."""
    return decode(Shelf, store.get(blob)) if blob else Shelf()


def library_of(store: Store, shelf: Shelf) -> Library | None:
    """The same, to be searched; None where it is nothing."""
    copies = (decode(PackCopy, store.get(blob)) for blob in shelf.packs)
    notes = [note for copy in copies for note in copy.notes]
    return Library(notes, today=shelf.day, image=_image(store, shelf)) if notes else None


def _image(store: Store, shelf: Shelf) -> bytes:
    """Of the index; nothing where it was not kept, as it can be made anew."""
    try:
        return store.get(shelf.index) if shelf.index else b""
    except (KeyError, MachineFault):
        return b""


def changes(spec: RunSpec) -> str:
    """A sentence where folders of a run are not any more what they were when it began; empty where they are."""
    for pack in spec.knowledge:
        try:
            same = read(pack.path).pack.digest == pack.digest
        except UserError:
            same = False
        if not same:
            return (
                f"The notes in {pack.path} are not what they were when this run began; it goes on with those that it "
                "began with."
            )
    return ""


def _changed(spec: RunSpec, found: Sequence[Found]) -> str:
    named = {pack.path: pack.digest for pack in spec.knowledge}
    there = ((str(each.folder), each) for each in found)
    return next((path for path, each in there if path in named and each.pack.digest != named[path]), "")


@cache
def _built_in() -> Found:
    return read_built_in()
