"""From a run's journal to a bundle."""

from pathlib import Path

from kernwright import __version__
from kernwright.core.digest import digest
from kernwright.core.errors import MachineFault, UserError
from kernwright.core.node import Node
from kernwright.core.outcome import Evaluation, Verified
from kernwright.core.plan import Plan
from kernwright.engine.reading import RunView

from .checking import require_consistent
from .document import read, with_signature, write
from .facts import Bundle, Refused
from .signing import sign


def bundle_of(view: RunView, node: Node) -> Bundle:
    """The evidence of a verified node.

    Raises:
        UserError: it is not verified, or its journal does not hold all that a bundle needs.
    """
    evaluation = node.evaluation
    if evaluation is None or not isinstance(evaluation.outcome, Verified):
        state = evaluation.outcome.kind if evaluation else "not evaluated"
        raise UserError(f"Node {node.id} of run {view.id} is {state}, and only what is verified has a bundle.")
    if not evaluation.outcome.first_samples or not evaluation.outcome.timings.aa_log_ratios:
        raise UserError(
            f"The journal of run {view.id} does not hold all samples of node {node.id}: it was judged by an older "
            "Kernwright, or comes from a recording without samples. Judge it again for a bundle."
        )
    return Bundle(
        candidate=view.candidate(node),
        problem=view.problem,
        plan=_plan(view, evaluation),
        evaluation=evaluation,
        kernwright=__version__,
    )


def file_of(bundle: Bundle, keyfile: Path | None = None) -> tuple[bytes, str]:
    """The bytes of a bundle, which were read and checked as anyone else would, and its id.

    Raises:
        UserError: it holds numbers that are not finite, or cannot be signed.
        MachineFault: the evaluation contradicts itself.
    """
    data = write(bundle)
    try:
        sealed = read(data)
        require_consistent(sealed.bundle)
    except Refused as refused:
        raise MachineFault(
            f"The evaluation in the journal does not hold together, so there is no bundle: {refused}."
        ) from refused
    if keyfile is not None:
        data = with_signature(data, sign(sealed.id, keyfile))
    return data, sealed.id


def _plan(view: RunView, evaluation: Evaluation) -> Plan:
    """The plan under which it was judged: the journal knows it by its key."""
    for plan in (view.spec.confirm_plan, view.spec.plan):
        key = digest((evaluation.candidate, evaluation.problem, plan, evaluation.judge_version))
        if key in view.graph.evaluations:
            return plan
    raise UserError(f"Run {view.id} does not say under which plan its champion was judged; judge it again.")
