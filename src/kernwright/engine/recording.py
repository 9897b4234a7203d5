"""A run's journal as one file that can be replayed."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kernwright.core.brief import Proposed
from kernwright.core.events import Drafted, ModelCalled, RunStarted
from kernwright.core.ports import Store
from kernwright.search.operators.replay import FORMAT
from kernwright.store.codec import encode

SAMPLES = ("samples", "first_samples")
"""Lists of raw times in a journal."""


def export_recording(store: Store, run: str, path: Path, *, author: str = "", samples: bool = True) -> None:
    """Write the journal and its candidates; without `samples`, raw times are left out (they are most of it)."""
    lines = list(_lines(store, run, author, samples))
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")


def _lines(store: Store, run: str, author: str, samples: bool) -> Iterator[dict[str, Any]]:
    seen: set[str] = set()
    for entry in store.events(run):
        blobs: tuple[str, ...] = ()
        texts: tuple[str, ...] = ()
        match entry.event:
            case RunStarted(spec=spec, problem=problem, start=blobs) as started:
                made = datetime.fromtimestamp(entry.at, UTC).isoformat(timespec="seconds")
                yield {"recording": FORMAT, "author": author or spec.author, "made": made, "problem": problem.name}
                # A recording goes to other machines, where this one's folders are nobody's business.
                packs = tuple(replace(pack, path=Path(pack.path).name) for pack in spec.knowledge)
                elsewhere = replace(
                    started,
                    problem=replace(problem, origin=Path(problem.origin).name),
                    spec=replace(spec, knowledge=packs),
                )
                entry = replace(entry, event=elsewhere)
            case Drafted(draft=Proposed(candidate=blob)):
                blobs = (blob,)
            case ModelCalled(prompt=prompt, reply=reply):
                texts = (prompt, reply)
        for blob in blobs:
            if blob not in seen:
                seen.add(blob)
                yield {"blob": blob, "candidate": json.loads(store.get(blob))}
        for text in texts:
            if text and text not in seen:
                seen.add(text)
                yield {"text": text, "value": json.loads(store.get(text))}
        plain = json.loads(encode(entry))
        yield {"entry": plain if samples else _without_samples(plain)}


def _without_samples(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: [] if key in SAMPLES and isinstance(inner, list) else _without_samples(inner)
            for key, inner in value.items()
        }
    return [_without_samples(inner) for inner in value] if isinstance(value, list) else value
