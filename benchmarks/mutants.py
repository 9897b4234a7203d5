"""How many mutants of correct C++ kernels the judge catches.

Every operator below is applied at every place of every kernel in `mutants/`, one at a time; nothing is picked by hand.
A mutant is caught where its verdict is not `measured`; one that does not compile does not count. One that is not caught
is compared with the reference on far more inputs than the judge draws: many draws, scales from 1e-4 to 1e4, ties, small
integers, single large elements, one sign. It counts as equivalent where all of these stay within the tolerance, else as
missed.
"""

import argparse
import json
import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from time import monotonic

import torch

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.jobs import JUDGE_VERSION, EvalJob
from kernwright.core.loading import import_file
from kernwright.core.plan import QUICK
from kernwright.core.problem import Problem
from kernwright.evaluation.comparison import compare
from kernwright.evaluation.judge import Judge
from kernwright.evaluation.reference import Reference
from kernwright.platforms.cpu import Cpu
from kernwright.problems.file import File

HERE = Path(__file__).parent / "mutants"
OPERATORS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("bounds", r"< (\w+)(?=; \+\+| && |; \w+ \+=|\))", (r"< \1 - 1", r"<= \1", r"< \1 / 8 * 8", r"< \1 - 3")),
    ("bounds", r"(?<=int64_t \w) = 0(?=;)", (" = 1",)),
    ("bounds", r"\+\+(\w)(?=\))", (r"\1 += 2",)),
    ("bounds", r">= 0(?= &&)", ("> 0", ">= -1")),
    ("index", r"\[([^\[\]]+)\](?! *\{)", (r"[\1 + 1]", r"[(\1) / 2 * 2]")),
    ("index", r"\[(\w+) \* (\w+) \+ (\w+)\]", (r"[\1 * (\2 - 1) + \3]", r"[\3 * \2 + \1]", r"[\1 * \2]")),
    ("init", r"(float|double) (\w+) = (0|-INFINITY);", (r"\1 \2 = 1;", r"\1 \2;", r"static \1 \2 = \3;")),
    ("init", r"= -INFINITY;", ("= 0;", "= -1;")),
    ("init", r"\] = (0|-INFINITY);", (r"] = 1;", r"] += 0;")),
    ("sync", r" reduction\([^)]*\)", ("",)),
    ("sync", r" *#pragma omp atomic\n", ("",)),
    ("sync", r"#pragma omp for\n", ("#pragma omp for nowait\n", "\n")),
    ("sync", r"(?<=num_threads\(2\))\n( *for)", (r"\n#pragma omp single\n\1",)),
    ("accumulate", r"\+= ", ("= ", "-= ", "+= 1.0001 * ")),
    ("accumulate", r"(\w+) \+= (.*?);", (r"\1 = (float)(_Float16)(\1 + \2);", r"\1 += (float)(_Float16)(\2);")),
    ("accumulate", r"fmaxf", ("fminf",)),
    ("accumulate", r"> most", (">= most", "< most")),
    ("accumulate", r" (?:- most|/ sum|/ n)\b", ("",)),
    ("epsilon", r"1e-[56]f", ("0.0f", "1e-4f", "1e-3f", "1e-8f", "1e-5f * square")),
    ("epsilon", r"sqrtf\((.*?) \+ (1e-[56]f)\)", (r"(sqrtf(\1) + \2)",)),
    ("epsilon", r"sum > 0 \?", ("sum > 1e-3f ?",)),
)
"""Class, what is looked for, and what is put in its place."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change to one kernel."""

    kernel: str
    kind: str
    line: str
    """As it became."""
    text: str


@dataclass(slots=True)
class Row:
    """What became of one."""

    kernel: str
    kind: str
    line: str
    verdict: str
    reason: str
    caught: bool
    equivalent: bool = False


def mutants_of(kernel: str, text: str) -> Iterator[Mutant]:
    """All that differ from the kernel and from each other."""
    seen, (before, code, after) = {text}, re.split(r'(?<=r""")|(?="""\))', text)
    for kind, pattern, replacements in OPERATORS:
        for match in re.finditer(pattern, code):
            for replacement in replacements:
                changed = code[: match.start()] + match.expand(replacement) + code[match.end() :]
                if before + changed + after in seen:
                    continue
                seen.add(before + changed + after)
                line = changed[: match.start()].count("\n")
                yield Mutant(kernel, kind, changed.split("\n")[line].strip(), before + changed + after)


def kernels() -> dict[str, tuple[Problem, str]]:
    """Name -> problem and the correct kernel's text."""
    names = sorted(path.stem for path in HERE.glob("*.py") if not path.stem.endswith("_cpp"))
    return {name: (File().load(str(HERE / f"{name}.py")), (HERE / f"{name}_cpp.py").read_text()) for name in names}


def job_of(problem: Problem, text: str, home: str) -> EvalJob:
    """Two threads, or no race would show; eager alone, since speed is not what is asked."""
    return EvalJob(
        problem=problem,
        candidate=Candidate(language="cpp", files=(SourceFile(name="candidate.py", text=text),)),
        target=Cpu().targets()[0],
        plan=replace(QUICK, baselines=("eager",), threads=2, max_blocks=8),
        language="kernwright.languages.cpp:Cpp",
        platform="kernwright.platforms.cpu:Cpu",
        home=home,
    )


def judged(judge: Judge, problem: Problem, mutant: Mutant, home: str) -> Row:
    """The judge's own verdict."""
    outcome = judge.evaluate(job_of(problem, mutant.text, home)).outcome
    caught = outcome.kind not in ("measured", "verified")
    return Row(mutant.kernel, mutant.kind, mutant.line, outcome.kind, outcome.reason[:200], caught)


def looks_equivalent(problem: Problem, text: str, draws: int = 150) -> str:
    """Empty where it stays within the tolerance on all inputs; else on which it does not."""
    torch.set_num_threads(2)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "candidate.py"
        path.write_text(text)
        kernel = import_file(path, "candidate").kernel
        reference, rng = Reference(problem), random.Random(0)
        for workload in problem.workloads:
            model = reference.model(workload, [], 0, None)
            double = reference.widened(model, reference.inputs(workload, 0))
            for number in range(draws):
                values = [_varied(v, number % 6, rng) for v in reference.inputs(workload, 1000 + number)]
                case = reference.case(model, double, values, "", 0)
                if not all(bool(torch.isfinite(t).all()) for t in case.native if t.is_floating_point()):
                    continue
                for _ in range(2):
                    got = kernel(*values)
                    verdict = compare(list(got) if isinstance(got, tuple) else [got], case, problem)
                    if not verdict.passed:
                        return f"draw {number}: {verdict.detail}"
    return ""


def _varied(value: object, way: int, rng: random.Random) -> object:
    if not isinstance(value, torch.Tensor) or not value.is_floating_point() or way == 0:
        return value
    match way:
        case 1:
            return value * 10 ** rng.uniform(-4, 4)
        case 2:
            return (value * 2).round() / 2  # ties
        case 3:
            return (value * 3).round()
        case 4:
            value.flatten()[rng.randrange(value.numel())] = 1e3
            return value
        case _:
            return value.abs() * rng.choice([-1.0, 1.0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", default="", help="names, with commas; all of them where this is empty")
    parser.add_argument("--sample", type=int, help="so many mutants, drawn at random")
    parser.add_argument("--out", type=Path, help="JSON")
    arguments = parser.parse_args()
    known = kernels()
    names = arguments.kernels.split(",") if arguments.kernels else list(known)
    mutants = [mutant for name in names for mutant in mutants_of(name, known[name][1])]
    if arguments.sample:
        mutants = random.Random(0).sample(mutants, arguments.sample)
    mutants.sort(key=lambda mutant: mutant.kernel)
    rows, start = list[Row](), monotonic()
    with tempfile.TemporaryDirectory() as home:
        judge = Judge(home)
        try:
            for name in names:
                problem, text = known[name]
                whole = judged(judge, problem, Mutant(name, "none", "", text), home)
                if whole.caught:
                    raise SystemExit(f"the kernel {name} itself was not accepted: {whole.verdict}, {whole.reason}")
            for mutant in mutants:
                row = judged(judge, known[mutant.kernel][0], mutant, home)
                if not row.caught:
                    row.reason = _probed(known[mutant.kernel][0], mutant.text)
                    row.equivalent = not row.reason
                    print(f"{'equivalent' if row.equivalent else 'MISSED'}: {mutant.kernel}, {mutant.kind}: {row.line}")
                    print(f"    {row.reason}", flush=True)
                rows.append(row)
        finally:
            judge.close()
    _print(rows, monotonic() - start)
    if arguments.out:
        arguments.out.write_text(json.dumps(_summary(rows) | {"rows": [asdict(row) for row in rows]}, indent=1) + "\n")


def _probed(problem: Problem, text: str) -> str:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        try:
            return pool.submit(looks_equivalent, problem, text).result()
        except BrokenProcessPool:
            return "it crashed"


def _summary(rows: list[Row]) -> dict[str, object]:
    built = [row for row in rows if row.verdict != "build_failed"]
    changed = [row for row in built if not row.equivalent]
    caught = sum(row.caught for row in changed)
    return {
        "judge_version": JUDGE_VERSION,
        "mutants": len(built),
        "did_not_compile": len(rows) - len(built),
        "equivalent": len(built) - len(changed),
        "changed": len(changed),
        "caught": caught,
        "share": caught / max(len(changed), 1),
    }


def _print(rows: list[Row], seconds: float) -> None:
    for name in ("kind", "kernel"):
        for value in sorted({getattr(row, name) for row in rows}):
            own = [row for row in rows if getattr(row, name) == value and row.verdict != "build_failed"]
            equivalent = sum(row.equivalent for row in own)
            caught = sum(row.caught for row in own)
            print(f"{value:14} {caught} of {len(own) - equivalent} caught, {equivalent} equivalent")
    print({**_summary(rows), "seconds": round(seconds)}, Counter(row.verdict for row in rows))


if __name__ == "__main__":
    main()
