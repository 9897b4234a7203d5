"""Who looks a few places far, or at the same place alone, is found; who looks everywhere is not."""

import inspect
import random
from collections.abc import Callable

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from integer_cases import Kernel, refused  # noqa: E402

from kernwright.evaluation.checks.integers import cases  # noqa: E402
from kernwright.evaluation.probes.in_a_row import in_a_row  # noqa: E402
from kernwright.evaluation.probes.stretches import AGAIN, ELSEWHERE, FOLLOWING  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.problem.spending import Spending  # noqa: E402

TOKENS = "torch.randint(0, 50000, (64, 48)), torch.randint(0, 50000, (64, 32))"
BASES = "torch.randint(0, 4, (64, 64)), torch.randint(0, 4, (64, 64))"
ROWS = "torch.randint(0, 50000, (64, 12)), torch.randint(0, 50000, (96, 12))"


def longest(same: torch.Tensor) -> torch.Tensor:
    run = best = same.long()[..., 0]
    for place in range(1, same.shape[-1]):
        run = (run + 1) * same[..., place].long()
        best = torch.maximum(best, run)
    return best


def periods(x: torch.Tensor, few: int) -> torch.Tensor:
    found = torch.full_like(x[:, 0], x.shape[-1])
    for step in range(few, 0, -1):
        found = torch.where((x[:, step:] == x[:, :-step]).all(-1), step, found)
    return found


def overlap(x: torch.Tensor, y: torch.Tensor, most: int) -> torch.Tensor:
    found = torch.zeros_like(x[:, 0])
    for count in range(1, most + 1):
        found = torch.where((x[:, -count:] == y[:, :count]).all(-1), count, found)
    return found


HELPERS = "\n\n".join(["import torch\n", *map(inspect.getsource, (longest, periods, overlap))])
"""For references: of what they do a kernel leaves some out."""


def _pairs(x: torch.Tensor, y: torch.Tensor, most: int) -> torch.Tensor:
    return overlap(x, (3 - y).flip(-1), most)


@pytest.mark.parametrize(
    ("inputs", "result", "wrong", "right", "label"),
    [
        pytest.param(
            TOKENS,
            "torch.stack([longest(x[:, s:] == x[:, :-s]) for s in range(1, 20)]).amax(0)",
            lambda x, y: torch.stack([longest(x[:, s:] == x[:, :-s]) for s in range(1, 4)]).amax(0),
            lambda x, y: torch.stack([longest(x[:, s:] == x[:, :-s]) for s in range(1, 20)]).amax(0),
            AGAIN,
            id="what comes again",
        ),
        pytest.param(
            TOKENS,
            "periods(x, 47)",
            lambda x, y: periods(x, 4),
            lambda x, y: periods(x, 47),
            AGAIN,
            id="periods",
        ),
        pytest.param(
            TOKENS,
            "longest(x[:, 1:] == x[:, :-1] + 1)",
            lambda x, y: longest(x[:, 1:] == x[:, :-1] + 1).clamp(max=5),
            lambda x, y: longest(x.diff() == 1),
            FOLLOWING,
            id="what follows each other",
        ),
        pytest.param(
            TOKENS,
            "overlap(x, y, 32)",
            lambda x, y: overlap(x, y, 6),
            lambda x, y: overlap(x, y, 32),
            ELSEWHERE,
            id="what overlaps",
        ),
        pytest.param(
            BASES,
            "overlap(x, (3 - y).flip(-1), 64)",
            lambda x, y: _pairs(x, y, 12),
            lambda x, y: _pairs(x, y, 64),
            ELSEWHERE,
            id="bases that pair",
        ),
        pytest.param(
            ROWS,
            "(x[:, None] == y).all(-1).sum(-1)",
            lambda x, y: (x == y[:64]).all(-1).long(),
            lambda x, y: (x[:, None] - y).abs().amax(-1).eq(0).sum(-1),
            "lines of another input",
            id="rows of another table",
        ),
        pytest.param(
            TOKENS,
            "torch.where((x != 100).any(-1), 7, 9)",
            lambda x, y: torch.full_like(x[:, 0], 7),
            lambda x, y: torch.where((x == 100).all(-1), 9, 7),
            "stretches of 100",
            id="a row of padding",
        ),
    ],
)
def test_stretches_show_who_looks_at_a_part(
    prepared: Callable[[str], Setting], inputs: str, result: str, wrong: Kernel, right: Kernel, label: str
) -> None:
    setting = prepared(HELPERS + one_line("x, y", inputs, result))
    assert label in refused(setting, wrong)
    assert refused(setting, right) == set()


def test_of_several_lines_one_is_periodic_from_its_beginning_in_each_case(prepared: Callable[[str], Setting]) -> None:
    inputs = "torch.randint(0, 50000, (5, 64)), torch.randint(0, 50000, (5, 64))"
    setting = prepared(HELPERS + one_line("x, y", inputs, "periods(x, 63) + periods(y, 63)"))
    made = [case for seed in range(8) for case in cases(setting, random.Random(seed), Spending(60.0))]
    again = [case.values for case in made if case.label == AGAIN]
    assert len(again) >= 8
    # A period of more than 32 lies by chance at the end of a line that copies a part of itself.
    assert all(int(torch.minimum(periods(x, 63), periods(y, 63)).min()) <= 32 for x, y in again)


@pytest.mark.parametrize("shape", [(1,), (9,), (2, 5), (40, 33), (3, 16, 20)])
def test_one_line_is_whole_and_one_is_left(shape: tuple[int, ...]) -> None:
    rng = random.Random(7)
    for _ in range(20):
        for axis in range(len(shape)):
            found = in_a_row(torch.zeros(shape), axis, rng)
            assert found.shape == shape
            lines = found.movedim(axis, -1).reshape(-1, shape[axis])
            assert bool(lines.any())
            if len(lines) > 1:
                assert bool(lines.all(-1).any())
                assert not bool(lines.any(-1).all())
