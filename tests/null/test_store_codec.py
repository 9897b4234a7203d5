"""Facts through JSON."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.errors import MachineFault
from kernwright.core.events import Faulted, RunFinished, RunStarted
from kernwright.core.outcome import CheckResult, Outcome
from kernwright.core.problem import Problem, Workload
from kernwright.core.spec import RunSpec
from kernwright.store import codec


@given(candidate=st.from_type(Candidate))
def test_candidates_come_back_with_the_same_blob(candidate: Candidate) -> None:
    blob = codec.encode_candidate(candidate)
    again = codec.decode_candidate(blob)
    assert again == candidate
    assert codec.encode_candidate(again) == blob


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, "Infinity", "NaN", True, 1, 1.0, 2**70, "1", ""])
def test_a_setting_keeps_value_and_type(value: float | str) -> None:
    workload = Workload(name="w", params={"fill": value})
    event = RunStarted(spec=RunSpec(target="cpu"), problem=Problem(name="p", source="", workloads=(workload,)))
    again = codec.decode_event(codec.encode_event(event))
    assert isinstance(again, RunStarted)
    assert repr(again.problem.workloads[0].params["fill"]) == repr(value)


def test_strict_json_has_text_for_what_is_no_number() -> None:
    fact = CheckResult(name="c", passed=False, evidence={"a": math.inf, "b": math.nan, "c": 1.0})
    evidence = json.loads(codec.to_json(fact), parse_constant=pytest.fail)["evidence"]
    assert evidence == {"a": "Infinity", "b": "NaN", "c": 1.0}


def test_half_a_surrogate_pair_does_not_stop_the_journal() -> None:
    event = Faulted(machine="m", reason="log: \udcff \N{SNOWMAN}", node=3)
    again = codec.decode_event(codec.encode_event(event))
    assert again == Faulted(machine="m", reason="log: \\udcff \N{SNOWMAN}", node=3)


def test_a_union_is_decoded_by_its_kind_alone() -> None:
    # A member that lacks its fields is named by itself: the other members were not tried.
    with pytest.raises(MachineFault, match=r"at crashed\.stage, Field required"):
        codec.decode(Outcome, b'{"kind": "crashed", "log": "", "reason": ""}')  # type: ignore[arg-type]
    with pytest.raises(MachineFault, match=r"at the top, .*'verdict'.*'rejected', 'build_failed'"):
        codec.decode(Outcome, b'{"kind": "verdict"}')  # type: ignore[arg-type]
    with pytest.raises(MachineFault, match=r"at drafted\.draft\.unusable\.reason, Field required"):
        codec.decode_event('{"kind":"drafted","node":0,"draft":{"kind":"unusable","operator":"x"}}')


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b'{"kind": "run_finished"}', b"\xff"])
def test_what_is_no_fact_is_a_fault(data: bytes) -> None:
    with pytest.raises(MachineFault, match="cannot be read"):
        codec.decode(RunFinished, data)


def test_lists_and_mappings_of_facts() -> None:
    files = (SourceFile(name="a.py", text=""), SourceFile(name="b.cpp", text="int x;"))
    assert codec.decode(tuple[SourceFile, ...], codec.encode(files)) == files
    assert codec.decode(dict[str, SourceFile], codec.encode({"b": files[1]})) == {"b": files[1]}
