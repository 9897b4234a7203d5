"""Runs whose journal says that a candidate was judged, without a judge."""

import random
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from kernwright.core.brief import Pick, Proposed
from kernwright.core.candidate import Candidate
from kernwright.core.events import Drafted, Evaluated, Picked
from kernwright.core.jobs import evaluation_key
from kernwright.core.outcome import Evaluation, Measured, Verified, Wrong
from kernwright.core.spec import ELSEWHERE, OperatorSpec, RunSpec
from kernwright.engine import service
from kernwright.store.codec import encode_candidate
from kernwright.store.sql import SqlStore
from kernwright.testing.bundles import PLAN, made_bundle


def searched(home: Path, name: str, speedup: float | None, candidate: Candidate | None = None) -> str:
    """A run of one proposal that is verified, as if judged; or of one that is wrong; its id."""
    made = made_bundle(random.Random(name), speedup=speedup or 1.0, target="cpu:made")
    candidate = candidate or made.candidate
    problem = replace(made.problem, name=name)
    quick = replace(PLAN, name="quick", process_sets=0)
    spec = RunSpec(
        target="cpu:made",
        executor=ELSEWHERE,
        operators=(OperatorSpec(name="mailbox"),),
        plan=quick,
        confirm_plan=made.plan,
    )
    run = service.create(home, spec, problem)
    evaluation = replace(made.evaluation, problem=problem.id, candidate=candidate.id)
    assert isinstance(evaluation.outcome, Verified)
    first = replace(evaluation, plan="quick", outcome=Measured(timings=evaluation.outcome.timings, reason="measured"))
    wrong = replace(evaluation, plan="quick", outcome=Wrong(reason="outputs: off by | one"))
    with closing(SqlStore(home)) as store:
        blob = store.put(encode_candidate(candidate))
        store.append(run, Picked(node=0, pick=Pick()))
        store.append(
            run, Drafted(node=0, draft=Proposed(candidate=blob, operator="mailbox", summary="rows in registers"))
        )
        judged: list[tuple[Evaluation, str]] = [(first, "search"), (evaluation, "confirm")]
        for each, purpose in judged if speedup else [(wrong, "search")]:
            key = evaluation_key(each.candidate, problem.id, made.plan if purpose == "confirm" else quick)
            event = Evaluated(node=0, purpose=purpose, key=key, score=0.1, evaluation=each)  # type: ignore[arg-type]
            store.append(run, event)
    return run
