"""What is found out of a workload is found out once."""

from kernwright.core.problem import Workload
from kernwright.evaluation.problem.known import Known

ONE, OTHER = Workload(name="one"), Workload(name="other")


def test_it_is_found_out_once_for_each_workload() -> None:
    known, asked = Known(), list[str]()

    def find() -> None:
        asked.append("asked")

    for workload in (ONE, ONE, OTHER):
        assert known.once(workload, "sound", find) is None
    assert len(asked) == 2
    assert known.once(ONE, "loops", lambda: True)
    assert known.get(ONE, "loops", False)
    assert not known.get(OTHER, "loops", False)


def test_what_others_know_is_theirs() -> None:
    known = Known()
    known.put(ONE, "fan_in", (1.0, 2.0))
    known.put(ONE, "selects", True)
    other = known.but("selects", fan_in=lambda each: each[:1])
    assert other.get(ONE, "fan_in", ()) == (1.0,)
    assert other.get(ONE, "selects", "nobody knows") == "nobody knows"
    other.put(ONE, "fan_in", ())
    assert known.get(ONE, "fan_in", ()) == (1.0, 2.0)
