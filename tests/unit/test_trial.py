"""What a check may do with a candidate, and what is said where one does not survive it."""

import random
from collections.abc import Callable
from typing import Any, cast

import pytest

pytest.importorskip("torch")

from kernwright.core.outcome import Crashed, Outcome, TimedOut, Wrong
from kernwright.core.problem import Rules
from kernwright.evaluation.ended import Ended
from kernwright.evaluation.participants.participant import Participant
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.trial import Trial

SOURCE = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2


def get_inputs():
    return [torch.randn(8, 8)]
"""


class Dying:
    """A participant that comes to the same end with every call."""

    def __init__(self, outcome: Outcome) -> None:
        self._outcome = outcome

    def fill(self, *_: Any) -> None:
        pass

    def call(self, *_: Any, **__: Any) -> None:
        raise Ended(self._outcome)


@pytest.mark.parametrize(
    ("outcome", "named"),
    [
        (Crashed(stage="call", log="", reason="it raised in call: ValueError"), True),
        (TimedOut(stage="call", limit_s=1, reason="call took longer than 1 s; killed"), True),
        (Wrong(reason="outputs: another shape"), False),
    ],
)
def test_an_end_names_the_inputs_that_brought_it(
    prepared: Callable[..., Setting], outcome: Crashed | TimedOut | Wrong, named: bool
) -> None:
    setting = prepared(SOURCE)
    trial = Trial(setting, cast(Participant, Dying(outcome)), Rules(), random.Random(1))
    case = setting.case(setting.bases[0].values, "all negative", 17)
    with pytest.raises(Ended) as caught:
        trial.run_case(case)
    ended = caught.value.outcome
    assert isinstance(ended, type(outcome))
    said = f"{outcome.reason}; given workload {setting.workload.name!r}, inputs all negative, seed 17"
    assert ended.reason == (said if named else outcome.reason)
