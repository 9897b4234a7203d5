"""What of a module's state results have to follow, by the same module from another seed."""

from functools import partial

import torch

from kernwright.core.problem import Workload
from kernwright.evaluation.drawing.freedom import DTYPES
from kernwright.evaluation.numbers import same_bytes
from kernwright.evaluation.problem.cases import Values
from kernwright.evaluation.problem.reference import Reference
from kernwright.evaluation.problem.shortage import where_possible

from .beside import drawn_beside
from .changes import Weight, followed
from .state import state_of


def followed_in(
    reference: Reference, workload: Workload, init: Values, seed: int, model: torch.nn.Module, values: Values
) -> dict[str, Weight]:
    """Of a module from this seed that was called with these values; found out once for each workload, by building it
    again under another seed where it has buffers, frozen parameters or tensors beside them."""

    def found() -> dict[str, Weight]:
        again = None
        if isinstance(model, torch.nn.Module) and _holds_more_than_parameters(model):
            again = partial(called, reference, workload, init, seed + 1, values)
        weights = where_possible(reference, lambda: followed(model, *again())) if again else None
        return followed(model, None) if weights is None else weights

    return reference.known.once(workload, "followed", found)


def called(
    reference: Reference, workload: Workload, init: Values, seed: int, values: Values
) -> tuple[torch.nn.Module, frozenset[str]]:
    """The module from this seed once it was called, since what it makes by then belongs to it; and names of integers
    that the call changed, such as a count of calls."""
    model = reference.model(workload, init, seed, None)
    before = {name: tensor.clone() for name, tensor in state_of(model).items() if tensor.dtype in DTYPES}
    reference.outputs(model, values)
    after = state_of(model)
    return model, frozenset(n for n, tensor in before.items() if n not in after or not same_bytes(tensor, after[n]))


def _holds_more_than_parameters(model: torch.nn.Module) -> bool:
    frozen = not all(p.requires_grad for p in model.parameters())
    return frozen or any(True for _ in model.buffers()) or bool(drawn_beside(model))
