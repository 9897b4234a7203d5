"""`kernwright verify BUNDLE`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options, screen
from .interruption import interruptible
from .stages import Stages

if TYPE_CHECKING:
    from kernwright.core.outcome import Interval
    from kernwright.engine.bundles.facts import Refused, Verdict

REFUSED = 1


def verify(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="What `export` wrote beside a kernel.")],
    key: Annotated[Path | None, typer.Option(metavar="PUBKEY", help="Whose signature it must bear; PEM.")] = None,
    rerun: Annotated[bool, typer.Option("--rerun", help="Judge it again, on a machine of the same kind.")] = False,
    problem: Annotated[Path | None, typer.Option(metavar="FILE", help="With --rerun: your own copy of it.")] = None,
    trust_problem: Annotated[
        bool, typer.Option("--trust-problem", help="With --rerun: run the bundle's problem, which you have read.")
    ] = False,
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """Check a bundle of evidence: exit 0 if it is consistent or was measured again, 1 if it is refused."""
    from kernwright import api
    from kernwright.core.errors import UserError
    from kernwright.engine.bundles.facts import Refused

    if (problem is not None or trust_problem) and not rerun:
        raise UserError("--problem and --trust-problem say what is to be judged again; add --rerun, or leave them out.")
    try:
        with Stages() as stages, interruptible("Stopped by Ctrl-C; nothing was left running, nothing was found."):
            verdict = api.verify(
                bundle,
                key=key,
                rerun=rerun,
                problem=problem,
                trust_problem=trust_problem,
                home=home,
                progress=stages,
            )
    except Refused as refused:
        _refused(bundle, refused, as_json=as_json)
        raise typer.Exit(REFUSED) from None
    if as_json:
        screen.emit(_plain(bundle, verdict))
    else:
        _told(verdict)


def _refused(bundle: Path, refused: "Refused", *, as_json: bool) -> None:
    if as_json:
        screen.emit({"bundle": str(bundle), "status": "refused", "part": refused.part, "reason": refused.reason})
    else:
        screen.say(f"refused: {refused}")


def _plain(bundle: Path, verdict: "Verdict") -> dict[str, Any]:
    sealed, again = verdict.sealed, verdict.again
    evaluation, timings = sealed.bundle.evaluation, sealed.bundle.verified.timings
    return {
        "bundle": str(bundle),
        "status": verdict.status,
        "id": sealed.id,
        "signed": verdict.signed,
        "known_signer": verdict.known_signer,
        "problem": sealed.bundle.problem.name,
        "candidate": evaluation.candidate,
        "machine": evaluation.machine,
        "judge_version": evaluation.judge_version,
        "isolation": evaluation.isolation,
        "faster": timings.faster,
        "speedup": timings.speedup,
        "baseline": timings.baseline,
        "again": None
        if again is None
        else {
            "judge_version": again.judge_version,
            "isolation": again.isolation,
            "faster": again.outcome.timings.faster,  # type: ignore[union-attr]
            "speedup": again.outcome.timings.speedup,  # type: ignore[union-attr]
            "seeds": again.seeds,
        },
        "notes": verdict.notes,
    }


def _told(verdict: "Verdict") -> None:
    from kernwright.core.outcome import timings_of
    from kernwright.engine.bundles.facts import plain

    sealed = verdict.sealed
    evaluation, timings = sealed.bundle.evaluation, sealed.bundle.verified.timings
    print(f"{verdict.status}: {plain(sealed.bundle.problem.name)}, bundle {sealed.id}")
    print(f"  stated    {_ratio(timings.speedup)} against {plain(timings.baseline)}, {_word(timings.faster)}")
    if verdict.again is not None and (now := timings_of(verdict.again.outcome)) is not None:
        print(f"  here, now {_ratio(now.speedup)} against {now.baseline}, {_word(now.faster)}")
    print(
        f"  judged    on {plain(evaluation.machine)}, judge version {evaluation.judge_version}, {evaluation.isolation}"
    )
    print(f"  {verdict.signed}")
    for note in verdict.notes:
        print(f"  note: {note}")
    if verdict.again is None:
        print(
            "Hashes and statistics agree with the samples. That the samples were ever measured, only `--rerun` on such "
            "a machine can say, or a signature by someone whom you trust (--key)."
        )


def _ratio(speedup: "Interval") -> str:
    return f"{speedup.estimate:.3f}x [{speedup.low:.3f}, {speedup.high:.3f}]"


def _word(faster: bool) -> str:
    return "faster" if faster else "not shown to be faster"
