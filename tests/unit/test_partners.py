"""Who keeps only a few of those that are open, or carries a few places far, is found; who goes all the way is not."""

import inspect
from collections.abc import Callable

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from integer_cases import refused  # noqa: E402

from kernwright.evaluation.probes.partners import ADDING_UP, MIRRORED  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

KINDS = "torch.randint(0, 4, (64, 64)), torch.randint(0, 4, (64, 64))"
LIMBS = "torch.randint(0, 256, (64, 24)), torch.randint(0, 256, (64, 24))"


def closed(x: torch.Tensor, deep: int) -> torch.Tensor:
    """How many brackets of two kinds are closed by their own, where so many may be open; another one ends all."""
    found = []
    for row in x.tolist():
        stack, count = [], 0
        for token in row:
            if token < 2:
                stack = [*stack, token][-deep:]
            elif stack and stack[-1] == token - 2:
                stack, count = stack[:-1], count + 1
            else:
                stack = []
        found.append(count)
    return torch.tensor(found)


def collapsed(x: torch.Tensor, deep: int) -> torch.Tensor:
    """What is left of a text of which each token and its partner beside it are taken out, again and again."""
    found = []
    for row in x.tolist():
        stack, gone = [], 0
        for token in row:
            if stack and stack[-1] == 3 - token:
                stack, gone = stack[:-1], gone + 2
            else:
                stack = [*stack, token][-deep:]
        found.append(len(row) - gone)
    return torch.tensor(found)


def added(x: torch.Tensor, y: torch.Tensor, far: int) -> torch.Tensor:
    """Numbers of limbs of eight bits, the least first; a carry goes so far."""
    sums = x + y
    for _ in range(far):
        carry = torch.nn.functional.pad(sums[:, :-1] >> 8, (1, 0))
        sums = (x + y) + carry
    return sums & 255


HELPERS = "\n\n".join(["import torch\n", *map(inspect.getsource, (closed, collapsed, added))])


@pytest.mark.parametrize(
    ("inputs", "result", "kernel", "few", "all_", "label"),
    [
        (KINDS, "closed(x, {deep}) + y[:, 0]", lambda x, y, deep: closed(x, deep) + y[:, 0], 20, 64, MIRRORED),
        (KINDS, "collapsed(x, {deep}) + y[:, 0]", lambda x, y, deep: collapsed(x, deep) + y[:, 0], 20, 64, MIRRORED),
        (LIMBS, "added(x, y, {deep})", added, 5, 24, ADDING_UP),
    ],
    ids=["brackets", "pairs that are taken out", "carries"],
)
def test_partners_show_who_goes_a_few_deep(
    prepared: Callable[[str], Setting],
    inputs: str,
    result: str,
    kernel: Callable[[torch.Tensor, torch.Tensor, int], torch.Tensor],
    few: int,
    all_: int,
    label: str,
) -> None:
    setting = prepared(HELPERS + one_line("x, y", inputs, result.format(deep=all_)))
    assert label in refused(setting, lambda x, y: kernel(x, y, few))
    assert refused(setting, lambda x, y: kernel(x, y, all_)) == set()
