"""How long it takes to find notes among 500 and to assemble a brief: `python benchmarks/knowledge.py [NOTES]`.

The notes are those that come with Kernwright, and variations on them up to the number. Situations are the examples'
problems under every class of bottleneck. A brief is of a run of 45 nodes under the default method, taken from a journal
on disk by an engine that has made one before (`warm`, every node's once), and by one that has not (`first`, the last
node's: reading the frozen notes and indexing them included). `prompt` adds rendering it.
"""

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from environment import environment
from fold import journal as events_of

from kernwright.core.diagnosis import Diagnosis
from kernwright.core.events import Drafted, RunStarted
from kernwright.core.note import Note
from kernwright.core.problem import Problem
from kernwright.core.spec import RunSpec
from kernwright.engine import intake, methods
from kernwright.engine.briefs import brief_of
from kernwright.engine.journal import Journal
from kernwright.engine.shelves import frozen
from kernwright.knowledge.folders import read, read_built_in, write
from kernwright.knowledge.library import Library
from kernwright.knowledge.passages import told
from kernwright.knowledge.situations import Situation
from kernwright.knowledge.vocabulary import BOTTLENECKS
from kernwright.search.operators.rendering import prompt_of
from kernwright.store.codec import encode_candidate
from kernwright.store.sql import SqlStore
from kernwright.testing.scripted import scripted

ROOT = Path(__file__).parents[1]
NOTES, NODES, TARGET = 500, 45, "cpu:x86-64-v4"
RETRIEVAL_MS, BRIEF_MS = 20.0, 50.0


def notes(count: int) -> list[Note]:
    """So many, of which no two are alike."""
    found = list(read_built_in().notes or read(ROOT / "tests" / "null" / "pack").notes)
    rng = random.Random(0)
    words = [word for note in found for word in note.text.split()]
    tags = sorted({tag for note in found for tag in note.tags})
    while len(found) < count:
        note = rng.choice(found)
        text = "\n".join(" ".join(rng.choices(words, k=len(line.split()))) for line in note.text.splitlines())
        found.append(
            replace(
                note,
                name=f"guidance/made-{len(found)}",
                title=f"{note.title[:60]} {len(found)}",
                text=text,
                tags=(*dict.fromkeys(rng.choices(tags, k=4)), "made"),
                bottlenecks=tuple(rng.sample(BOTTLENECKS, k=rng.randint(0, 3))),
            )
        )
    return found[:count]


def situations(problems: Sequence[Problem]) -> list[Situation]:
    """Every problem under every class of bottleneck."""
    return [
        Situation(
            problem=problem,
            target=TARGET,
            languages=("cpp", "torch"),
            language="cpp",
            diagnosis=Diagnosis(bottlenecks=(each, "latency"), evidence=("read bytes 92 % of peak, 1.2 GB a call",)),
        )
        for problem in problems
        for each in BOTTLENECKS
    ]


def timed(calls: Sequence[Callable[[], Any]]) -> list[tuple[float, float]]:
    """Milliseconds of each, by the clock on the wall and of this process's own."""
    taken = []
    for call in calls:
        wall, own = time.perf_counter(), time.process_time()
        call()
        taken.append(((time.perf_counter() - wall) * 1e3, (time.process_time() - own) * 1e3))
    return taken


def said(name: str, taken: Sequence[tuple[float, float]], limit: float | None = None) -> None:
    """A line of figures."""
    ordered = sorted(wall for wall, _ in taken)
    own = statistics.median(own for _, own in taken)
    most = ordered[int(0.95 * len(ordered))]
    aim = f"  (aim: at most {limit:g} ms)" if limit is not None else ""
    print(
        f"{name:<22} median {statistics.median(ordered):6.2f} ms, 95 % below {most:6.2f} ms, "
        f"worst {ordered[-1]:6.2f} ms; of the processor {own:6.2f} ms{aim}"
    )


def run(home: Path, folder: Path, problem: Problem) -> str:
    """A journal of so many nodes whose last one waits for its brief."""
    store = SqlStore(home)
    plain = methods.applied(methods.load(methods.DEFAULT), {})
    spec = RunSpec(**{**plain, "target": TARGET, "knowledge": intake.packs_of([str(folder)]), "languages": ("cpp",)})
    store.append("run", RunStarted(spec=spec, problem=problem, knowledge=frozen(home, spec, store)))
    for event in events_of(NODES):
        if isinstance(event, RunStarted):
            continue
        if isinstance(event, Drafted):
            text = f"NODE = {event.node}\n" + "x = 1\n" * 120
            blob = store.put(encode_candidate(scripted(text)))
            draft: Any = replace(
                event.draft, candidate=blob, approach="one pass over each row", insights=(f"lesson {event.node}",)
            )
            event = replace(event, draft=draft)
        store.append("run", event)
    store.close()
    return "run"


def main() -> None:
    """Build, measure, print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else NOTES
    problems = [intake.problem_of(path) for path in sorted((ROOT / "examples").glob("*.py"))]
    with tempfile.TemporaryDirectory() as name:
        home, folder = Path(name) / "home", Path(name) / "pack"
        for note in notes(count):
            write(folder, replace(note, learned=None))
        library = Library(read(folder).notes)
        asked = situations(problems)
        said("index of the notes", timed([lambda: library.recall((), "first", 1)]))
        said(f"find among {count}", timed([lambda s=s: told(library, s, 3000) for s in asked]), RETRIEVAL_MS)
        home.mkdir()
        made = run(home, folder, problems[0])
        store = SqlStore(home)
        journals = [Journal(store, made) for _ in range(10)]
        said("brief, first", timed([lambda j=j: brief_of(j, NODES - 1) for j in journals]))
        warm = journals[0]
        # Each of its own node: what was asked of the notes just before is remembered.
        said("brief, warm", timed([lambda n=n: brief_of(warm, n) for n in range(NODES)]), BRIEF_MS)
        other = journals[1]
        said("brief and prompt", timed([lambda n=n: prompt_of(brief_of(other, n)) for n in range(NODES)]), BRIEF_MS)
        brief = brief_of(warm, NODES - 1)
        store.close()
    print(f"The brief holds {len(brief.knowledge)} notes and names {len(brief.further)} more.")
    print(environment())


if __name__ == "__main__":
    main()
