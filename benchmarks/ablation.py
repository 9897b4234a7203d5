"""What the arms of an ablation wrote, judged again side by side: `ablation.py RECORDINGS [--first 3] [--out FILE]`.

RECORDINGS holds one file `ARM-PROBLEM.jsonl` for each run (`ablation/README.md`); PROBLEM is one of `examples/`. Runs
were made at different times, on a machine at different work, so that their own figures cannot be compared. Here every
candidate of one problem meets the same warm eager baseline in one sitting, twice, in orders that mirror each other, and
its speed is the geometric mean of both. An arm's figure is that of the best among its first so many answers. With
`--out` a problem's rows are written when it is done, and problems that have theirs are not judged again.
"""

import argparse
import json
import math
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from environment import environment, placeless

from kernwright.core.candidate import Candidate
from kernwright.core.events import Drafted
from kernwright.core.jobs import JUDGE_VERSION
from kernwright.core.outcome import timings_of
from kernwright.core.plan import QUICK
from kernwright.engine import intake
from kernwright.evaluation.judge import Judge
from kernwright.platforms.cpu import Cpu
from kernwright.store.codec import decode_candidate, decode_event

ROOT = Path(__file__).parents[1]
ARMS = ("whole", "no-retrieval", "no-diagnosis", "no-memory", "no-tuning")
PLAN = replace(QUICK, baselines=("eager",))


@dataclass(slots=True)
class Answer:
    """One candidate of an arm."""

    arm: str
    number: int
    candidate: Candidate
    kinds: list[str] = field(default_factory=list)
    logs: list[float] = field(default_factory=list)

    @property
    def speedup(self) -> float | None:
        """Against eager; None where it was not right both times."""
        return math.exp(sum(self.logs) / len(self.logs)) if len(self.logs) == len(self.kinds) > 0 else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recordings", type=Path)
    parser.add_argument("--first", type=int, default=3, help="answers of each run that count")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    problems = sorted({path.stem.partition("-")[2] for path in arguments.recordings.glob("whole-*.jsonl")})
    about = {"judge_version": JUDGE_VERSION, "first": arguments.first}
    kept = json.loads(arguments.out.read_text()) if arguments.out and arguments.out.is_file() else {}
    rows = kept["rows"] if all(kept.get(name) == value for name, value in about.items()) else []
    for problem in problems:
        if any(each["problem"] == problem for each in rows):
            continue
        answers = [
            answer
            for arm in ARMS
            if (path := arguments.recordings / f"{arm}-{problem}.jsonl").exists()
            for answer in answers_of(path, arm, arguments.first)
        ]
        judge_all(problem, answers)
        rows += [row(problem, arm, [a for a in answers if a.arm == arm]) for arm in ARMS]
        if arguments.out:
            arguments.out.write_text(json.dumps({**about, "environment": environment(), "rows": rows}, indent=1) + "\n")
    print(table(rows))


def answers_of(path: Path, arm: str, first: int) -> Iterator[Answer]:
    """The first candidates that were told, in order."""
    blobs, told = {}, []
    for line in path.read_text().splitlines():
        entry = json.loads(line)
        if "blob" in entry:
            blobs[entry["blob"]] = decode_candidate(json.dumps(entry["candidate"]).encode())
        elif "entry" in entry:
            event = decode_event(json.dumps(entry["entry"]["event"]))
            if isinstance(event, Drafted) and event.draft.kind == "proposed" and event.draft.operator == "mailbox":
                told.append(event.draft.candidate)
    for number, name in enumerate(told[:first]):
        yield Answer(arm, number, blobs[name])


def judge_all(problem: str, answers: list[Answer]) -> None:
    """Every answer twice, the second time from the last to the first."""
    asked = intake.problem_of(str(ROOT / "examples" / f"{problem}.py"))
    with tempfile.TemporaryDirectory() as home:
        judge = Judge(home=home)
        try:
            for answer in [*answers, *reversed(answers)]:
                outcome = judge.evaluate(
                    intake.job_of(asked, answer.candidate, Cpu().targets()[0], PLAN, Path(home))
                ).outcome
                timings = timings_of(outcome)
                answer.kinds.append(outcome.kind)
                if timings is not None and timings.speedup_eager is not None:
                    answer.logs.append(math.log(timings.speedup_eager.estimate))
                print(f"{problem} {answer.arm} {answer.number}: {outcome.kind} {placeless(outcome.reason)}", flush=True)
        finally:
            judge.close()


def row(problem: str, arm: str, answers: list[Answer]) -> dict[str, Any]:
    """What an arm came to on one problem."""
    speeds = [answer.speedup for answer in answers]
    right = [speed for speed in speeds if speed is not None]
    return {
        "problem": problem,
        "arm": arm,
        "answers": len(answers),
        "right": len(right),
        "speedups": speeds,
        "best": max(right, default=None),
    }


def table(rows: list[dict[str, Any]]) -> str:
    """As Markdown: an arm a line, a problem a column, and the geometric mean of the best."""
    problems = list(dict.fromkeys(each["problem"] for each in rows))
    lines = [f"| arm | {' | '.join(problems)} | geometric mean | right |", f"|---|{'---|' * (len(problems) + 2)}"]
    for arm in ARMS:
        own = {each["problem"]: each for each in rows if each["arm"] == arm}
        bests = [own[problem]["best"] for problem in problems]
        known = [best for best in bests if best]
        mean = f"{math.exp(sum(map(math.log, known)) / len(known)):.2f}" if len(known) == len(problems) else "-"
        cells = " | ".join(f"{best:.2f}" if best else "-" for best in bests)
        right, of = (sum(own[problem][name] for problem in problems) for name in ("right", "answers"))
        lines.append(f"| {arm} | {cells} | {mean} | {right} of {of} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
