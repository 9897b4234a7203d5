"""Who relies on integers to be far apart, or on lines to have nothing in common, is found; who does not is not."""

import random
from collections.abc import Callable

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from integer_cases import Kernel, refused  # noqa: E402

from kernwright.evaluation.checks.integers import cases  # noqa: E402
from kernwright.evaluation.probes.neighbours import BITS, BITS_OF_ANOTHER, NEAR, NEAR_ANOTHER  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.problem.spending import Spending  # noqa: E402

TIMES = "torch.randint(0, 2**62, (64, 32)), torch.randint(0, 2**62, (64, 32))"
BYTES = "torch.randint(0, 256, (64, 32), dtype=torch.uint8), torch.randint(0, 256, (64, 32), dtype=torch.uint8)"
TOKENS = "torch.randint(0, 50000, (64, 32)), torch.randint(0, 50000, (64, 32))"
STEPS = "torch.randint(0, 2**55, (64, 32)), torch.randint(2**20, 2**40, (64, 32))"
ANOTHER, OWN = "lines that agree in part with another input's", "lines that agree in part with others"


def _divided(x: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
    whole = (x.double() / by.double()).long()
    left = x - whole * by
    return whole + (left >= by).long() - (left < 0).long()


@pytest.mark.parametrize(
    ("inputs", "result", "wrong", "right", "label"),
    [
        pytest.param(
            TIMES,
            "x.argmax(-1)",
            lambda x, y: ((x & ~127) | torch.arange(32)).argmax(-1),
            lambda x, y: (x.amax(-1, keepdim=True) == x).int().argmax(-1),
            NEAR,
            id="a place in the last bits",
        ),
        pytest.param(
            TIMES,
            "(x - y).float()",
            lambda x, y: x.float() - y.float(),
            lambda x, y: -(y - x).float(),
            NEAR_ANOTHER,
            id="rounded before the difference",
        ),
        pytest.param(
            BYTES,
            "(x == y).all(-1)",
            lambda x, y: (x[:, :16] == y[:, :16]).all(-1),
            lambda x, y: ~(x ^ y).bool().any(-1),
            ANOTHER,
            id="the first of each string",
        ),
        pytest.param(
            BYTES,
            "(x[:, None] == x).all(-1).sum(1)",
            lambda x, y: (x[:, None, :16] == x[:, :16]).all(-1).sum(1),
            lambda x, y: (x[:, None].int() - x.int()).abs().amax(-1).eq(0).sum(1),
            OWN,
            id="strings among themselves",
        ),
        pytest.param(
            TOKENS,
            "((x[:, None] != x).sum(-1) <= 2).sum(-1)",
            lambda x, y: ((x[:, None] == x)[..., :16].all(-1) | (x[:, None] == x)[..., 16:].all(-1)).sum(-1),
            lambda x, y: ((x[:, None] == x).sum(-1) >= 30).sum(-1),
            OWN,
            id="rows that differ in two places",
        ),
        pytest.param(
            TIMES,
            "((x ^ y) & ((x ^ y) - 1)).eq(0).sum(-1)",
            lambda x, y: torch.isin((x - y).abs(), 1 << torch.arange(31)).sum(-1),
            lambda x, y: torch.isin(x ^ y, torch.tensor([0, *(1 << bit for bit in range(63))])).sum(-1),
            BITS_OF_ANOTHER,
            id="one bit apart",
        ),
        pytest.param(
            TOKENS,
            "torch.where((x.diff() > 0).all(-1), x[:, -1], x.sum(-1))",
            lambda x, y: x.sum(-1),
            lambda x, y: torch.where((x[:, 1:] <= x[:, :-1]).any(-1), x.sum(-1), x[:, -1]),
            "lines in strict order",
            id="rows in order",
        ),
        pytest.param(
            TOKENS,
            "torch.where((x == x.flip(-1)).all(-1), -1, x.sum(-1))",
            lambda x, y: x.sum(-1),
            lambda x, y: torch.where((x[:, :16] == x[:, 16:].flip(-1)).all(-1), -1, x.sum(-1)),
            "lines that are the same from both ends",
            id="rows that are the same from both ends",
        ),
        pytest.param(
            TOKENS,
            "(x[:, None] == torch.stack([y.roll(s, 1) for s in range(32)], 1)).all(-1).any(1)",
            lambda x, y: (x == y).all(-1),
            lambda x, y: (y[:, None] == torch.stack([x.roll(s, 1) for s in range(32)], 1)).all(-1).any(1),
            "lines that are another input's turned round",
            id="rings from another place on",
        ),
        pytest.param(
            TOKENS,
            "(x[:, None] == x.flip(-1)).all(-1).sum(1)",
            lambda x, y: (x == x.flip(-1)).all(-1).long(),
            lambda x, y: (x[:, None] == x.flip(-1)).all(-1).sum(0),
            "lines that are others turned round",
            id="rows that are others backwards",
        ),
        pytest.param(
            STEPS,
            "x // y",
            lambda x, y: (x.double() / y.double()).long(),
            _divided,
            "many multiples of another input",
            id="divided by another input",
        ),
        pytest.param(
            STEPS,
            "(x + 3_600_000_000) // 86_400_000_000 + 0 * y",
            lambda x, y: ((x + 3_600_000_000).double() * (1 / 86_400_000_000)).long(),
            lambda x, y: _divided(x + 3_600_000_000, torch.tensor(86_400_000_000)),
            "many multiples of 86400000000",
            id="divided after something was added",
        ),
    ],
)
def test_what_lines_and_numbers_have_in_common_shows(
    prepared: Callable[[str], Setting], inputs: str, result: str, wrong: Kernel, right: Kernel, label: str
) -> None:
    setting = prepared(one_line("x, y", inputs, result))
    assert label in refused(setting, wrong)
    assert refused(setting, right) == set()


def test_no_numbers_are_equal_that_were_not_drawn_so(prepared: Callable[[str], Setting]) -> None:
    setting = prepared(one_line("x, y", TIMES, "x.argmax(-1) + y.argmin(-1)"))
    made = [case for seed in range(4) for case in cases(setting, random.Random(seed), Spending(60.0))]
    near = [value for case in made if case.label in (NEAR, BITS) for value in case.values]
    assert near
    assert all(len(value.unique()) == value.numel() for value in near)
