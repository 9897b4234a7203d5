"""Candidates from a recording, in the order in which they were made.

A recording is a run's journal in one file of JSON lines: first `{"recording": 1, "author": ...,
"made": ..., "problem": ...}`, then `{"blob": id, "candidate": {...}}`, `{"text": id, "value": {...}}`
of prompts and replies, and `{"entry": {...}}`.
"""

import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from kernwright.core.brief import Brief, Draft, Exhausted, Intent, Proposed
from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.errors import NewerJournal, UserError, unknown_name
from kernwright.core.ports import OperatorContext
from kernwright.search.knobs import knob_names

FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One candidate of a recording, with who wrote it."""

    candidate: Candidate
    summary: str
    author: str


class Replay:
    """Each recorded candidate once, as a start: its recorded parents are not in this run."""

    name = "replay"
    intents: frozenset[Intent] = frozenset({"start"})
    reads = False

    def __init__(self, context: OperatorContext, *, recording: str) -> None:
        """`recording` is a path, or the name of one that is part of the package.

        Raises:
            UserError: there is no such recording, or it is none.
        """
        self._context = context
        used = {item for operator, item in context.used if operator == self.name}
        entries = enumerate(read_recording(recording))
        self._left = [(str(index), entry) for index, entry in entries if str(index) not in used]

    async def propose(self, brief: Brief) -> Draft:
        """The next one, labelled with its author."""
        if not self._left:
            return Exhausted(operator=self.name, intent=brief.intent)
        item, entry = self._left.pop(0)
        return Proposed(
            candidate=self._context.put(entry.candidate),
            operator=self.name,
            item=item,
            summary=entry.summary,
            author=entry.author,
            knobs=knob_names(entry.candidate),
        )


def read_recording(recording: str) -> tuple[Recorded, ...]:
    """What a recording proposes, in order.

    Raises:
        UserError: there is no such recording, or it is none.
    """
    lines = _text(recording).splitlines()
    try:
        header = json.loads(lines[0])
        if header["recording"] > FORMAT:
            raise NewerJournal(f"The recording {recording!r} was made by a newer Kernwright; update this one.")
        blobs: dict[str, Any] = {}
        drafts = []
        for line in map(json.loads, lines[1:]):
            if "blob" in line:
                blobs[line["blob"]] = line["candidate"]
            elif "text" in line:
                continue  # of a model, which its own replay answers with
            elif (event := line["entry"]["event"])["kind"] == "drafted" and event["draft"]["kind"] == "proposed":
                drafts.append(event["draft"])
        return tuple(
            Recorded(
                candidate=_candidate(blobs[draft["candidate"]]),
                summary=draft["summary"],
                author=draft["author"] or header["author"],
            )
            for draft in drafts
        )
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"{recording!r} is not a recording ({type(error).__name__}: {error}); "
            "make one with: kernwright export RUN --recording FILE"
        ) from None


def _text(recording: str) -> str:
    if "/" not in recording and not recording.endswith(".jsonl"):
        folder = files("kernwright.search.operators") / "recordings"
        inside = folder / f"{recording}.jsonl"
        if not inside.is_file():
            names = [f.name.removesuffix(".jsonl") for f in folder.iterdir()] if folder.is_dir() else []
            raise unknown_name("recording", recording, names)
        return inside.read_text(encoding="utf-8")
    try:
        return Path(recording).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"The recording {recording!r} cannot be read: {error}.") from None


def _candidate(plain: Any) -> Candidate:
    parts = tuple(SourceFile(name=file["name"], text=file["text"]) for file in plain["files"])
    return Candidate(language=plain["language"], files=parts)
