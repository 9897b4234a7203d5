"""What hostile input is thrown at, in this process. Whatever a target raises is a fault; it returns what came of it."""

import json
import math
import os
import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, cast

import torch

from kernwright.core.outcome import Verified
from kernwright.core.plan import Limits
from kernwright.core.problem import Problem, Workload
from kernwright.core.resolve import resolve
from kernwright.engine.bundles.checking import require_consistent
from kernwright.engine.bundles.document import read, write
from kernwright.engine.bundles.facts import Bundle, Refused
from kernwright.engine.targets import here
from kernwright.evaluation.ended import Ended
from kernwright.evaluation.participants.participant import Participant
from kernwright.evaluation.participants.runner_failure import RunnerBabble
from kernwright.evaluation.participants.runner_message import MESSAGE_BYTES, message_of
from kernwright.evaluation.participants.runner_process import Runner
from kernwright.evaluation.problem.place import place_of
from kernwright.evaluation.problem.reference import Reference
from kernwright.evaluation.problem.setting import Setting, prepare
from kernwright.evaluation.timing.statistics import block_log_ratios, t_interval
from kernwright.platforms import TABLE as PLATFORMS

from .bundles import made_bundle, with_parts
from .fuzzing import mutated_bytes, mutated_json

Target = Callable[[], str]
ROUNDING = 1e-8
HERE = torch.zeros(4, 4)
REPLY = {"ok": True, "delivered": True}
REPLIES: tuple[Any, ...] = (
    REPLY | {"device_ns": 5123.0, "call_ns": 7001.5, "late_ns": 0.0, "host_ns": 900},
    REPLY
    | {"device_ns": 5123.0, "call_ns": 7001.5, "late_ns": 0.0, "host_ns": 900}
    | {"outputs": [["Tensor", "float32", [4, 4], [4, 1], "cpu"]], "at": [HERE.data_ptr()]},
    {"ok": True, "delivered": False, "outputs": [["Tensor", "float32", [4, 4], [4, 1], "cpu"], ["int"]]},
    {"ok": False, "error": "ValueError: no", "log": "Traceback\n  line 3"},
    {"ok": True, "unmatched": "3"},
    {"ok": True, "share": 0.25, "names": ["aten::add", "aten::mul"]},
    {"ok": True, "ns": 12345.0},
)
PROBLEM = Problem(
    name="fuzzed",
    source="import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return x + 1\n"
    "def get_inputs():\n    return [torch.randn(4, 4)]\n",
    workloads=(Workload(name="only"),),
)


@contextmanager
def bundle_bytes(rng: random.Random) -> Iterator[Target]:
    """A bundle's bytes, edited: refused, or the same bytes."""
    data = write(_small(rng))

    def once() -> str:
        while (edited := mutated_bytes(data, rng)) == data:
            pass
        try:
            require_consistent(read(edited).bundle)
        except Refused as refused:
            _require_sentence(str(refused))
            return "refused"
        raise AssertionError("an edited bundle was accepted")

    yield once


@contextmanager
def bundle_resealed(rng: random.Random) -> Iterator[Target]:
    """A bundle's parts, edited, with hashes that fit: refused, or what it claims is the same."""
    bundle = _small(rng)
    data = write(bundle)
    parts = json.dumps(json.loads(data)["parts"])

    def once() -> str:
        while (file := with_parts(data, mutated_json(parts, rng))) == data:
            pass
        try:
            found = read(file).bundle
            require_consistent(found)
        except Refused as refused:
            _require_sentence(str(refused))
            return "refused"
        if not same_claim(found, bundle):
            raise AssertionError("a bundle that claims another thing was accepted")
        return "same claim"

    yield once


@contextmanager
def runner(rng: random.Random) -> Iterator[Target]:
    """A runner's replies, edited: the participant ended, or times that can be reckoned with."""
    with runner_saying(rng) as (said, participant, setting):
        yield _asked(rng, said, participant, setting)


@contextmanager
def runner_saying(rng: random.Random) -> Iterator[tuple["Said", Participant, Setting]]:
    """The judge's handle on a runner that says what it is told to, with one workload open."""
    said = Said()
    target = next(target for target in here() if target.startswith("cpu:"))
    session = resolve(PLATFORMS["cpu"])().open(target)
    reference = Reference(PROBLEM, place=place_of(session))
    setting = prepare(reference, PROBLEM.workloads[0], 0, rng, vary=True)
    participant = Participant("candidate", cast(Runner, said), session, Limits(), Path())
    said.data = b'{"ok": true}'
    participant.open(setting, "kernel")
    try:
        yield said, participant, setting
    finally:
        participant.close()
        reference.close()


def _asked(rng: random.Random, said: "Said", participant: Participant, setting: Setting) -> Target:
    values = setting.bases[0].values
    valid = [json.dumps(reply).encode() for reply in REPLIES]
    asks: tuple[Callable[[], Any], ...] = (
        lambda: participant.call(0, 0, values)[0],
        lambda: participant.vendor_share(0, 0, values),
        lambda: participant.copy_ns(0),
        lambda: participant.open(setting, "kernel"),
        lambda: participant.warm(0, 0, values),
        lambda: participant.held(0),
    )
    weights = (8, 2, 1, 1, 2, 1)
    times: list[float] = []

    def once() -> str:
        text = rng.choice(valid)
        said.data = (mutated_bytes(text, rng) if rng.random() < 0.6 else json.dumps(mutated_json(text, rng)).encode())[
            :MESSAGE_BYTES
        ]
        participant._reads = rng.random() < 0.5
        try:
            answer = rng.choices(asks, weights)[0]()
        except Ended as ended:
            _require_sentence(getattr(ended.outcome, "reason", "none"))
            return "ended"
        if hasattr(answer, "device_ns"):
            times.append(answer.device_ns)
            del times[:-16]
            interval = t_interval(block_log_ratios(times * 4, [5000.0] * 4 * len(times)))
            if not all(map(math.isfinite, (interval.low, interval.high, answer.call_ns, answer.late_ns))):
                raise AssertionError(f"times that cannot be reckoned with: {answer}")
        return "well formed"

    return once


TARGETS: dict[str, Callable[[random.Random], AbstractContextManager[Target]]] = {
    "bundle bytes": bundle_bytes,
    "bundle resealed": bundle_resealed,
    "runner": runner,
}


def same_claim(one: Bundle, other: Bundle) -> bool:
    """Whether two bundles say the same of the speed of the same candidate on the same problem."""
    return (one.candidate, one.problem.id, one.verified.confirmations) == (
        other.candidate,
        other.problem.id,
        other.verified.confirmations,
    ) and _alike(_claim(one.verified), _claim(other.verified))


def _claim(outcome: Verified) -> list[Any]:
    t = outcome.timings
    intervals = (t.speedup, t.speedup_call, t.speedup_eager, t.speedup_compile, t.speedup_champion)
    numbers = [x for i in intervals for x in ((i.estimate, i.low, i.high, float(i.n)) if i else ("none",))]
    times = [(w.workload, w.baseline, *sorted(w.time_ns.items())) for w in t.workloads]
    flat = [x for each in times for pair in each for x in (pair if isinstance(pair, tuple) else (pair,))]
    return [*numbers, *flat, t.faster, t.aa_floor, t.baseline, t.cache, t.threads, outcome.reason]


def _alike(one: list[Any], other: list[Any]) -> bool:
    return len(one) == len(other) and all(
        math.isclose(a, b, rel_tol=ROUNDING) if isinstance(a, float) and isinstance(b, float) else a == b
        for a, b in zip(one, other, strict=True)
    )


def _small(rng: random.Random) -> Bundle:
    return made_bundle(rng, compiled=rng.choice((0.5, 1.2)), target=rng.choice(("cpu:made", "gpu:made")))


def _require_sentence(text: str) -> None:
    if not text or len(text) > 2000:
        raise AssertionError(f"{len(text)} characters are no sentence")
    text.encode()


class Said:
    """A runner that says what it is told to."""

    watched = False

    def __init__(self) -> None:
        self.data = b""
        self.pid = os.getpid()

    def thaw(self) -> None:
        """It does not stop."""

    def send(self, message: Any, fds: Any = ()) -> None:
        """Nobody listens."""

    def receive(self, limit_s: float, *, attentive_s: float = 0.0, meanwhile: object = None) -> dict[str, Any]:
        """What was put there; a real one is dead after it breaks the protocol."""
        if not self.data:
            raise RunnerBabble("it closed its socket, or sent an empty message")
        return message_of(self.data)

    def freeze(self) -> None:
        """It does not run."""

    def close(self) -> None:
        """Nothing to kill."""
