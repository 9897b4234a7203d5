"""Who takes numbers in float64 for what float32 has of them is found, and nobody who keeps their digits."""

import random
from collections.abc import Callable

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.core.problem import Rules  # noqa: E402
from kernwright.evaluation.probes.narrowed import narrowed_ways  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

Kernel = Callable[[torch.Tensor, torch.Tensor], list[torch.Tensor]]
WIDE, SHORT = "torch.randn(64, 48, dtype=torch.float64)", "torch.randn(64, 48)"


def refused(setting: Setting, kernel: Kernel) -> bool:
    found = False
    for seed in range(3):
        for way in narrowed_ways(setting, setting.bases[0], random.Random(seed)):
            probe = way()
            assert probe is not None
            found = found or not probe.compare(kernel(*probe.case.values)).passed
    return found


@pytest.mark.parametrize(
    ("result", "kernel", "honest"),
    [
        ("x.argmax(-1) + 0 * (y > 0).sum(-1)", lambda x, y: [x.float().argmax(-1)], lambda x, y: [x.argmax(-1)]),
        ("x < y", lambda x, y: [x.float() < y.float()], lambda x, y: [y > x]),
        ("(x < y, x * y)", lambda x, y: [x.float() < y.float(), x * y], lambda x, y: [x - y < 0, y * x]),
        ("torch.cdist(x, y).argmin(1)", lambda x, y: [torch.cdist(x.float(), y.float()).argmin(1)], None),
    ],
)
def test_the_order_of_numbers_hangs_on_all_their_digits(
    prepared: Callable[..., Setting], result: str, kernel: Kernel, honest: Kernel | None
) -> None:
    setting = prepared(one_line("x, y", f"{WIDE}, {WIDE}", result))
    assert refused(setting, kernel)

    def nearest(x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        return [(x.square().sum(1, keepdim=True) - 2 * x @ y.T + y.square().sum(1)).argmin(1)]

    assert not refused(setting, honest or nearest)


def test_where_digits_may_go_or_no_result_is_whole_nobody_is_asked(prepared: Callable[..., Setting]) -> None:
    for inputs, result, rules in (
        (f"{WIDE}, {WIDE}", "x * y", Rules()),
        (f"{SHORT}, {SHORT}", "x < y", Rules()),
        (f"{WIDE}, {WIDE}", "x < y", Rules(precision="bfloat16")),
    ):
        setting = prepared(one_line("x, y", inputs, result), rules=rules)
        assert narrowed_ways(setting, setting.bases[0], random.Random(1)) == []
