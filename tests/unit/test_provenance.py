"""What a generator did with its draws says which inputs hang together, and what else it could have drawn."""

from collections.abc import Callable

import pytest

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")

from kernwright.evaluation.drawing.provenance import (  # noqa: E402
    EXCHANGEABLE,
    INDEPENDENT,
    SORTED,
    UNKNOWN,
    Origins,
    Provenance,
    kind_of,
)


def origins_of(make: Callable[[], object]) -> Origins:
    with Provenance() as watch:
        made = make()
        return watch.of(made if isinstance(made, tuple | list) else [made])


def kinds(make: Callable[[], object]) -> list[str]:
    origins = origins_of(make)
    return [kind_of(origins, number) for number in range(len(origins))]


def _added() -> torch.Tensor:
    total = torch.zeros(9, dtype=torch.int64)
    for _ in range(3):
        total += torch.randint(0, 5, (9,))
    return total


def _set() -> torch.Tensor:
    value = torch.randint(0, 5, (9,))
    value[0] = 0
    return value


def _drawn_again() -> torch.Tensor:
    value = torch.randint(0, 99, (9,))
    while len(value.unique()) < 9 or bool((value == 3).any()):
        value = torch.randint(0, 99, (9,))
    return value


def _drawn_again_by_shape() -> torch.Tensor:
    value = torch.randint(0, 99, (9,))
    while value.unique().shape[0] < 9:
        value = torch.randint(0, 99, (9,))
    return value


def _changed_beside() -> torch.Tensor:
    value = torch.randint(0, 99, (9,))
    value[:4].fill_(1)
    return value


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        pytest.param(lambda: torch.randint(0, 9, (4, 5), dtype=torch.int32), INDEPENDENT, id="drawn"),
        pytest.param(lambda: torch.rand(4, 5) > 0.5, INDEPENDENT, id="a mask"),
        pytest.param(lambda: (torch.rand(4, 5) > 0.2) & (torch.rand(4, 5) > 0.1), INDEPENDENT, id="a mask of two"),
        pytest.param(lambda: 3 - torch.randint(0, 9, (4, 5)).to(torch.int8) // 2, INDEPENDENT, id="elementwise"),
        pytest.param(lambda: torch.empty(9).random_(0, 4).long(), INDEPENDENT, id="in place"),
        pytest.param(lambda: torch.randint(0, 9, (4, 5)).cpu(), INDEPENDENT, id="moved"),
        pytest.param(_added, INDEPENDENT, id="added up"),
        pytest.param(lambda: _some_set(), INDEPENDENT, id="some set by a mask"),
        pytest.param(
            lambda: torch.stack([torch.randint(0, 9, (5,)), torch.randint(9, (5,))]), INDEPENDENT, id="joined"
        ),
        pytest.param(lambda: torch.randint(0, 9, (40,))[3:30].reshape(3, 9), INDEPENDENT, id="a part"),
        pytest.param(lambda: torch.randint(0, 9, (40,)).sort().values, SORTED, id="sorted"),
        pytest.param(lambda: torch.randperm(40)[:7] * 2, EXCHANGEABLE, id="some of many"),
        pytest.param(lambda: torch.rand(6, 8).argsort(1), EXCHANGEABLE, id="an order"),
        pytest.param(lambda: torch.rand(6, 8).topk(2, 1).indices, UNKNOWN, id="the largest"),
        pytest.param(lambda: torch.randint(0, 9, (40,)).cumsum(0), UNKNOWN, id="offsets"),
        pytest.param(lambda: torch.randint(0, 9, (40,)).unique(), UNKNOWN, id="unique"),
        pytest.param(lambda: torch.randint(0, 9, (4, 1)).expand(4, 9), UNKNOWN, id="repeated"),
        pytest.param(_set, UNKNOWN, id="one set"),
        pytest.param(lambda: _some_set(mask="own"), UNKNOWN, id="some set by a mask of their own"),
        pytest.param(lambda: _some_set(mask="diagonal"), UNKNOWN, id="some places set"),
        pytest.param(
            lambda: torch.cat([torch.randint(0, 9, (5,)), torch.randint(7, 9, (5,))]), UNKNOWN, id="unlike parts"
        ),
        pytest.param(
            lambda: torch.cat([torch.randint(1, 9, (5,)), torch.zeros(3, dtype=torch.int64)]), UNKNOWN, id="padded"
        ),
        pytest.param(lambda: (torch.rand(5, 5) > 0.2) & ~torch.eye(5).bool(), UNKNOWN, id="but for some places"),
        pytest.param(lambda: torch.randint(0, 9, (4, 5)) + 9 * torch.arange(5), UNKNOWN, id="a range for each place"),
        pytest.param(lambda: torch.rand(4, 5) < torch.tensor([0.1, 0.2, 0.3, 0.4, 0.5]), UNKNOWN, id="uneven"),
        pytest.param(lambda: torch.bernoulli(torch.eye(5)), UNKNOWN, id="unequal chances"),
        pytest.param(lambda: (torch.rand(4, 5) > 0.2) & (torch.rand(4, 1) > 0.1), UNKNOWN, id="one for a line"),
        pytest.param(lambda: torch.randint(0, 9, (4, 5))[[0, 1, 0, 1]], UNKNOWN, id="lines twice"),
        pytest.param(lambda: torch.randint(0, 9, (4, 5))[:, torch.arange(9) // 2], UNKNOWN, id="places twice"),
        pytest.param(lambda: torch.randint(0, 9, (40,)).sort().values.view(4, 10), UNKNOWN, id="sorted, then cut"),
        pytest.param(lambda: torch.rand(6, 8).argsort(1).flatten(), UNKNOWN, id="orders, joined"),
        pytest.param(lambda: torch.randint(0, 9, (6, 8)).argsort(1), UNKNOWN, id="an order of equal numbers"),
        pytest.param(lambda: torch.randint(0, 9, (6, 8)).sort(0).values, UNKNOWN, id="sorted along another axis"),
        pytest.param(lambda: torch.rand(6, 8)[torch.rand(6) > 0.5], UNKNOWN, id="some lines"),
        pytest.param(lambda: torch.randint(0, 9, (6,), generator=torch.Generator()), UNKNOWN, id="its own generator"),
        pytest.param(lambda: torch.normal(torch.randn(6), 1.0), UNKNOWN, id="around another"),
        pytest.param(_drawn_again_by_shape, UNKNOWN, id="drawn again by a shape"),
        pytest.param(_drawn_again, UNKNOWN, id="drawn again"),
        pytest.param(_changed_beside, UNKNOWN, id="a part set"),
        pytest.param(lambda: torch.randint(0, 9, (40,)).sort().values[3:], UNKNOWN, id="a part of what is sorted"),
        pytest.param(lambda: torch.from_numpy(torch.randint(0, 9, (40,)).numpy()), UNKNOWN, id="by way of NumPy"),
        pytest.param(lambda: (x := torch.randint(0, 9, (9,))) + x.flip(0), UNKNOWN, id="with itself"),
        pytest.param(lambda: torch.tensor([3, 1, 2]), UNKNOWN, id="not drawn by PyTorch"),
    ],
)
def test_what_was_done_with_a_draw_is_seen(make: Callable[[], object], kind: str) -> None:
    assert kinds(make) == [kind]


def _some_set(number: int = 0, mask: str = "rand") -> torch.Tensor:
    value = torch.randint(1, 9, (4, 5))
    value[torch.rand(4, 5) < 0.1 if mask == "rand" else value > 3 if mask == "own" else torch.eye(4, 5) > 0] = number
    return value


def _lengths() -> list[torch.Tensor]:
    lengths, mask = torch.randint(1, 9, (5,)), torch.zeros(5, 9)
    for n in range(5):
        mask[n, : lengths[n]] = 1
    return [lengths, mask]


def _edges() -> list[torch.Tensor]:
    flat = torch.randperm(10_000)[:50]
    return [flat // 100, flat % 100]


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(_edges, id="places that are there once"),
        pytest.param(lambda: [a := torch.randint(0, 9, (50,)), (a + torch.randint(1, 9, (50,))) % 9], id="never equal"),
        pytest.param(lambda: [x := torch.randn(50), x > 0], id="a mask of another"),
        pytest.param(_lengths, id="a mask of lengths"),
        pytest.param(lambda: torch.rand(50, 8).topk(2, 1).indices.unbind(1), id="two experts"),
    ],
)
def test_what_is_made_of_one_draw_hangs_together(make: Callable[[], object]) -> None:
    assert set(kinds(make)) == {UNKNOWN}


@pytest.mark.parametrize(
    ("make", "bounds"),
    [
        (lambda: torch.randint(9, (4,)), (0, 9)),
        (lambda: torch.randint(3, 9, (4,), dtype=torch.int32), (3, 9)),
        (lambda: torch.randint(low=3, high=9, size=(4,)).int().view(2, 2), (3, 9)),
        (lambda: torch.randint(high=9, size=(4,)), (0, 9)),
        (lambda: torch.randint_like(torch.zeros(4), 5, 9), (5, 9)),
        (lambda: torch.randint_like(torch.zeros(4), 9), (0, 9)),
        (lambda: torch.randint(3, high=9, size=(4,)), (3, 9)),
        (lambda: torch.randint(np.int64(3), np.int64(9), (4,)), (3, 9)),
        (lambda: torch.randint(0, torch.tensor(9), (4,)), None),
        (lambda: torch.randint(0, 9, (4,)) + 1, (1, 10)),
        (lambda: torch.empty(4, dtype=torch.int64).random_(3, 9), (3, 9)),
        (lambda: torch.empty(4, dtype=torch.int64).random_(9), (0, 9)),
        (lambda: (torch.rand(4) * 9).long(), (0, 9)),
        (lambda: (torch.rand(4) * 8.5 + 1).int(), (1, 10)),
        (lambda: (torch.rand(4) - 0.5).long(), None),
        (lambda: (torch.randint(0, 9, (4,)).float() * 2).long(), None),
        (lambda: torch.randint(0, 99, (4,)) % 7, (0, 7)),
        (lambda: (torch.randint(0, 9, (4,)) * 1.5).long(), None),
        (lambda: (torch.randint(0, 9, (4,)) + 0.5).long(), None),
        (lambda: torch.randint(0, 9, (4,)).add(1, alpha=2), None),
        (lambda: torch.randint(0, 5, (4,)) % 7, None),
        (lambda: torch.randint(0, 300, (4,)).to(torch.uint8).long(), None),
        (lambda: torch.randint(0, 9, (4,)).bool().long(), None),
        (lambda: torch.stack([torch.randint(9, (5,)), torch.randint(0, 9, (5,))]), (0, 9)),
        (lambda: torch.randint(0, 9, (4,)) * 2, None),
        (lambda: 7 % torch.randint(1, 100, (4,)), None),
        (lambda: torch.remainder(7, torch.randint(1, 100, (4,))), None),
        (lambda: 9 - torch.randint(0, 9, (4,)), (1, 10)),
        (lambda: torch.randint(0, 9, (4,)) - 3, (-3, 6)),
        (lambda: (1 - torch.rand(4)) * 9, None),
        (lambda: torch.randint(0, 9, (4,)).clamp(min=1), (1, 9)),
        (lambda: torch.randint(0, 9, (4,)).clip(2, 5), (2, 6)),
        (lambda: torch.randint(0, 9, (4,)).clamp_(max=5), (0, 6)),
        (lambda: torch.randint(0, 9, (4,)).clamp_max(5).clamp_min(2), (2, 6)),
        (lambda: torch.randint(0, 9, (4,)).clamp(20), None),
        (lambda: torch.randint(0, 9, (4,)).clamp(max=torch.tensor(4)), None),
        (lambda: torch.rand(4).clamp(max=0.5), None),
        (lambda: torch.randint(1, 9, (4,)).masked_fill(torch.rand(4) < 0.1, 0), (0, 9)),
        (lambda: torch.where(torch.rand(4) < 0.1, torch.randint(1, 9, (4,)), 9), (1, 10)),
        (lambda: torch.randint(1, 9, (4,)).where(torch.rand(4) < 0.1, 4), (1, 9)),
        (lambda: torch.randint(1, 9, (4,)).masked_fill(torch.rand(4) < 0.1, -100), None),
        (lambda: torch.randint(1, 9, (4,)).masked_fill(torch.ones(4) > 0, 0), None),
        (lambda: torch.where(torch.rand(4) < 0.1, torch.randint(1, 9, (4,)), torch.randint(1, 5, (4,))), None),
        (lambda: _some_set(), (0, 9)),
        (lambda: _some_set(-7), None),
        (lambda: torch.rand(4), (0, 1)),
        (lambda: torch.randn(4), None),
    ],
)
def test_bounds_of_integers_are_known(make: Callable[[], object], bounds: tuple[int, int] | None) -> None:
    origin = origins_of(make)[0]
    assert origin is not None
    assert origin.bounds == bounds


def test_it_is_seen_on_another_device_too() -> None:
    with Provenance() as watch, torch.device("meta"):
        value = torch.randint(0, 9, (4, 5)).int()
        assert kind_of(watch.of([value]), 0) == INDEPENDENT


def test_setting_the_generator_before_the_first_draw_makes_no_draw_another() -> None:
    """Naming a device is a function too, and comes before what seeds that device's generator."""
    with Provenance() as watch:
        torch.device("cpu")
        torch.manual_seed(7)
        value = torch.randint(0, 9, (4, 5))
        assert kind_of(watch.of([value]), 0) == INDEPENDENT
        torch.manual_seed(7)
        other = torch.randint(0, 9, (4, 5))
        assert kind_of(watch.of([value, other]), 1) == UNKNOWN
