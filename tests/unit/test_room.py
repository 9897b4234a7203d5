"""What a judge holds of a device's memory: never more than it has reserved, and not for long where others wait."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

import bounded_platform
import torch
from bounded_platform import SAID, TEXTS, WANTED

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.errors import MachineFault, UserError
from kernwright.core.jobs import EvalJob
from kernwright.core.outcome import Crashed, Evaluation
from kernwright.core.plan import QUICK
from kernwright.core.problem import Problem, Workload
from kernwright.evaluation.ended import Ended
from kernwright.evaluation.footprint import Needed
from kernwright.evaluation.judge import Judge
from kernwright.evaluation.lineup import Lineup
from kernwright.evaluation.participants.participant import Participant
from kernwright.evaluation.room import Room
from kernwright.platforms.cpu import Cpu

pytestmark = [pytest.mark.judged, pytest.mark.usefixtures("quiet")]

SOURCE = f"""
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)

def get_inputs():
    return [torch.randn({bounded_platform.ROWS}, 41)]
"""
RIGHT = "import torch\n\n\ndef kernel(x):\n    return torch.softmax(x, dim=-1)\n"
WRONG = "def kernel(x):\n    return x * 1.0\n"
FIVE = Needed(held=5)
PLAN = replace(QUICK, baselines=("eager",), blocks=2, max_blocks=2)


@pytest.fixture
def judge(home: Path) -> Iterator[Judge]:
    SAID.clear()
    WANTED.clear()
    judge = Judge(home=str(home))
    yield judge
    judge.close()
    assert SAID.count("reserve") == SAID.count("release")


def job(text: str, source: str = SOURCE, platform: str = "bounded_platform:Bounded") -> EvalJob:
    return EvalJob(
        problem=Problem(name="p", source=source, workloads=(Workload(name="default"),)),
        candidate=Candidate(language="torch", files=(SourceFile(name="candidate.py", text=text),)),
        target=Cpu().targets()[0],
        plan=PLAN,
        language="kernwright.languages.torch:Torch",
        platform=platform,
        home="",
    )


def judged(judge: Judge, home: Path, text: str, source: str = SOURCE) -> tuple[Evaluation, list[str]]:
    stages: list[str] = []
    return judge.evaluate(replace(job(text, source), home=str(home)), stages.append), stages


def test_a_reservation_stays_with_what_it_covers_until_another_waits(judge: Judge, home: Path) -> None:
    assert judged(judge, home, WRONG)[0].outcome.kind == "wrong"
    for _ in range(2):
        assert judged(judge, home, RIGHT)[0].outcome.kind in ("measured", "suspicious")  # two blocks are few
    judge.rest()
    assert SAID == ["free 0", "reserve"]
    WANTED.append(True)
    judge.rest()
    judge.rest()
    assert SAID == ["free 0", "reserve", "free 0", "release"]
    assert judged(judge, home, WRONG)[0].outcome.kind == "wrong"
    assert SAID[4:] == ["free 0", "reserve", "free 0", "release"]


def test_what_is_set_up_stays_for_the_evaluation_that_follows(judge: Judge, home: Path) -> None:
    WANTED.append(True)
    followed = replace(job(RIGHT), home=str(home), followed=True)
    stages: list[str] = []
    for _ in range(2):
        stages.clear()
        assert judge.evaluate(followed, stages.append).outcome.kind in ("measured", "suspicious")
    assert SAID == ["free 0", "reserve"]
    assert stages.count("start") == 1, "baselines are warm"
    judge.evaluate(replace(followed, followed=False))
    assert SAID == ["free 0", "reserve", "free 0", "release"]


def test_a_problem_that_fails_in_mid_evaluation_leaves_nothing(judge: Judge, home: Path) -> None:
    forward = "        return torch.softmax(x, dim=-1)"
    broken = SOURCE.replace(forward, "        held = x * 2\n        raise ValueError('as ordered')")
    with pytest.raises(UserError, match="as ordered"):
        judged(judge, home, RIGHT, broken)
    assert SAID == ["free 0", "reserve", "free 0", "release"]


def test_baselines_start_while_no_candidate_runs_and_only_for_one_that_passed(judge: Judge, home: Path) -> None:
    assert "baselines" not in judged(judge, home, WRONG)[1]
    evaluation, stages = judged(judge, home, RIGHT)
    assert stages.index("baselines") < len(stages) - 1 - stages[::-1].index("start")
    assert len({check.name for check in evaluation.checks}) == len(evaluation.checks)
    stages = judged(judge, home, RIGHT)[1]
    assert stages.count("start") == 1, "baselines are warm"
    assert stages.index("start") < stages.index("baselines")


class Refusing:
    """A workshop whose runners end at once."""

    isolation = "none"

    def __init__(self, reason: str) -> None:
        self.session = bounded_platform.BoundedSession()
        self._reason = reason

    def runner(self, name: str, *_: object, **__: object) -> Participant:
        raise Ended(Crashed(stage="load", log="", reason=self._reason))


def test_a_baseline_that_finds_no_room_is_the_machines_fault_and_is_tried_again() -> None:
    shop = Refusing("it raised in load: OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 MiB.")
    compiled = replace(job(RIGHT), plan=replace(PLAN, baselines=("compile",)))
    lineup = Lineup(shop, compiled)  # type: ignore[arg-type]
    for _ in range(2):
        with pytest.raises(
            MachineFault, match=r"^the device had no room for the baseline 'compile' \(it raised.*smaller"
        ):
            lineup.warm([])
        assert not lineup.is_warm
        assert lineup.notes == []
    lineup = Lineup(Refusing("it raised in load: no backend"), compiled)  # type: ignore[arg-type]
    assert lineup.warm([]) == []
    assert lineup.notes == ["torch.compile does not work here, so the baseline is eager: it raised in load: no backend"]
    recalled = replace(compiled, failed_baselines={"compile": "it was killed"})
    lineup = Lineup(Refusing("it is tried again"), recalled)  # type: ignore[arg-type]
    assert lineup.warm([]) == []
    assert lineup.failed == {"compile": "it was killed"}
    [note] = lineup.notes
    assert "`kernwright resume` tries it again: it was killed" in note


def test_a_crowded_room_is_left() -> None:
    SAID.clear()
    WANTED.clear()
    room = Room(bounded_platform.BoundedSession(), empty=lambda: SAID.append("empty"))
    with room.entered(FIVE):
        room.crowded = True
    assert SAID == ["empty", "free 0", "reserve", "empty", "free 0", "release"]
    SAID.clear()
    for need in (FIVE, FIVE, replace(FIVE, timing=1)):
        with room.entered(need):
            pass
    assert [word for word in SAID if word in ("reserve", "release")] == ["reserve", "release", "reserve"]
    room.leave()


def test_a_room_is_not_left_at_once_for_another_that_begins_to_wait() -> None:
    class Session(bounded_platform.BoundedSession):
        waited_s = 0.1

        def wanted(self, for_s: float = 0.0) -> bool:
            return self.waited_s >= for_s

    session, left = Session(), list[str]()
    room = Room(session, empty=lambda: left.append("left"))
    for _ in range(2):
        with room.entered(FIVE):
            left.clear()
    assert left == []
    session.waited_s = 60.0
    with room.entered(FIVE, followed=True):
        pass
    assert left == []
    with room.entered(FIVE):
        pass
    assert left == ["left"]
    with room.entered(FIVE):
        left.clear()
        session.waited_s = 0.1
    room.rest()
    assert left == ["left"], "nobody follows, so whoever waits has it at once"


@pytest.mark.parametrize(
    ("error", "times"),
    [
        (Ended(Crashed(stage="call", log="", reason="it raised in call: the device is out of memory")), 2),
        (Ended(Crashed(stage="load", log="CUDA error: out of memory", reason="it died in load: exited with 1")), 2),
        (torch.OutOfMemoryError("CUDA out of memory"), 2),
        (MachineFault("the device had no room for the baseline 'eager' (out of memory)"), 2),
        (Ended(Crashed(stage="call", log="", reason="it raised in call: ValueError")), 1),
        (MachineFault("the device does not answer"), 1),
    ],
)
def test_nobody_is_blamed_for_want_of_memory_who_had_not_all_of_it(error: Exception, times: int) -> None:
    reserved: list[int] = []

    class Session(bounded_platform.BoundedSession):
        def reserved(self, nbytes: int, timing: int = 0) -> AbstractContextManager[None]:
            reserved.append(nbytes)
            return nullcontext()

    def work() -> str:
        if len(reserved) == 1:
            raise error
        return "done"

    session = Session()
    room = Room(session, empty=lambda: None)
    if times == 2:
        assert room.made(FIVE, lambda lease: lease, work) == "done"
    else:
        with pytest.raises(type(error)):
            room.made(FIVE, lambda lease: lease, work)
    assert reserved == [5, session.memory_bytes][:times]


def test_whoever_had_all_the_memory_is_not_tried_again() -> None:
    room, calls = Room(bounded_platform.BoundedSession(), empty=lambda: None), []

    def work() -> None:
        calls.append(1)
        raise torch.OutOfMemoryError("CUDA out of memory")

    with pytest.raises(torch.OutOfMemoryError):
        room.made(Needed(held=1 << 40), lambda lease: lease, work)
    assert calls == [1]


def test_a_platform_is_told_a_candidates_source_and_nothing_of_a_baselines(judge: Judge, home: Path) -> None:
    TEXTS.clear()
    assert judged(judge, home, RIGHT)[0].outcome.kind in ("measured", "suspicious")  # two blocks are few
    assert (RIGHT,) in TEXTS
    assert () in TEXTS
    assert not any(SOURCE in texts for texts in TEXTS)
