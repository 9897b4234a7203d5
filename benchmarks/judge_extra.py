"""What the judge takes per candidate beyond a plain harness, quick plan, warm.

A plain harness loads the file, compares one result with the reference's and takes as many timed samples of both, with
cold caches where the judge's are, in one process that trusts what it runs. Every candidate differs from every other in
one number, so that each is compiled, by both. Writes a row per candidate as it goes; called again with the same --out
it goes on until there are as many as asked for.
"""

import argparse
import json
import math
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

from environment import environment

from kernwright import __version__
from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.jobs import JUDGE_VERSION
from kernwright.core.outcome import Evaluation, timings_of
from kernwright.core.plan import QUICK
from kernwright.engine import intake
from kernwright.engine.targets import target_of
from kernwright.evaluation.judge import Judge
from kernwright.problems.file import problem_in

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "judge_extra.json"
AIM_S = 2.0
WAIT = "wait"
"""For the machine-wide lease, while another judge runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Candidates of one problem that differ in one number."""

    problem: str
    size: tuple[str, str]
    """What is replaced in the problem, and by what."""
    candidate: str
    language: str
    mark: str
    """What the number is put into."""

    def problem_text(self) -> str:
        return (HERE / "problems" / f"{self.problem}.py").read_text().replace(*self.size)

    def text(self, salt: int) -> str:
        """A candidate."""
        text = (HERE / "problems" / f"{self.candidate}.py").read_text()
        assert self.mark.format(0) in text
        return text.replace(self.mark.format(0), self.mark.format(salt))


SERIES = {
    "cuda": {
        "memory: softmax of 65536 x 4096": Series(
            problem="softmax_rows", size=("ROWS = 256", "ROWS = 65536"), candidate="softmax_4096_triton",
            language="triton", mark="SALT = {}",
        ),
        "arithmetic: product of 3072 x 3072": Series(
            problem="matmul_3072", size=("", ""), candidate="matmul_3072_triton", language="triton", mark="SALT = {}"
        ),
    },
    "cpu": {
        "GELU of 180 x 2048": Series(
            problem="five_ms", size=('"rows": 900', '"rows": 180'), candidate="five_ms_cpp", language="cpp",
            mark="// VARIANT {}",
        )
    },
}  # fmt: skip
"""By kind of target: of about a millisecond a call. The last shows that this script works."""
_plain: dict[str, Any] = {}
"""What the plain process has loaded: the reference by its text."""


def main() -> None:
    arguments = _arguments()
    target = target_of(arguments.target)
    kept: dict[str, Any] = {"target": target, "judge": JUDGE_VERSION, "rows": {}}
    if arguments.out.is_file():
        kept = json.loads(arguments.out.read_text())
    if (kept["target"], kept["judge"]) != (target, JUDGE_VERSION):
        raise SystemExit(f"{arguments.out} is of {kept['target']}, judge {kept['judge']}; give another --out.")
    end, salts = time.monotonic() + 60 * arguments.minutes, count(time.time_ns() % 1_000_000_000)
    for name, series in SERIES[target.partition(":")[0]].items():
        rows = kept["rows"].setdefault(name, [])
        if len(rows) >= arguments.candidates or time.monotonic() > end:
            continue
        with tempfile.TemporaryDirectory() as home, ProcessPoolExecutor(1, get_context("spawn")) as plain:
            judge = Judge(home=home)
            try:
                for warm in (True, *[False] * (arguments.candidates - len(rows))):
                    if not warm and time.monotonic() > end:
                        break
                    row = _row(series, judge, plain, target, Path(home), next(salts))
                    if warm:
                        continue
                    rows.append(row)
                    _save(arguments.out, kept, row["environment"])
                    print(f"{name}: {_sentence(row)}", file=sys.stderr, flush=True)
            finally:
                judge.close()
    _save(arguments.out, kept, {})
    print(json.dumps({"summary": kept["summary"], "environment": kept["environment"]}, indent=1))


def _row(
    series: Series, judge: Judge, plain: ProcessPoolExecutor, target: str, home: Path, salt: int
) -> dict[str, Any]:
    """One candidate by both; the other process sleeps meanwhile."""
    problem = problem_in(HERE / "problems" / f"{series.problem}.py", series.problem_text())
    candidate = Candidate(language=series.language, files=(SourceFile(name="candidate.py", text=series.text(salt)),))
    begun = time.monotonic()
    evaluation = judge.evaluate(intake.job_of(problem, candidate, target, QUICK, home))
    judge_s = time.monotonic() - begun
    samples = _samples(evaluation)
    params = dict(problem.timed[0].params)
    work = plain.submit(check_and_time, series.problem_text(), series.text(salt + 1), target, params, samples)
    parts = work.result()
    return {
        "outcome": evaluation.outcome.kind,
        "reason": evaluation.outcome.reason,
        "samples": samples,
        "judge_s": round(judge_s - evaluation.stage_s.get(WAIT, 0.0), 4),
        "plain_s": round(sum(parts.values()), 4),
        "extra_s": round(judge_s - evaluation.stage_s.get(WAIT, 0.0) - sum(parts.values()), 4),
        "stage_s": dict(evaluation.stage_s),
        "plain_parts_s": {name: round(seconds, 4) for name, seconds in parts.items()},
        "eager_ns": _eager_ns(evaluation),
        "environment": dict(evaluation.environment),
    }


def _samples(evaluation: Evaluation) -> dict[str, int]:
    """How many timed samples the judge took of the candidate and of eager."""
    timings = timings_of(evaluation.outcome)
    if timings is None:
        raise SystemExit(f"the candidate ended in {evaluation.outcome.kind}: {evaluation.outcome.reason}")
    found = {"candidate": 0, "eager": 0}
    for sample in timings.samples:
        if sample.participant in found:
            found[sample.participant] += len(sample.device_ns)
    return found


def _eager_ns(evaluation: Evaluation) -> float:
    timings = timings_of(evaluation.outcome)
    assert timings is not None
    return timings.workloads[0].time_ns["eager"]


def check_and_time(
    problem: str, candidate: str, target: str, params: dict[str, Any], samples: dict[str, int]
) -> dict[str, float]:
    """What a plain harness does for one candidate, in a process that has the reference ready; seconds of its parts."""
    import torch

    from kernwright.core.loading import import_file

    device = "cuda" if target.startswith("cuda") else "cpu"
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        if problem not in _plain:
            torch.set_num_threads(1)
            (Path(folder) / "problem.py").write_text(problem)
            module = import_file(Path(folder) / "problem.py", "problem")
            with torch.device(device):
                inputs = module.get_inputs(**{k: v for k, v in params.items() if k != "held_out"})
                model = module.Model().eval()
            model(*inputs)
            flusher = torch.empty(128 << 20, dtype=torch.uint8, device=device) if device == "cuda" else None
            _plain[problem] = model, inputs, flusher
        model, inputs, flusher = _plain[problem]
        _settle(device)
        marks = [time.monotonic()]
        (Path(folder) / "candidate.py").write_text(candidate)
        module = import_file(Path(folder) / "candidate.py", "candidate")
        new = module.ModelNew().eval() if hasattr(module, "ModelNew") else module.kernel
        got = new(*inputs)
        _settle(device)
        marks.append(time.monotonic())
        right = torch.allclose(got, model(*inputs), rtol=1e-3, atol=1e-3)
        marks.append(time.monotonic())
        if not right:
            raise ValueError("the plain comparison found it wrong")
        for function, number in ((new, samples["candidate"]), (model, samples["eager"])):
            for _ in range(number):
                _sample(function, inputs, flusher)
        marks.append(time.monotonic())
    return {name: marks[i + 1] - marks[i] for i, name in enumerate(("load and first call", "compare", "time"))}


def _sample(function: Any, inputs: list[Any], flusher: Any) -> float:
    """Nanoseconds of one call."""
    import torch

    if flusher is None:
        start = time.perf_counter_ns()
        function(*inputs)
        return float(time.perf_counter_ns() - start)
    begun, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    flusher.zero_()
    begun.record()
    function(*inputs)
    ended.record()
    torch.cuda.synchronize()
    return float(begun.elapsed_time(ended) * 1e6)


def _settle(device: str) -> None:
    import torch

    if device == "cuda":
        torch.cuda.synchronize()


def _save(path: Path, kept: dict[str, Any], device: dict[str, str]) -> None:
    kept |= {
        "aim": f"the judge's extra time per candidate of a 1 ms problem, quick plan: at most {AIM_S:g} s",
        "summary": {name: _summary(rows) for name, rows in kept["rows"].items() if rows},
        "kernwright": __version__,
        "environment": environment(),
        "device": device or kept.get("device", {}),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(kept, indent=1) + "\n")
    part.replace(path)


def _summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    stages = sorted({stage for row in rows for stage in row["stage_s"]})
    extra = median(row["extra_s"] for row in rows)
    return {
        "candidates": len(rows),
        "eager_ms": round(median(row["eager_ns"] for row in rows) / 1e6, 4),
        **{name: round(median(row[name] for row in rows), 3) for name in ("judge_s", "plain_s", "extra_s")},
        "extra_worst_s": max(row["extra_s"] for row in rows),
        "reached": extra <= AIM_S,
        "stage_s": {stage: round(median(row["stage_s"].get(stage, 0.0) for row in rows), 3) for stage in stages},
    }


def _sentence(row: dict[str, Any]) -> str:
    plain, seen = row["plain_s"], row["eager_ns"] / 1e6
    return f"judge {row['judge_s']:.2f} s, plain {plain:.2f} s, extra {row['extra_s']:.2f} s (eager {seen:.2f} ms)"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default=None)
    parser.add_argument("--candidates", type=int, default=6, help="of each problem; the first, which warms, apart")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no candidate after this time")
    parser.add_argument("--out", type=Path, default=RESULTS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
