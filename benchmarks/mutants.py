"""How many mutants of correct C++ kernels the judge catches.

Every operator below is applied at every place of every kernel in `mutants/`, one at a time; nothing is picked by hand.
A mutant is caught where its verdict is not `measured`; one that does not compile does not count. One that is not caught
is compared with the reference on far more inputs than the judge draws: many draws, scales from 1e-4 to 1e4, ties, small
integers, single large elements, one sign. It counts as equivalent where all of these stay within the tolerance, else as
missed.
"""

import argparse
import json
import math
import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from multiprocessing.util import Finalize
from pathlib import Path
from time import monotonic

import torch
from environment import environment
from lanes import Crew, done_by

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.digest import digest
from kernwright.core.jobs import JUDGE_VERSION, EvalJob
from kernwright.core.loading import import_file
from kernwright.core.plan import QUICK
from kernwright.core.problem import Problem
from kernwright.evaluation.errors.comparison import compare
from kernwright.evaluation.judge import Judge
from kernwright.evaluation.problem.reference import Reference
from kernwright.evaluation.problem.wider import oracle_for
from kernwright.platforms.cpu import Cpu
from kernwright.problems.file import File

HERE = Path(__file__).parent / "mutants"
_judges: dict[str, Judge] = {}
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

    id: str
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


def look(ask: tuple[str, Mutant]) -> dict[str, object]:
    """One mutant, in a worker."""
    home, mutant = ask
    if "judge" not in _judges:
        _judges["judge"] = Judge(home)
        Finalize(None, _judges["judge"].close, exitpriority=10)
    problem = File().load(str(HERE / f"{mutant.kernel}.py"))
    return asdict(judged(_judges["judge"], problem, mutant, home))


def judged(judge: Judge, problem: Problem, mutant: Mutant, home: str) -> Row:
    """The judge's own verdict."""
    outcome = judge.evaluate(job_of(problem, mutant.text, home)).outcome
    caught = outcome.kind not in ("measured", "verified")
    return Row(digest_of(mutant), mutant.kernel, mutant.kind, mutant.line, outcome.kind, outcome.reason[:200], caught)


def digest_of(mutant: Mutant) -> str:
    """Of what its row holds for."""
    return digest((mutant.kernel, mutant.text, JUDGE_VERSION))


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
            double = oracle_for(reference, model, reference.inputs(workload, 0))
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
    arguments = _arguments()
    known = kernels()
    names = arguments.kernels.split(",") if arguments.kernels else list(known)
    mutants = [mutant for name in names for mutant in mutants_of(name, known[name][1])]
    if arguments.sample:
        mutants = random.Random(0).sample(mutants, arguments.sample)
    mutants.sort(key=lambda mutant: mutant.kernel)
    whole = [Mutant(name, "none", "", known[name][1]) for name in names]
    before = json.loads(arguments.out.read_text()) if arguments.out and arguments.out.is_file() else {"rows": []}
    rows = [Row(**row) for row in before["rows"]]
    done = {row.id for row in rows}
    start, crew = monotonic(), Crew(workers=arguments.jobs, limit_s=300, deadline=monotonic() + 60 * arguments.minutes)
    with tempfile.TemporaryDirectory() as home:
        left = [mutant for mutant in mutants if digest_of(mutant) not in done]
        first = [mutant for mutant in whole if any(each.kernel == mutant.kernel for each in left)]
        jobs = [(home, mutant) for mutant in (*first, *left)]
        for (_, mutant), found, why in done_by(crew, look, jobs):
            if found is None:
                print(f"not judged: {mutant.kernel}, {mutant.line}: {why}", flush=True)
                continue
            row = Row(**found)
            if mutant.kind == "none":
                if row.caught:
                    raise SystemExit(f"the kernel {row.kernel} itself was not accepted: {row.verdict}, {row.reason}")
                continue
            rows.append(_settled(row, known[mutant.kernel][0], mutant.text))
            _keep(arguments.out, rows)
    _keep(arguments.out, rows)
    _print(rows, monotonic() - start)
    print(f"{len({digest_of(mutant) for mutant in mutants} - {row.id for row in rows})} are still to be judged")


def _settled(row: Row, problem: Problem, text: str) -> Row:
    """With what is found on more inputs, where the judge did not catch it."""
    if not row.caught:
        row.reason = _probed(problem, text)
        row.equivalent = not row.reason
        print(f"{'equivalent' if row.equivalent else 'MISSED'}: {row.kernel}, {row.kind}: {row.line}")
        print(f"    {row.reason}", flush=True)
    return row


def _keep(path: Path | None, rows: list[Row]) -> None:
    if path is None:
        return
    rows = sorted(rows, key=lambda row: (row.kernel, row.kind, row.line, row.id))
    said = _summary(rows) | {"environment": environment(), "rows": [asdict(row) for row in rows]}
    part = path.with_suffix(".part")
    part.write_text(json.dumps(said, indent=1) + "\n")
    part.replace(path)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", default="", help="names, with commas; all of them where this is empty")
    parser.add_argument("--sample", type=int, help="so many mutants, drawn at random")
    parser.add_argument("--jobs", type=int, default=1, help="how many are judged at a time")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin none after this time")
    parser.add_argument("--out", type=Path, help="JSON; what is there already is not judged again")
    return parser.parse_args()


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
