"""A result stays what it is while the next call is made, and while its inputs become others.

The judge reads it where it lies, in a process that is stopped, and sends no message for that: a candidate that knew
when a result is to last would give one that does.
"""

import random

import torch

from kernwright.core.outcome import Wrong
from kernwright.evaluation.ended import Ended
from kernwright.evaluation.participants.participant import Participant
from kernwright.evaluation.problem.cases import Values
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.trial import unlike

SHARE = 0.25
"""Of the calls that are compared, about so many are looked at once more."""


def looks_again(setting: Setting, participant: Participant, rng: random.Random) -> bool:
    """Whether to look at a call that is compared."""
    return participant.reads and not setting.reference.problem.rules.alias_inputs and rng.random() < SHARE


def require_lasting(setting: Setting, participant: Participant, chosen: int, values: Values) -> None:
    """After a call. Its inputs are others afterwards.

    Raises:
        Ended: a result of it, or of the call before, is no longer what it was, and the rules do not allow that.
    """
    lasts = not_given(setting, values)
    if not setting.reference.problem.rules.reuse_outputs:
        _require_same(participant.latest(1), lasts, "the next call overwrote a result")
    participant.refill(setting.index, chosen, [*map(unlike, values)])
    _require_same(participant.latest(0), lasts, "a result shares memory with an input, and changed with it")


def not_given(setting: Setting, values: Values) -> list[bool]:
    """Of each result whether it has memory of its own by the reference, instead of an input's."""
    if setting.lasts is None:
        made = setting.reference.outputs(setting.model, values)
        owned = {v.untyped_storage().data_ptr() for v in values if isinstance(v, torch.Tensor) and v.numel()}
        setting.lasts = [t.numel() == 0 or t.untyped_storage().data_ptr() not in owned for t in made]
    return setting.lasts


def _require_same(looks: tuple[list[torch.Tensor], list[torch.Tensor]] | None, lasts: list[bool], what: str) -> None:
    if looks is not None and any(
        own and not torch.equal(_bytes(was), _bytes(now)) for own, was, now in zip(lasts, *looks, strict=True)
    ):
        raise Ended(Wrong(reason=f"held_result, among the timed calls: {what}"))


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous().view(-1).view(torch.uint8)
