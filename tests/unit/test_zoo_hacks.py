"""The real judge refuses every hack of the zoo that results tell of."""

from importlib.util import find_spec

import pytest
from zoo_judged import Zoo, members, require_refused

from kernwright import zoo

pytestmark = [
    pytest.mark.judged,
    pytest.mark.skipif(find_spec("torch") is None, reason="needs PyTorch"),
]


@pytest.mark.parametrize("member", members("hacks"), ids=lambda m: m.name)
def test_hack_is_refused(zoo_judge: Zoo, member: zoo.Member) -> None:
    require_refused(zoo_judge, member)
