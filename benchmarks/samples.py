"""Judges the sample kernels of the knowledge packs, each on its own problem, and keeps what came out.

    python benchmarks/samples.py                       every sample, here or emulated, full plan
    python benchmarks/samples.py --only cpp-softmax-block-max --plan quick
    python benchmarks/samples.py --knobs               also every value of every knob, one at a time, quickly

Samples for a device that is not here end in `checked`. A row is written as soon as it is there; rows of samples that
have not changed since are kept unless `--again`. The figure of one that was timed stands in its note's `evidence` too.
"""

import argparse
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kernwright import __version__, api
from kernwright.core.candidate import Candidate, SourceFile, knobs_of, with_knobs
from kernwright.core.digest import digest
from kernwright.core.outcome import Evaluation, timings_of

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = ROOT / "src" / "kernwright" / "knowledge" / "packs" / "samples"
AGAINST = {
    "eager": "PyTorch eager",
    "compile": "torch.compile",
    "mixed": "the faster of PyTorch eager and torch.compile",
}
HOME = Path(tempfile.gettempdir()) / "kernwright-samples-main"


def main() -> None:
    """Judge what is asked for; exit 1 where one is not right."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], help="names, or beginnings of names")
    parser.add_argument("--plan", default="full")
    parser.add_argument("--target", default=None, help="for samples that are not for the CPU")
    parser.add_argument("--knobs", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "samples.json")
    given = parser.parse_args()
    rows = json.loads(given.out.read_text()) if given.out.exists() else {}
    wrong = []
    for folder in sorted(path.parent for path in SAMPLES.glob("*/candidate.py")):
        if given.only and not folder.name.startswith(tuple(given.only)):
            continue
        key = files_of(folder)
        if not given.again and rows.get(folder.name, {}).get("files") == key and not given.knobs:
            continue
        row = judged(folder, folder / "candidate.py", given.plan, given.target)
        print(f"{folder.name}: {row['verdict']} {row['speedup']} {row['reason']}", flush=True)
        if given.knobs:
            wrong += settings(folder, given.target)
        else:
            rows[folder.name] = {"files": key, **row}
            given.out.write_text(json.dumps(rows, indent=1) + "\n")
        wrong += [folder.name] if row["verdict"] not in ("verified", "measured", "checked") else []
    raise SystemExit(f"not right: {', '.join(wrong)}" if wrong else 0)


def files_of(folder: Path) -> str:
    """What a row's `files` says while its sample has not changed."""
    return digest(tuple(sorted((path.name, path.read_text()) for path in folder.glob("*.*"))))


def said(row: Mapping[str, Any]) -> str:
    """A timed row's figure, as the sample's note gives it under `evidence`."""
    low, high = row["interval"]
    return f"{row['speedup']:.2f}x [{low:.2f}, {high:.2f}] against {AGAINST[row['baseline']]}"


def judged(folder: Path, candidate: Path, plan: str, target: str | None) -> dict[str, object]:
    """What the judge says of one."""
    asked = target if folder.name.startswith(("triton-", "cuda-")) else None
    evaluation = api.judge(folder / "problem.py", candidate, plan=plan, target=asked, home=HOME)
    return {"verdict": evaluation.outcome.kind, "reason": evaluation.outcome.reason, **figures(evaluation)}


def figures(evaluation: Evaluation) -> dict[str, object]:
    """Speedup with its interval where it was timed, and where that was."""
    timings = timings_of(evaluation.outcome)
    speedup = timings.speedup if timings else None
    return {
        "faster": bool(timings and timings.faster),
        "speedup": round(speedup.estimate, 3) if speedup else None,
        "interval": [round(speedup.low, 3), round(speedup.high, 3)] if speedup else None,
        "baseline": timings.baseline if timings else None,
        "threads": timings.threads if timings else None,
        "cache": timings.cache if timings else None,
        "target": evaluation.target,
        "machine": evaluation.machine,
        "torch": evaluation.environment.get("torch"),
        "kernwright": __version__,
    }


def settings(folder: Path, target: str | None) -> list[str]:
    """Each value of each knob, the others at their defaults; names of those that are not right."""
    names = [path.name for path in sorted(folder.glob("*.*")) if path.name not in ("candidate.py", "problem.py")]
    files = tuple(SourceFile(name=name, text=(folder / name).read_text()) for name in ("candidate.py", *names))
    candidate = Candidate(language="", files=files)
    wrong = []
    for knob in knobs_of(candidate):
        for value in knob.values:
            if value == knob.default:
                continue
            with tempfile.TemporaryDirectory() as scratch:
                for file in with_knobs(candidate, {knob.name: value}).files:
                    Path(scratch, file.name).write_text(file.text)
                row = judged(folder, Path(scratch, "candidate.py"), "quick", target)
            print(f"  {knob.name}={value}: {row['verdict']} {row['speedup']} {row['reason'][:200]}", flush=True)
            if row["verdict"] not in ("verified", "measured", "checked"):
                wrong.append(f"{folder.name} {knob.name}={value}")
    return wrong


if __name__ == "__main__":
    main()
