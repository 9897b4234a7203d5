"""How many input elements an output depends on, seen by changing a few."""

from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from kernwright.evaluation.problem.fan_in import fan_in  # noqa: E402


def _found(call: "Callable[..., torch.Tensor]", *shapes: tuple[int, ...]) -> float:
    generator = torch.Generator().manual_seed(3)
    values = [torch.randn(shape, generator=generator) for shape in shapes]
    (found,) = fan_in(lambda given: [call(*given)], values, [call(*values)], generator) or (0.0,)
    return found


@pytest.mark.parametrize(
    ("call", "shapes", "expected"),
    [
        (torch.tanh, [(4096,)], 1.0),
        (lambda x, y: x + y, [(64, 64), (64, 64)], 2.0),
        (lambda x: x.softmax(-1), [(32, 128)], 128.0),
        (lambda a, b: a @ b, [(16, 512), (512, 32)], 1024.0),
        (lambda x: x.mean(), [(1 << 20,)], float(1 << 20)),
        (lambda x: x.relu().sum(-1), [(64, 256)], 256.0),
        (lambda x: x.amax(-1), [(64, 256)], 256.0),
    ],
    ids=["elementwise", "of two", "softmax", "product", "mean", "half of them hidden", "largest"],
)
def test_elements_behind_an_output(
    call: "Callable[..., torch.Tensor]", shapes: list[tuple[int, ...]], expected: float
) -> None:
    assert expected / 2 <= _found(call, *shapes) <= expected * 2


def test_nothing_is_known_where_nothing_moves() -> None:
    assert fan_in(lambda given: [torch.zeros(3)], [torch.zeros(5)], [torch.zeros(3)], torch.Generator()) is None
    indices = torch.arange(5)
    assert fan_in(lambda given: [given[0].float()], [indices], [indices.float()], torch.Generator()) is None
