"""What a runner says is refused, or can be reckoned with."""

import json
import random

import pytest

pytest.importorskip("torch")

from kernwright.evaluation.participants.runner_failure import RunnerBabble
from kernwright.evaluation.participants.runner_message import DEPTH, message_of
from kernwright.testing.fuzz_targets import REPLIES, runner_saying


@pytest.mark.parametrize("reply", REPLIES)
def test_honest_messages_pass(reply: dict[str, object]) -> None:
    assert message_of(json.dumps(reply).encode()) == reply


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"7",
        b"\xff",
        b'{"ns": NaN}',
        b'{"ns": -Infinity}',
        b'{"ns": 1e999}',
        b'{"ns": ' + b"1" * 5000 + b"}",
        b'{"log": "\\ud800"}',
        b'{"outputs": ' + b"[" * 30_000,
        b'{"outputs": ' + b"[" * DEPTH + b"]" * DEPTH + b"}",
        b'{"a":' * DEPTH + b"{}" + b"}" * DEPTH,
    ],
)
def test_others_break_the_protocol(data: bytes) -> None:
    with pytest.raises(RunnerBabble):
        message_of(data)


@pytest.mark.parametrize("said", [0, 0.0, 1e-300, 5e-324])
def test_a_call_takes_a_nanosecond_at_least(said: float) -> None:
    with runner_saying(random.Random(1)) as (runner, participant, setting):
        runner.data = json.dumps(REPLIES[0] | {"device_ns": said, "call_ns": said}).encode()
        clocks, _ = participant.call(0, 0, setting.bases[0].values)
    assert (clocks.device_ns, clocks.call_ns) == (1.0, 1.0)
