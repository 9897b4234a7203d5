"""What one run of a generator says of its draws holds where others say the same."""

import random
from collections.abc import Callable

import pytest

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")

from kernwright.evaluation.checks.integers import cases  # noqa: E402
from kernwright.evaluation.drawing.origins import ENOUGH, origins_of  # noqa: E402
from kernwright.evaluation.drawing.provenance import INDEPENDENT, UNKNOWN, kind_of  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.problem.spending import Spending  # noqa: E402


def _seeded(make: Callable[[], list[object]], seed: int) -> list[object]:
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)
    return make()


def kinds(make: Callable[[], list[object]]) -> list[str]:
    origins = origins_of(lambda seed: _seeded(make, seed), "cpu").origins
    return [kind_of(origins, number) for number in range(len(origins))]


def _below_a_choice() -> list[object]:
    n = random.choice([10, 1000])
    return [n, torch.randint(0, n, (64,))]


def _below_a_tensor() -> list[object]:
    n = torch.randint(1, 1000, ())
    return [n, torch.randint(0, int(n), (64,)) * 3]


def _below_one_of_numpy() -> list[object]:
    return [torch.randint(0, 1000, (64,)) % int(np.random.choice([10, 1000]))]


def _below_a_uniform_tensor() -> list[object]:
    return [torch.randint(0, 1000, (64,)) // torch.tensor(random.choice([10, 1000]))]


def _beside_a_choice() -> list[object]:
    return [random.random(), torch.randint(0, 1000, (64,)), torch.rand(64) < random.random()]


def _twins() -> list[object]:
    state = torch.get_rng_state()
    a = torch.randint(0, 50_000, (64,))
    torch.set_rng_state(state)
    return [a, torch.randint(0, 50_000, (64,))]


def _twins_of_a_seed() -> list[object]:
    made: list[object] = []
    for _ in range(2):
        torch.manual_seed(7)
        made.append(torch.randint(0, 50_000, (64,)))
    return made


def _twins_of_a_fork() -> list[object]:
    with torch.random.fork_rng():
        a = torch.randint(0, 50_000, (64,))
    return [a, torch.randint(0, 50_000, (64,))]


@pytest.mark.parametrize(
    "make",
    [_below_a_choice, _below_a_tensor, _below_one_of_numpy, _below_a_uniform_tensor],
)
def test_bounds_that_vary_are_none(make: Callable[[], list[object]]) -> None:
    assert set(kinds(make)) == {UNKNOWN}


def test_what_python_draws_beside_changes_nothing() -> None:
    assert kinds(_beside_a_choice) == [UNKNOWN, INDEPENDENT, INDEPENDENT]


@pytest.mark.parametrize("make", [_twins, _twins_of_a_seed, _twins_of_a_fork])
def test_generators_that_are_set_draw_the_same_twice(make: Callable[[], list[object]]) -> None:
    assert set(kinds(make)) == {UNKNOWN}


def test_more_runs_are_watched_where_python_chooses() -> None:
    seen: list[int] = []

    def made(draw: Callable[[], list[object]], seed: int) -> list[object]:
        seen.append(seed)
        return _seeded(draw, seed)

    origins_of(lambda seed: made(lambda: [torch.randint(0, 9, (4,))], seed), "cpu")
    assert len(seen) == 2
    origins_of(lambda seed: made(_beside_a_choice, seed), "cpu")
    assert len(seen) >= 2 + ENOUGH


SOURCE = """\
import random

import torch


class Model(torch.nn.Module):
    def forward(self, table, n, ids):
        return torch.sin(table)[ids] / n


def get_inputs():
    n = {n}
    return [torch.randn(1000, 8), n, torch.randint(0, int(n), (64,))]
"""


@pytest.mark.parametrize("n", ["random.choice([10, 1000])", "torch.randint(1, 1000, ())"])
def test_another_draws_bound_is_none(prepared: Callable[..., Setting], n: str) -> None:
    setting = prepared(SOURCE.format(n=n))
    assert setting.free == {}
    for seed in range(3):
        for case in cases(setting, random.Random(seed), Spending(60.0)):
            assert int(case.values[2].max()) < int(case.values[1])


@pytest.mark.parametrize(
    ("n", "is_told"), [("1000", True), ("random.choice([10, 1000])", False), ("random.randint(10, 1000)", False)]
)
def test_a_number_that_is_always_the_same_is_told(prepared: Callable[..., Setting], n: str, is_told: bool) -> None:
    note = "input 1 is the same in every draw: it belongs to the problem, and may be relied on"
    assert (note in prepared(SOURCE.format(n=n)).reference.notes) is is_told
