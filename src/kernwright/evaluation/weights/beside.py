"""Which tensors beside a module's parameters and buffers are its weights: those that its seed decides."""

from collections.abc import Callable, Sequence

import torch

from kernwright.evaluation.numbers import same_bytes
from kernwright.evaluation.runner.plain import lies_in_memory, plain_tensors
from kernwright.evaluation.runner.structure import lies_at, sharing

Place = tuple[int, int, Sequence[int], Sequence[int]]
_DRAWN = "_kernwright_drawn"
"""Where a module has the names of those."""


def drawn_beside(model: torch.nn.Module) -> tuple[str, ...]:
    """What was marked."""
    names: tuple[str, ...] = vars(model).get(_DRAWN, ()) if isinstance(model, torch.nn.Module) else ()
    return names


def mark(model: torch.nn.Module, names: tuple[str, ...]) -> None:
    """Let tensors of these names be of the module's state."""
    if names != drawn_beside(model):
        vars(model)[_DRAWN] = names


def drawn_plain(model: torch.nn.Module, build: Callable[[int], torch.nn.Module]) -> tuple[str, ...]:
    """Names of such tensors that another seed makes others of, and the same seed the same: what lies in memory that
    nobody wrote to is neither.

    `build` makes the module again, from a seed that is so much larger.
    """
    mine = apart(model) if isinstance(model, torch.nn.Module) else {}
    other = plain_tensors(build(1)) if mine else {}
    names = [name for name, tensor in mine.items() if name in other and _differ(tensor, other[name])]
    if not names:
        return ()
    for name in names:  # what is made next of fresh memory most likely has this
        torch.full((mine[name].nbytes,), 0xFF, dtype=torch.uint8, device=mine[name].device)
    same = plain_tensors(build(0))
    return tuple(name for name in names if name in same and same_bytes(mine[name], same[name]))


def apart(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Those that share memory with no parameter, no buffer, and with none that is larger; of equal ones the first."""
    known: dict[int, list[Place]] = {}
    for tensor in (*model.parameters(), *model.buffers()):
        if lies_in_memory(tensor):
            known.setdefault(_piece(tensor), []).append(lies_at(tensor))
    found: dict[str, torch.Tensor] = {}
    for name, tensor in sorted(plain_tensors(model).items(), key=lambda item: -item[1].nbytes):
        beside, place = known.setdefault(_piece(tensor), []), lies_at(tensor)
        if not any(sharing([place, each], [[], []]) for each in beside):
            beside.append(place)
            found[name] = tensor
    return found


def has_views(model: torch.nn.Module) -> bool:
    """Whether tensors of a module lie in the memory of one of its weights: in a copy in wider numbers they would not.
    What is a parameter under another name is the same one there too."""
    own = {id(parameter) for parameter in model.parameters()}
    plain, drawn = plain_tensors(model), drawn_beside(model)
    weights = [*model.parameters(), *model.buffers(), *(plain[name] for name in drawn if name in plain)]
    known = [lies_at(weight) for weight in weights if lies_in_memory(weight)]
    others = [lies_at(tensor) for name, tensor in plain.items() if name not in drawn and id(tensor) not in own]
    among = range(len(known), len(known) + len(others))  # these may lie in one another
    return sharing([*known, *others], [*([()] * len(known)), *([among] * len(others))]) is not None


def _piece(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _differ(one: torch.Tensor, other: torch.Tensor) -> bool:
    alike = one.shape == other.shape and one.dtype == other.dtype and one.device == other.device
    return alike and not same_bytes(one, other)
