"""Bundles: every edit is refused, hashes computed anew or not, and hostile files get one sentence."""

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bundle_edits import at, other, refused, resummarised
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("torch")

from kernwright import api
from kernwright.core.errors import UserError
from kernwright.core.jobs import JUDGE_VERSION
from kernwright.core.outcome import Evaluation, Measured, Verified
from kernwright.core.plan import FULL
from kernwright.engine.bundles import verifying
from kernwright.engine.bundles.checking import MOST_FLOOR, require_consistent
from kernwright.engine.bundles.document import LIMIT_BYTES, PARTS, load, read, resealed, write
from kernwright.engine.bundles.facts import FORMAT, Bundle, Refused
from kernwright.engine.bundles.promises import CHECKS
from kernwright.evaluation.checks import RUN_CHECKS, SOURCE_CHECKS
from kernwright.testing.bundles import made_bundle
from kernwright.testing.fuzz_targets import TARGETS, same_claim
from kernwright.testing.fuzzing import NUMBERS_AS_TEXTS, places_of

MADE = made_bundle(random.Random(1), workloads=2)
DATA = write(MADE)


def edited(change: Callable[[dict[str, Any]], object]) -> bytes:
    """The parts changed, and all hashes computed anew."""
    parts = json.loads(DATA)["parts"]
    change(parts)
    return resealed(parts, "0")


def test_the_same_content_gives_the_same_bytes_and_comes_back_equal() -> None:
    assert read(DATA).bundle == MADE
    assert write(read(DATA).bundle) == DATA
    require_consistent(MADE)


def test_short_calls_are_confirmed_by_as_many_sets_as_their_plan_says() -> None:
    short = made_bundle(random.Random(1), plan=FULL, eager_ns=4e4)
    assert short.verified.confirmations == 9
    assert short.verified.reason.endswith("9 process sets")
    require_consistent(read(write(short)).bundle)
    assert made_bundle(random.Random(1), plan=FULL).verified.confirmations == 5
    fewer = replace(short.evaluation, outcome=replace(short.verified, confirmations=5))
    with pytest.raises(Refused, match="5 confirmations, and the plan asks for 9"):
        require_consistent(replace(short, evaluation=fewer))


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    seed=st.integers(0, 2**32),
    workloads=st.integers(1, 3),
    speedup=st.floats(0.2, 50),
    compiled=st.floats(0.3, 3),
)
def test_whatever_the_samples_are_their_summary_is_consistent(
    seed: int, workloads: int, speedup: float, compiled: float
) -> None:
    bundle = made_bundle(random.Random(seed), workloads=workloads, speedup=speedup, compiled=compiled)
    sealed = read(write(bundle))
    require_consistent(sealed.bundle)
    assert sealed.bundle == bundle


@pytest.mark.parametrize("path", places_of(json.loads(DATA)["parts"]["evaluation"]["outcome"]), ids=str)
def test_statistics_are_computed_again(path: tuple[str | int, ...]) -> None:
    def change(parts: dict[str, Any]) -> None:
        holder = at(parts["evaluation"]["outcome"], path[:-1])
        holder[path[-1]] = other(holder[path[-1]])

    data = edited(change)
    if path[-1] in ("copy_ns", "floor_ns"):  # stated, and nothing follows from it
        require_consistent(read(data).bundle)
    else:
        refused(data)


@pytest.mark.parametrize("process_set", range(5))
@pytest.mark.parametrize("participant", ["candidate", "eager", "compile"])
def test_the_samples_of_every_process_set_count(participant: str, process_set: int) -> None:
    """A single one need not: the mean over a set's blocks leaves out the ends."""

    def change(parts: dict[str, Any]) -> None:
        for sample in parts["samples"]:
            if sample["participant"] == participant and sample["process_set"] == process_set:
                sample["device_ns"] = [0.99 * time for time in sample["device_ns"]]

    assert "follows from the samples" in refused(edited(change))


SENTENCES: list[tuple[str, Callable[[dict[str, Any]], object]]] = [
    ("of the candidate", lambda p: p["candidate"]["files"][0].update(text="def kernel(x): return 0\n")),
    ("of the problem", lambda p: p["problem"].update(source="class Model: pass\n")),
    ("of the problem", lambda p: p["problem"]["tolerance"].update(rms_ratio=400.0)),
    ("of the problem", lambda p: p["problem"]["rules"].update(reduced_precision=True)),
    ("of the plan", lambda p: p["plan"].update(name="quick")),
    ("plain names", lambda p: p["candidate"]["files"][0].update(name="../../etc/passwd")),
    ("plain names", lambda p: p["candidate"].update(files=[])),
    ("did not pass", lambda p: p["checks"][0].update(passed=False)),
    ("is missing", lambda p: p["checks"].pop()),
    ("twice", lambda p: p["checks"].append(p["checks"][0])),
    ("its baselines, ('eager',), is less", lambda p: p["plan"].update(baselines=["eager"])),
    ("its half_width, 0.011, is less", lambda p: p["plan"].update(half_width=0.011)),
    ("its compare, 'half', is less", lambda p: p["plan"].update(compare="half")),
    (
        "its cold, False, is less",
        lambda p: (
            p["plan"].update(cold=False),
            p["evaluation"].update(notes=["llc-warm"]),
            p["evaluation"]["outcome"]["timings"].update(cache="llc-warm"),
        ),
    ),
    ("its sanitize, False, is less", lambda p: p["plan"].update(sanitize=False)),
    ("is missing", lambda p: p["samples"].pop()),
    ("stands twice", lambda p: p["samples"].append(p["samples"][-1])),
    ("is missing", lambda p: [s.update(process_set=9) for s in p["samples"] if s["process_set"] == 4]),
    ("out of range", lambda p: p["samples"][0]["judge_ns"].__setitem__(0, 0.0)),
    ("out of range", lambda p: p["samples"][0]["device_ns"].__setitem__(0, -5.0)),
    ("longer on the device", lambda p: p["samples"][0]["call_ns"].__setitem__(0, 2.0)),
    ("times of its three kinds", lambda p: p["samples"][0]["device_ns"].pop()),
    ("make `verified`", lambda p: p["plan"].update(process_sets=1)),
    ("more than", lambda p: p["plan"].update(process_sets=10**18)),
    ("more than", lambda p: p["plan"].update(threads=10**9)),
    ("missing", lambda p: p.update(first_samples=[s for s in p["first_samples"] if s["participant"] != "candidate"])),
    ("pairs", lambda p: p["evaluation"]["outcome"]["timings"]["aa_log_ratios"].update(w0=[0.0])),
    ("absurd ones", lambda p: p["evaluation"]["outcome"]["timings"]["aa_log_ratios"].update(w0=[3.1] * 6)),
    ("its A/A floor is 3.1, and 3 at most", lambda p: p["evaluation"]["outcome"]["timings"].update(aa_floor=3.1)),
    ("A/A floor", lambda p: p["evaluation"]["outcome"]["timings"]["aa_log_ratios"].clear()),
    ("use a newer one", lambda p: p["evaluation"].update(judge_version="99")),
    ("which is none", lambda p: p["evaluation"].update(judge_version="03")),
    ("isolation", lambda p: p["evaluation"].update(isolation="none")),
    ("one of 64 bits", lambda p: p["evaluation"].update(seeds=[])),
    ("notes say another", lambda p: p["evaluation"].update(notes=["llc-warm"])),
    ("parts of their own", lambda p: p["evaluation"]["environment"].update(gpu="none")),
    ("outcome is built", lambda p: p["evaluation"].update(outcome={"kind": "built", "reason": ""})),
    ("has the weight", lambda p: p["problem"]["workloads"][0].update(weight=0.0)),
    ("unknown there", lambda p: p["plan"].update(extra=1)),
    ("of another type", lambda p: p["plan"].update(blocks="8")),
    ("of another type", lambda p: p["checks"][0].update(passed=1)),
]


@pytest.mark.parametrize(("sentence", "change"), SENTENCES)
def test_refusals_say_why(sentence: str, change: Callable[[dict[str, Any]], object]) -> None:
    assert sentence in refused(edited(change))


HOSTILE = {
    "empty": b"",
    "not text": b"\xff\xfe\x00",
    "no object": b"[]\n",
    "another format": b'{"format":"zip"}\n',
    "deep": b"[" * 200_000,
    "deep inside": DATA.replace(b'"n":0', b'"n":' + b"[" * 100_000 + b"]" * 100_000),
    "not a number": DATA.replace(b'"n":0', b'"n":NaN'),
    "infinite": DATA.replace(b'"n":0', b'"n":-Infinity'),
    "out of range": DATA.replace(b'"n":0', b'"n":1e999'),
    "endless digits": DATA.replace(b'"n":0', b'"n":' + b"1" * 10_000),
    "twice": DATA.replace(b'"n":0', b'"n":0,"n":0'),
    "spaces": DATA.replace(b'"n":0', b'"n": 0'),
    "another spelling": DATA.replace(b'"rms_ratio":4.0', b'"rms_ratio":4e0'),
    "half a pair": DATA.replace(b'"made"', b'"\\ud800"'),
    "control characters": DATA.replace(b'"kernwright-bundle-1"', b'"\\u001b[2J\\u0007"'),
    "truncated": DATA[:-20],
    "followed": DATA + b"{}",
    "no parts": DATA.replace(b'"parts"', b'"part"'),
    "id": DATA.replace(b'"id":"', b'"id":"0'),
    "signature": DATA.replace(b'"signature":null', b'"signature":{"public_key":"","ed25519":""}'),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_get_one_sentence(name: str) -> None:
    assert HOSTILE[name] != DATA
    refused(HOSTILE[name])


@pytest.mark.parametrize(("data", "said"), [
    (b"", "file: it is empty; export the kernel again: kernwright export RUN"),
    (b" \n", "file: it is empty; export the kernel again: kernwright export RUN"),
    (b"[]\n", "file: it is no bundle of Kernwright's: it is a list, and an object was expected"),
    (b"null", "file: it is no bundle of Kernwright's: it is a single value, and an object was expected"),
    (b"{}\n", "format: it is no bundle of Kernwright's: it has no field 'format'"),
    (b'{"format":null}', f"format: its format is None, and this Kernwright reads {FORMAT!r}"),
    (b'{"format":"zip"}', f"format: its format is 'zip', and this Kernwright reads {FORMAT!r}"),
])  # fmt: skip
def test_what_is_no_bundle_is_called_what_it_is(data: bytes, said: str) -> None:
    assert refused(data) == said


@pytest.mark.parametrize("text", NUMBERS_AS_TEXTS)
def test_a_text_is_no_number(text: str) -> None:
    """Decoders take these for numbers, which no canonical form has."""
    parts = json.loads(DATA)["parts"]
    numbers = [path for path in places_of(parts) if type(at(parts, path)) in (int, float)]
    numbers = [path for path in numbers if "params" not in path]  # a parameter may be a text
    for path in random.Random(5).sample(numbers, 60):

        def change(parts: dict[str, Any], path: tuple[str | int, ...] = path) -> None:
            at(parts, path[:-1])[path[-1]] = text

        assert refused(edited(change)).startswith(f"{path[0]}: ")


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(LIMIT_BYTES * 1000)
    with pytest.raises(Refused, match="larger than"):
        load(path)


def test_numbers_that_are_not_finite_are_no_evidence() -> None:
    workloads = (replace(MADE.problem.workloads[0], params={"x": float("inf")}), *MADE.problem.workloads[1:])
    with pytest.raises(UserError, match="finite"):
        write(replace(MADE, problem=replace(MADE.problem, workloads=workloads)))


def test_the_checks_of_this_judge_are_all_asked_for() -> None:
    assert {check.name for check in (*SOURCE_CHECKS, *RUN_CHECKS)} == CHECKS
    assert PARTS.keys() == json.loads(DATA)["parts"].keys()


def test_a_re_run_is_compared(tmp_path: Path) -> None:
    path = tmp_path / "made.bundle.json"
    path.write_bytes(DATA)
    verdict = verifying.verify(path)

    def judged(speedup: float) -> Evaluation:
        return made_bundle(random.Random(2), workloads=2, speedup=speedup).evaluation

    same = verifying.compared(verdict, judged(1.5))
    assert (same.status, same.notes) == ("re-measured", ())
    assert "faster here than stated" in str(verifying.compared(verdict, judged(2.5)).notes)
    with pytest.raises(Refused, match="was not found again"):
        verifying.compared(verdict, judged(1.1))
    now = judged(1.5)
    assert isinstance(now.outcome, Verified)
    doubtful = replace(now, outcome=Measured(timings=now.outcome.timings, reason="one set"))
    with pytest.raises(Refused, match="it is measured: one set"):
        verifying.compared(verdict, doubtful)


def with_floor(bundle: Bundle, log_ratio: float) -> Bundle:
    """Whose equal processes differed by so much, in turns."""
    timings = bundle.verified.timings
    ratios = {name: tuple(log_ratio * (-1) ** i for i in range(6)) for name in timings.aa_log_ratios}
    outcome = replace(bundle.verified, timings=replace(timings, aa_log_ratios=ratios))
    return read(resummarised(replace(bundle, evaluation=replace(bundle.evaluation, outcome=outcome)))).bundle


def test_the_floor_that_is_stated_excuses_no_claim(tmp_path: Path) -> None:
    path = tmp_path / "made.bundle.json"
    claimed = with_floor(made_bundle(random.Random(1), workloads=2, speedup=3.0), 0.7)
    assert 1 < claimed.verified.timings.aa_floor < MOST_FLOOR
    assert claimed.verified.timings.faster
    path.write_bytes(write(claimed))
    true = made_bundle(random.Random(2), workloads=2, speedup=1.5)
    with pytest.raises(Refused, match="was not found again"):
        verifying.compared(verifying.verify(path), true.evaluation)
    noisy = with_floor(true, 0.7).evaluation
    assert verifying.compared(verifying.verify(path), noisy).status == "re-measured"


def test_an_absurd_floor_is_refused() -> None:
    require_consistent(with_floor(MADE, 1.0))
    assert "its A/A floor is " in refused(write(with_floor(MADE, 2.7)))


def test_a_re_run_needs_the_machine_and_trust(tmp_path: Path) -> None:
    path = tmp_path / "made.bundle.json"
    path.write_bytes(DATA)
    with pytest.raises(UserError, match="without confinement"):
        api.verify(path, rerun=True, home=tmp_path)
    with pytest.raises(UserError, match="cannot be measured again here"):
        api.verify(path, rerun=True, trust_problem=True, home=tmp_path)


@pytest.mark.parametrize(("name", "count"), [("bundle bytes", 400), ("bundle resealed", 150), ("runner", 4000)])
def test_fuzzing_finds_nothing(name: str, count: int) -> None:
    with TARGETS[name](random.Random(2026)) as once:
        found = {once() for _ in range(count)}
    assert {"bundle bytes": "refused", "bundle resealed": "refused", "runner": "ended"}[name] in found


def test_what_counts_as_the_same_claim() -> None:
    assert same_claim(MADE, read(DATA).bundle)
    assert not same_claim(MADE, made_bundle(random.Random(3), workloads=2))
    assert json.loads(DATA)["parts"]["evaluation"]["judge_version"] == JUDGE_VERSION
