"""What can be said of a bundle: refused, consistent, or re-measured."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from kernwright.core.errors import UserError
from kernwright.core.jobs import EvalJob
from kernwright.core.outcome import Evaluation, Verified
from kernwright.core.plan import FULL
from kernwright.core.problem import Problem
from kernwright.engine import intake
from kernwright.engine.targets import here

from .checking import require_consistent
from .document import load
from .facts import Bundle, Refused, Verdict, plain
from .notes import notes_on
from .signing import require_signed, signed_by

Evaluate = Callable[[EvalJob], Evaluation]


def verify(path: Path, key: Path | None = None) -> Verdict:
    """Check hashes, statistics and signature.

    Raises:
        Refused: the bundle was edited or is inconsistent, or is not signed by this key.
        UserError: there is no such file or key.
    """
    sealed = load(path)
    require_consistent(sealed.bundle)
    signed = require_signed(sealed, key) if key is not None else signed_by(sealed)
    notes = notes_on(path, sealed)
    return Verdict(status="consistent", sealed=sealed, signed=signed, known_signer=key is not None, notes=notes)


def require_trusted(verdict: Verdict, problem: Problem | None, *, trusted: bool) -> None:
    """A reference runs unconfined in the judge's own process, so a stranger's must not.

    Raises:
        UserError: nobody vouches for the problem's code.
    """
    if problem is not None and problem.id != verdict.sealed.bundle.problem.id:
        raise UserError("The file of --problem is not the problem of the bundle; leave it out, or give that very file.")
    if not (problem is not None or trusted or verdict.known_signer):
        raise UserError(
            "To judge again runs the bundle's problem, which is Python code, without confinement. Give your own copy "
            "of it (--problem FILE) or the key of a signer whom you trust (--key), or say that you have read it "
            "(--trust-problem)."
        )


def again(verdict: Verdict, home: Path, evaluate: Evaluate) -> Verdict:
    """The same, judged once more on this machine.

    Raises:
        Refused: what is found here contradicts the bundle.
        UserError: this machine is another one than that of the bundle.
    """
    bundle = verdict.sealed.bundle
    job = _job(bundle, home)
    built = evaluate(replace(job, build_only=True))
    _require_machine(bundle, built)
    return compared(verdict, evaluate(job))


def compared(verdict: Verdict, found: Evaluation) -> Verdict:
    """A bundle beside what was found on the same kind of machine.

    Raises:
        Refused: that is no verified kernel, or one that gains less than was stated.
    """
    outcome = found.outcome
    if not isinstance(outcome, Verified):
        raise Refused("re-run", f"judged again here it is {outcome.kind}: {plain(outcome.reason)}")
    stated, now = verdict.sealed.bundle.verified.timings, outcome.timings
    # Nothing but the signer's word is behind the floor that is stated, so it does not excuse the signer's speedup.
    floor = now.aa_floor
    if stated.speedup.low > now.speedup.high * (1 + floor):
        raise Refused(
            "re-run",
            f"the stated speedup, {_ratio(stated.speedup.low)} or more, was not found again: here it is "
            f"{_ratio(now.speedup.high)} at most",
        )
    notes = [*verdict.notes]
    if stated.faster and not now.faster:
        notes.append("the intervals agree, but this time it was not shown to be faster")
    if now.speedup.low > stated.speedup.high * (1 + floor):
        notes.append("it is faster here than stated")
    if now.baseline != stated.baseline:
        notes.append(f"the faster baseline was {plain(stated.baseline)}, and here it is {now.baseline}")
    return replace(verdict, status="re-measured", again=found, notes=tuple(notes))


def _job(bundle: Bundle, home: Path) -> EvalJob:
    evaluation, language = bundle.evaluation, bundle.candidate.language
    if evaluation.target not in here():
        raise UserError(
            f"It was judged on {plain(evaluation.target)}, and this machine has {', '.join(here())}, so it cannot be "
            "measured again here."
        )
    if ":" in language:
        raise UserError(
            f"The candidate's language is {plain(language)!r}: a bundle does not say which module is loaded. Judge the "
            "candidate with `kernwright judge`."
        )
    plan = replace(
        intake.plan_of(FULL.name, bundle.plan.threads),
        baselines=bundle.plan.baselines if set(bundle.plan.baselines) <= set(FULL.baselines) else FULL.baselines,
    )
    return intake.job_of(bundle.problem, bundle.candidate, evaluation.target, plan, home)


def _require_machine(bundle: Bundle, built: Evaluation) -> None:
    stated = bundle.evaluation.machine
    if built.machine != stated:
        raise UserError(
            f"It was measured on {plain(stated)!r}, and this machine is {built.machine!r}: times do not carry over, so "
            "it cannot be measured again here."
        )


def _ratio(value: float) -> str:
    return f"{value:.3f}x"
