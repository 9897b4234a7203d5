"""The figures that need a GPU, one after the other within a time limit; called again, it goes on where it stopped.

Each has its own limit, so that none takes the time of the others: what a script has by then it has written, and goes on
from there. Tests of the device run file by file for the same reason, and one that passed is not run again.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
DEVICE_TESTS = HERE.parent / "tests" / "device"
GRACE_S = 20.0
"""For a script to end after its own limit."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One script, the minutes that it may take in one call, and its options."""

    name: str
    script: str
    minutes: float
    options: tuple[str, ...] = ()


def figures(jobs: int, gpus: int, kernelbench: Path | None) -> list[Figure]:
    """In the order in which they are worth the time."""
    found = [
        Figure("zoo", "zoo_device.py", 7.5, ("--jobs", str(jobs))),
        Figure("judge_extra", "judge_extra.py", 2.0, ("--candidates", "5")),
        Figure("gpu_rate", "gpu_rate.py", 3.0, ("--workers", "8", "--languages", "triton,cuda")),
    ]
    if kernelbench is not None:
        source = ("--kernelbench-src", str(kernelbench), "--forms", "triton")
        found.append(Figure("kernelbench_evaluator", "kernelbench_evaluator.py", 2.5, source))
    return [*found, Figure("aa", "aa_device.py", 30.0, ("--jobs", str(4 * gpus), "--gpus", str(gpus)))]


def main() -> None:
    arguments = _arguments()
    end = time.monotonic() + 60 * arguments.minutes
    arguments.out.mkdir(parents=True, exist_ok=True)
    wanted = [name for name in arguments.only.split(",") if name]
    known = figures(arguments.jobs, arguments.gpus, arguments.kernelbench_src)
    if unknown := {*wanted} - {"tests", *(figure.name for figure in known)}:
        sys.exit(
            f"there is no figure {', '.join(sorted(unknown))}; there are tests, {', '.join(f.name for f in known)}"
        )
    if not wanted or "tests" in wanted:
        _test(arguments.out, min(end, time.monotonic() + 60 * arguments.test_minutes))
    for figure in known:
        left = (end - time.monotonic() - GRACE_S) / 60
        if (not wanted or figure.name in wanted) and left > 0:
            _measure(figure, min(left, figure.minutes), arguments.out)


def _measure(figure: Figure, minutes: float, out: Path) -> None:
    result = out / f"{figure.name}.json"
    command = [sys.executable, str(HERE / figure.script), *figure.options, "--minutes", f"{minutes:.2f}"]
    _run([*command, "--out", str(result)], 60 * minutes + GRACE_S, out / f"{figure.name}.log")


def _test(out: Path, end: float) -> None:
    """Every file that did not pass yet."""
    path = out / "tests.json"
    passed = json.loads(path.read_text()) if path.exists() else []
    for file in sorted(DEVICE_TESTS.glob("test_*.py")):
        left = end - time.monotonic()
        if file.name in passed or left < GRACE_S:
            continue
        command = [sys.executable, "-m", "pytest", "-q", "-rs", str(file)]
        if " passed" in _run(command, left, out / f"{file.stem}.log"):  # not where all of it was skipped
            passed.append(file.name)
            path.write_text(json.dumps(passed))


def _run(command: list[str], limit_s: float, log: Path) -> str:
    """The last line that it printed; nothing where it failed, or was ended, with all that it had started."""
    print(f"{' '.join(command[1:])} ({limit_s:.0f} s at the most)", flush=True)
    start = time.monotonic()
    with log.open("w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            end = f"exit {process.wait(limit_s)}"
        except subprocess.TimeoutExpired:
            end = "ended at its limit"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    said = (log.read_text(errors="replace").strip().splitlines() or ["nothing"])[-1][:200]
    print(f"  {end} after {time.monotonic() - start:.0f} s: {said}", flush=True)
    return said if end == "exit 0" else ""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for results and logs, kept from call to call")
    parser.add_argument("--minutes", type=float, default=60.0, help="nothing begins after so many")
    parser.add_argument("--test-minutes", type=float, default=10.0, help="of these for tests/device")
    parser.add_argument("--only", default="", help="names, with commas between: tests, zoo, judge_extra, gpu_rate, ...")
    parser.add_argument("--jobs", type=int, default=10, help="judges at a time for the zoo")
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--kernelbench-src", type=Path, help="a checkout, for their evaluator beside ours")
    return parser.parse_args()


if __name__ == "__main__":
    main()
