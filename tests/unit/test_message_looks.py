"""Copies of results of long messages: samples while the clock runs, whole ones after."""

import pytest

torch = pytest.importorskip("torch")

from kernwright.evaluation.ended import Ended  # noqa: E402
from kernwright.evaluation.timing import message_looks  # noqa: E402
from kernwright.evaluation.timing.message_looks import BEHIND_TIME, Copies  # noqa: E402

STRIDE = 9_999


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch) -> list[torch.Tensor]:
    """Of three calls, larger than what is copied of each while the clock runs."""
    monkeypatch.setattr(message_looks, "SAMPLED", 1 << 10)
    monkeypatch.setattr(message_looks, "WIDTH", 64)
    return [torch.randint(0, 256, (STRIDE,), dtype=torch.uint8) for _ in range(3)]


def _copies(stride: int = STRIDE) -> Copies:
    return Copies(torch.device("cpu"), stride, 3)


@pytest.mark.parametrize("phase", [0.0, 0.37, 0.999])
def test_what_was_there_is_copied_whole(results: list[torch.Tensor], phase: float) -> None:
    copies = _copies()
    copies.take(results[:2], phase)
    assert all(map(torch.equal, copies.whole(), results))
    assert len([*copies.whole()]) == 2


def test_small_results_are_copied_whole_while_the_clock_runs() -> None:
    result = torch.arange(200, dtype=torch.uint8)
    copies = _copies(200)
    copies.take([result], 0.5)
    was = result.clone()
    result.zero_()
    assert torch.equal(next(copies.whole()), was)


def test_whoever_works_on_a_result_after_the_answer_is_wrong(results: list[torch.Tensor]) -> None:
    """In one place of seven hundred bytes, and in single bytes all over it."""
    found = 0
    for phase in range(40):
        for late in (slice(5_000, 5_700), slice(phase % 7, None, 50)):
            copies, result = _copies(), results[0].clone()
            copies.take([result], phase / 40)
            result[late] += 1
            with pytest.raises(Ended) as ended:
                copies.whole()
            found += ended.value.outcome.reason == BEHIND_TIME
    assert found == 80


def test_samples_are_few_and_lie_all_over_a_result(results: list[torch.Tensor]) -> None:
    sampled = message_looks._samples(torch.arange(STRIDE), 0.5)
    assert sampled.numel() <= message_looks.SAMPLED
    assert int(sampled[0, 0]) < STRIDE // 16
    assert int(sampled[-1, -1]) > STRIDE - STRIDE // 8
