"""Scores retrieval on labelled situations: `knowledge_recall.py LABELS.json [--half HALF] [-k 5] [--misses]`.

LABELS.json is `{"about": ..., "author": ..., "situations": [...]}`; a situation has

    id          a short name
    target      such as "cuda:sm_90a"
    languages   in which a candidate may be written, such as ["triton", "cuda"]
    language    of the kernel that is worked on; "" or left out at a start
    bottlenecks classes, the weightiest first; [] where nothing is known yet
    evidence    sentences with figures, as a diagnosis has them
    diagnosis   its text; may be left out
    failure     for a failure {"kind": "build_failed" | "wrong" | "crashed", "reason": ...}; else left out
    problem     the PyTorch source, or "file:PATH" of one
    name        of the problem, which counts as words do; may be left out
    precision   of the rules; strict_float32 where it is left out
    expected    names of the notes that should come, the weightiest first, at most as many as are looked at

and what is asked of the notes is made from that by the same code as in a run. Recall at k is the share of the expected
notes among the first k; the mean is over situations. `--misses` prints what came where something was missed.

`--half development` and `--half held-out` take the situations whose id hashes to an even or an odd number. Retrieval is
worked on with the misses of the development half alone, so that the other says what it is worth elsewhere; therefore
`--misses` is refused for anything but the development half.
"""

import argparse
import hashlib
import json
import statistics
from collections import defaultdict
from pathlib import Path
from typing import Any

from kernwright.core.diagnosis import Diagnosis
from kernwright.core.outcome import BuildFailed, Crashed, Outcome, Wrong
from kernwright.core.problem import Problem, Rules, Workload
from kernwright.engine import intake
from kernwright.engine.shelves import gathered
from kernwright.knowledge.library import Library
from kernwright.knowledge.situations import Situation

AIM = 0.85
HALVES = ("development", "held-out")
FAILURES = {"build_failed": BuildFailed, "wrong": Wrong, "crashed": Crashed}


def situation_of(plain: dict[str, Any]) -> Situation:
    """What is asked of the notes; raises ValueError for a key that is missing or unknown."""
    known = set(
        "id target languages language bottlenecks evidence diagnosis failure problem name precision expected".split()
    )
    if odd := set(plain) - known:
        raise ValueError(f"situation {plain.get('id')!r} has the keys {sorted(odd)}; known are {sorted(known)}")
    if missing := {"id", "target", "languages", "problem", "expected"} - set(plain):
        raise ValueError(f"situation {plain.get('id')!r} lacks {sorted(missing)}")
    bottlenecks = tuple(plain.get("bottlenecks", ()))
    evidence, text = tuple(plain.get("evidence", ())), plain.get("diagnosis", "")
    return Situation(
        problem=problem_of(plain),
        target=plain["target"],
        languages=tuple(plain["languages"]),
        language=plain.get("language", ""),
        diagnosis=Diagnosis(bottlenecks=bottlenecks, evidence=evidence, text=text) if bottlenecks or text else None,
        outcome=outcome_of(plain.get("failure")),
    )


def problem_of(plain: dict[str, Any]) -> Problem:
    """The problem by its source, or in a file."""
    text = plain["problem"]
    if text.startswith("file:"):
        return intake.problem_of(text.removeprefix("file:"))
    rules = Rules(precision=plain.get("precision", "strict_float32"))
    return Problem(name=plain.get("name", "problem"), source=text, workloads=(Workload(name="default"),), rules=rules)


def outcome_of(plain: dict[str, str] | None) -> Outcome | None:
    """How the kernel that is worked on failed; None where it did not."""
    if plain is None:
        return None
    extra = {} if plain["kind"] == "wrong" else {"log": ""}
    extra |= {"stage": "check"} if plain["kind"] == "crashed" else {}
    outcome: Outcome = FAILURES[plain["kind"]](reason=plain["reason"], **extra)
    return outcome


def half_of(id: str) -> str:
    """The half that a situation belongs to, by its id alone."""
    return HALVES[int(hashlib.sha256(id.encode()).hexdigest(), 16) % 2]


def main() -> None:
    """Score, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labels", type=Path)
    parser.add_argument("--knowledge", type=Path, action="append", default=[])
    parser.add_argument("-k", type=int, default=5)
    parser.add_argument("--half", choices=(*HALVES, "all"), default="all")
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--out", type=Path, help="JSON with a row for each situation")
    asked = parser.parse_args()
    if asked.misses and asked.half != "development":
        parser.error("--misses shows the development half alone; give --half development with it")
    labels = json.loads(asked.labels.read_text(encoding="utf-8"))
    library = Library(gathered(None, asked.knowledge).notes)
    rows, by_bottleneck = [], defaultdict[str, list[float]](list)
    for plain in labels["situations"]:
        if asked.half not in ("all", half_of(plain["id"])):
            continue
        situation = situation_of(plain)
        if unknown := [name for name in plain["expected"] if library.read(name) is None]:
            raise SystemExit(f"situation {plain['id']!r} expects notes that are not there: {', '.join(unknown)}")
        found = [note.name for note in library.recall(situation.tags, situation.text, asked.k)]
        hits = [name for name in plain["expected"] if name in found]
        recall = len(hits) / len(plain["expected"])
        first = next((1 / place for place, name in enumerate(found, 1) if name in plain["expected"]), 0.0)
        rows.append({"id": plain["id"], "recall": recall, "reciprocal_rank": first, "found": found})
        by_bottleneck[next(iter(situation.bottlenecks), "none")].append(recall)
        if asked.misses and recall < 1:
            missed = [name for name in plain["expected"] if name not in found]
            print(f"{plain['id']}: missed {', '.join(missed)}; came {', '.join(found)}; asked {situation.tags}")
    for name, values in sorted(by_bottleneck.items()):
        print(f"{name:<20} {statistics.mean(values):.3f}  ({len(values)} situations)")
    mean = statistics.mean(row["recall"] for row in rows)
    rank = statistics.mean(row["reciprocal_rank"] for row in rows)
    whole = sum(row["recall"] == 1 for row in rows)
    print(f"recall@{asked.k} {mean:.3f} (aim: at least {AIM}); all found in {whole} of {len(rows)} situations")
    print(f"reciprocal rank {rank:.3f}, {len(library.told())} notes")
    if asked.out:
        summary = {"k": asked.k, "recall": mean, "reciprocal_rank": rank, "notes": len(library.told()), "rows": rows}
        asked.out.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
