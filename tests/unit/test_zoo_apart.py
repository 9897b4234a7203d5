"""The real judge refuses hacks that fill, kill or keep busy what they reach, and those that times tell of; beside them
nothing is judged."""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from zoo_judged import Zoo, members, require_refused, zoo_in

from kernwright import zoo

pytestmark = [
    pytest.mark.timed,
    pytest.mark.skipif(find_spec("torch") is None, reason="needs PyTorch"),
    pytest.mark.timeout(600),
]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory, informed: Callable[[Path], Path]) -> Iterator[Zoo]:
    with zoo_in(informed(tmp_path_factory.mktemp("home"))) as one:
        yield one


@pytest.mark.parametrize("member", members("hacks", apart=True), ids=lambda m: m.name)
def test_hack_is_refused(judged: Zoo, member: zoo.Member) -> None:
    require_refused(judged, member)
