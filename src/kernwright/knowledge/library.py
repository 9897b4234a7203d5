"""Everything that may be told, as one collection: the seam `Knowledge`."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date

from kernwright.core.note import Note

from .index import Index
from .merging import merged, standing

Keep = Callable[[Note], None]


class Library:
    """Notes of several packs; one of a later pack stands in place of an earlier one's of the same name."""

    def __init__(
        self, notes: Iterable[Note], today: str = "", keep: Keep = lambda note: None, image: bytes = b""
    ) -> None:
        """`today` is the day on which notes may have expired; `keep` gets every note that learning makes or changes;
        `image` is the index of the same notes on the same day."""
        self._today = today or date.today().isoformat()
        self._keep = keep
        self._notes = {note.name: note for note in notes}
        self._image = image
        self._index: Index | None = None

    @property
    def notes(self) -> Sequence[Note]:
        """All of them, those that are not told any more too."""
        return tuple(self._notes.values())

    def told(self) -> Sequence[Note]:
        """Those that are recalled: not expired, not contradicted by a newer one, not refuted."""
        return standing(self._notes.values(), self._today)

    def recall(self, tags: Sequence[str], text: str, k: int) -> Sequence[Note]:
        """The k notes that say most about this; `tags` in order of weight, as `index.taken_apart` reads them."""
        return [note for _, note in self.scored(tags, text, k)]

    def scored(self, tags: Sequence[str], text: str, k: int) -> Sequence[tuple[float, Note]]:
        """The same with their scores."""
        return self._indexed().ranked(tags, text, k)

    def image(self) -> bytes:
        """The index of the notes that are told, to be kept."""
        return self._indexed().image()

    def read(self, name: str) -> Note | None:
        """The note of this name, told or not; with `.md` behind it too."""
        return self._notes.get(name.strip().removesuffix(".md"))

    def learn(self, note: Note) -> None:
        """Take a note in: it confirms one that says the same, stands in place of an older one that says the opposite,
        or gives way to a newer one."""
        for changed in merged(self._notes.values(), note):
            self._notes[changed.name] = changed
            self._keep(changed)
        self._index, self._image = None, b""

    def count(self, name: str, *, confirmed: int = 0, refuted: int = 0) -> Note | None:
        """Note how a learnt note fared where it was told; as it is then."""
        note = self._notes.get(name)
        if note is None or note.learned is None:
            return None
        learned = note.learned
        counted = replace(
            note,
            learned=replace(learned, confirmed=learned.confirmed + confirmed, refuted=learned.refuted + refuted),
        )
        self._notes[name] = counted
        self._keep(counted)
        self._index, self._image = None, b""
        return counted

    def _indexed(self) -> Index:
        if self._index is None:
            self._index = Index(self.told(), self._image)
        return self._index
