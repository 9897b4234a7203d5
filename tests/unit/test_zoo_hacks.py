"""The real judge refuses every hack of the zoo that results tell of."""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from zoo_judged import Zoo, members, require_refused, zoo_in

from kernwright import zoo

pytestmark = [
    pytest.mark.judged,
    pytest.mark.skipif(find_spec("torch") is None, reason="needs PyTorch"),
    pytest.mark.timeout(600),
]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory, informed: Callable[[Path], Path]) -> Iterator[Zoo]:
    with zoo_in(informed(tmp_path_factory.mktemp("home"))) as one:
        yield one


@pytest.mark.parametrize("member", members("hacks"), ids=lambda m: m.name)
def test_hack_is_refused(judged: Zoo, member: zoo.Member) -> None:
    require_refused(judged, member)
