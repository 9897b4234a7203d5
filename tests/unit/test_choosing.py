"""Who writes to places that may be named twice leaves one of several there; who names each once does not."""

from collections.abc import Callable

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.errors.positions import is_a_choice  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

DRAWN = "torch.randint(0, 1 << 40, (24, 32)), torch.randint(0, 32, (24, 32))"
EVERY = "torch.arange(24)[:, None]"


@pytest.mark.parametrize(
    ("result", "choice"),
    [
        (f"x.index_put(({EVERY}, torch.arange(32)), y)", False),
        (f"x.index_put(({EVERY}, torch.arange(-16, 16)), y)", False),
        (f"x.index_put(({EVERY}, y), y)", True),
        ("x.index_put((torch.arange(24),), y)", False),
        ("x.index_put((y[:, 0] % 24,), x)", True),
        ("x.index_put((x > 1 << 39,), y[0, 0])", False),
        (f"x.index_put(({EVERY}, y), y, accumulate=True)", False),
        ("x.scatter(1, torch.arange(32).expand(24, 32), y)", False),
        ("x.scatter(1, y, x)", True),
        ("x.scatter(1, y, 1)", False),
        ("torch.zeros(1 << 20, dtype=torch.long).scatter(0, x[0] % (1 << 20), y[0])", True),
    ],
)
def test_what_is_written_twice_is_a_choice(prepared: Callable[[str], Setting], result: str, choice: bool) -> None:
    assert is_a_choice(prepared(one_line("x, y", DRAWN, result))) is choice
