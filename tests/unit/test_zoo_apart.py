"""The real judge refuses hacks that fill, kill or keep busy what they reach, and those that times tell of; beside them
nothing is judged."""

from importlib.util import find_spec

import pytest
from zoo_judged import Zoo, members, require_refused

from kernwright import zoo

pytestmark = [
    pytest.mark.timed,
    pytest.mark.skipif(find_spec("torch") is None, reason="needs PyTorch"),
]


@pytest.mark.parametrize("member", members("hacks", apart=True), ids=lambda m: m.name)
def test_hack_is_refused(zoo_judge: Zoo, member: zoo.Member) -> None:
    require_refused(zoo_judge, member)
