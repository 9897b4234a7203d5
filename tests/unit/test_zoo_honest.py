"""The real judge accepts every honest kernel of the zoo."""

from importlib.util import find_spec

import pytest
from zoo_judged import Zoo, members

from kernwright import zoo

pytestmark = [
    pytest.mark.judged,
    pytest.mark.skipif(find_spec("torch") is None, reason="needs PyTorch"),
    pytest.mark.usefixtures("quiet"),
]


@pytest.mark.parametrize("member", members("honest"), ids=lambda m: m.name)
def test_honest_kernel_is_measured(zoo_judge: Zoo, member: zoo.Member) -> None:
    evaluation = zoo_judge.evaluate(member)
    assert evaluation.outcome.kind in member.expect, evaluation.outcome.reason
