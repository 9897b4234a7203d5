"""Methods as files: what each says, what it makes of a run, and what is said of a malformed one."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from engine_runs import PROBLEM, kinds, of_kind, scripted, spec

from kernwright.cli.main import run
from kernwright.core.errors import UserError
from kernwright.core.events import Picked
from kernwright.core.guidance import Guidance
from kernwright.core.spec import Budget, OperatorSpec, RunSpec
from kernwright.engine import intake, methods, service, wiring

NOTHING = Guidance(best="none", parents="none")
KERNELEVOLVE = replace(
    NOTHING, best="full", parents="full", insights=3, knowledge_tokens=4000, errors=True, profile=True, diagnosis=True,
    memory="both", failures=5,
)  # fmt: skip
TABLE: dict[str, tuple[str, dict[str, Any], set[str], int, Guidance]] = {
    "evoengineer-free": ("single_best", {}, {"start"}, 0, replace(NOTHING, best="code")),
    "evoengineer-insight": (
        "single_best", {}, {"start"}, 0, replace(NOTHING, best="full", insights=3, profile=True)
    ),
    "evoengineer-full": (
        "elite", {"n": 5, "valid": 2}, {"start", "combine", "improve"}, 0,
        replace(NOTHING, best="full", parents="full", insights=3, profile=True),
    ),
    "eoh": (
        "eoh", {"n": 5, "parents": 2, "simplify": False}, {"start", "combine", "improve"}, 0,
        replace(NOTHING, parents="full"),
    ),
    "eoh-paper": (
        "eoh", {"n": 5, "parents": 5, "simplify": True}, {"start", "combine", "improve", "simplify"}, 0,
        replace(NOTHING, parents="full"),
    ),
    "funsearch": (
        "islands", {"islands": 10, "programs": 2, "temperature": 0.1, "period": 30_000, "replace": False},
        {"start", "combine", "improve"}, 0, replace(NOTHING, parents="code"),
    ),
    "funsearch-code": (
        "islands", {"islands": 10, "programs": 2, "temperature": 0.1, "period": 30_000, "replace": True},
        {"start", "combine", "improve"}, 0, replace(NOTHING, parents="code"),
    ),
    "ai-cuda-engineer": (
        "stages", {"generations": 10, "proposals": 4, "shown": 5}, {"start", "port", "repair", "improve", "combine"}, 0,
        replace(NOTHING, parents="full", profile=True, errors=True, knowledge_tokens=4000, knowledge_for=("compose",)),
    ),
    "kernelevolve-greedy": ("greedy", {"starts": 10}, {"start", "improve"}, 3, KERNELEVOLVE),
    "kernelevolve-mcts": ("mcts", {"drafts": 10}, {"start", "improve"}, 3, KERNELEVOLVE),
    "kernelevolve-evolution": (
        "evolution", {"drafts": 10, "population": 5}, {"start", "combine", "improve"}, 3, KERNELEVOLVE
    ),
    "best-of-n": ("best_of_n", {"n": 45}, {"start"}, 0, NOTHING),
    "refine": (
        "refine", {}, {"start", "improve", "repair"}, 0, replace(NOTHING, parents="code", errors=True, profile=True)
    ),
    "kernwright": (
        "kernwright", {}, {"start", "improve", "combine", "simplify", "tune"}, 1,
        replace(
            NOTHING, best="full", parents="full", elite=2, insights=3, knowledge_tokens=3000, errors=True, profile=True,
            diagnosis=True, memory="both", memory_rate=0.5, failures=3, mended=2,
        ),
    ),
}  # fmt: skip
GOOD = """\
title = "Mine"
summary = "Islands, few of them."
source = "me"
intents = ["start", "improve"]
repairs = 1

[policy]
name = "islands"
settings = { islands = 2 }

[guidance]
best = "code"

[budget]
proposals = 9
in_flight = 2
"""


def test_every_method_of_the_table_is_there() -> None:
    assert set(methods.names()) == set(TABLE)


@pytest.mark.parametrize("name", sorted(TABLE))
def test_each_says_what_the_table_says(name: str) -> None:
    method, (policy, settings, intents, repairs, guidance) = methods.load(name), TABLE[name]
    assert (method.name, method.policy.name, set(method.intents)) == (name, policy, intents)
    assert settings.items() <= method.policy.settings.items()
    assert method.repairs == repairs
    told = {f.name: getattr(method.guidance, f.name) for f in fields(Guidance)}
    assert told == {f.name: getattr(guidance, f.name) for f in fields(Guidance)}
    assert method.budget.proposals == 45
    assert method.budget.in_flight == (1 if name == "refine" else 4)
    assert method.source
    assert method.summary


def test_of_the_default_some_nodes_have_a_memory_and_some_have_none() -> None:
    assert 0 < methods.load(methods.DEFAULT).guidance.memory_rate < 1


def run_of(method: str, *operators: OperatorSpec, **changes: Any) -> RunSpec:
    """A run by this method that judges nothing."""
    given = {"target": "cpu:null", "operators": operators, "executor": "inline", **changes}
    plain = methods.applied(methods.load(method), given)
    return spec(*operators, **{key: value for key, value in plain.items() if key not in ("operators", "target")})


@pytest.mark.parametrize("name", sorted(TABLE))
def test_each_runs_to_its_budget_with_an_operator_for_everything(name: str, tmp_path: Path) -> None:
    lines = ["SPEEDUP = 1.2", "WRONG = True", "N = {node}"]
    every = "start,improve,repair,combine,simplify,port,tune"
    settings = run_of(name, scripted(*lines, forever=True, intents=every), seed=3)
    made = service.create(tmp_path, settings, PROBLEM)
    graph = service.drive(tmp_path, made, resume=False)
    assert graph.spent.proposals == 45
    assert graph.champion() is not None
    assert graph.spec is not None
    assert graph.spec.method == name
    asked = {event.pick.intent for event in of_kind(tmp_path, made, Picked)}
    allowed = TABLE[name][2] | ({"repair"} if TABLE[name][3] else set())
    assert asked <= allowed
    assert kinds(tmp_path, made)[-1] == "run_finished"


@pytest.mark.parametrize("name", sorted(TABLE))
def test_each_ends_with_a_champion_where_only_starts_and_knobs_are_to_be_had(name: str, tmp_path: Path) -> None:
    """As with the compiler and the tuner, which need no model."""
    starts = scripted("SPEEDUP = 1.1", "WRONG = True", "SPEEDUP = 1.5; BLOCK = 1; KNOBS = {'BLOCK': [1, 2]}")
    tuner = scripted("SPEEDUP = 1.6", intents="tune", label="tuned ")
    made = service.create(tmp_path, run_of(name, starts, tuner), PROBLEM)
    graph = service.drive(tmp_path, made, resume=False)
    champion = graph.champion()
    assert champion is not None
    assert champion.score is not None
    assert graph.spent.proposals >= 3
    tuned = [node for node in graph.nodes if node.pick.intent == "tune"]
    assert bool(tuned) == (name == "kernwright")


def test_what_is_given_comes_before_what_the_method_says() -> None:
    given = {
        "method": "funsearch",
        "target": "cpu:x86-64-v2",
        "repairs": 2,
        "policy_settings": {"islands": 3},
        "proposals_in_flight": None,
    }
    made = intake.spec_of(given)
    assert (made.method, made.policy, made.repairs, made.proposals_in_flight) == ("funsearch", "islands", 2, 4)
    assert (made.policy_settings["islands"], made.policy_settings["temperature"]) == (3, 0.1)
    assert made.budget == Budget(proposals=45)
    assert intake.spec_of({**given, "budget": Budget(seconds=5.0)}).budget == Budget(seconds=5.0)
    other = intake.spec_of({"method": "funsearch", "target": "cpu:x86-64-v2", "policy": "greedy"})
    assert (other.policy, other.policy_settings) == ("greedy", {})


def test_a_file_of_one_s_own_is_a_method(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(GOOD)
    method = methods.load(str(path))
    assert (method.name, method.policy.settings, method.guidance) == ("mine", {"islands": 2}, Guidance(best="code"))


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('title = "Mine"', "", "has no 'title'"),
        ('title = "Mine"', "title = 3", "title is 3; it should be a valid string"),
        ("repairs = 1", "repairs = -1", "repairs is -1; it must be 0 or more"),
        ("repairs = 1", 'repairs = "often"', "repairs is 'often'"),
        ("repairs", "repair", "There is no key 'repair'; there are:"),
        ('"improve"]', '"imporve"]', "intents.1 is 'imporve'; it should be 'start', 'improve'"),
        ('["start", "improve"]', "[]", "intents is empty"),
        ('["start", "improve"]', '["improve"]', "intents is ['improve'], without 'start'"),
        ('"improve"]', '"explain"]', "intents has 'explain', which makes no kernel"),
        ("in_flight = 2", "in_flight = 100000", "budget.in_flight is 100000; it must be 256 or less"),
        ("proposals = 9", "proposals = 99999999999999999999", "it must be 1000000 or less"),
        ("islands = 2", "islands = 99999999999999999999", "it should be less than or equal to 1000"),
        (
            'name = "islands"\nsettings = { islands = 2 }', 'name = "stagnation"\nsettings = { calm = "nope" }',
            "policy.settings.calm is 'nope': There is no policy 'nope'; there are:",
        ),
        ('name = "islands"', 'name = "iland"', "policy.name: There is no policy 'iland'"),
        ('name = "islands"', "", "has no 'policy.name'"),
        ("islands = 2", 'islands = "two"', "policy.settings.islands is 'two'; it should be a valid integer"),
        ("islands = 2", "islands = 0", "policy.settings.islands is 0; it should be greater than or equal to 1"),
        ('name = "islands"', 'name = "os:system"', "policy.name: 'os:system' is no policy"),
        ("islands = 2", "isles = 2", "policy.settings: There is no setting of policy 'islands', 'isles'"),
        ('best = "code"', 'best = "all"', "guidance.best is 'all'; it should be 'none', 'code' or 'full'"),
        ('best = "code"', "beast = 1", "There is no key 'guidance.beast'"),
        ('best = "code"', "memory_rate = 1.5", "guidance.memory_rate is 1.5; it is a share"),
        ('best = "code"', 'knowledge_for = ["compse"]', "knowledge_for: There is no intent or variant 'compse'"),
        ('best = "code"', "elite = -2", "guidance.elite is -2; it must be 0 or more"),
        ("proposals = 9", "proposals = 0", "budget.proposals is 0; it must be 1 or more"),
        ("[budget]", "[budget", "is no TOML"),
        ('source = "me"', 'source = "me"\nname = "other"', "its name is the file's"),
    ],
)  # fmt: skip
def test_a_malformed_file_is_refused_by_key(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    assert old in GOOD
    path = tmp_path / "mine.toml"
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(UserError) as refused:
        methods.load(str(path))
    assert sentence in str(refused.value)
    assert "mine.toml" in str(refused.value)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("funserch", "Did you mean 'funsearch'"), ("nowhere.toml", "cannot be read"), ("", "There is no method ''")],
)
def test_a_method_that_is_not_there_is_refused(name: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        methods.load(name)


def test_a_name_of_nothing_is_no_method() -> None:
    with pytest.raises(UserError, match="There is no method ''"):
        intake.spec_of({"method": "", "target": "cpu:x86-64-v2"})


def test_a_setting_that_a_policy_itself_refuses_is_named_on_the_command_line_too() -> None:
    given = {"policy": "stagnation", "policy_settings": {"share": 0.5, "calm": "nope"}, "target": "cpu:x86-64-v2"}
    with pytest.raises(UserError, match="The setting 'calm' of policy 'stagnation' is 'nope': There is no policy"):
        intake.spec_of(given)


def test_no_run_has_more_in_flight_than_a_machine_holds() -> None:
    with pytest.raises(UserError, match="proposals_in_flight is 100000; it must be at least 1, and at most 256"):
        wiring.check(spec(scripted("SPEEDUP = 1"), proposals_in_flight=100_000))


def test_methods_are_listed_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["methods"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in TABLE)
    assert "kernwright*" in listed
    assert max(map(len, listed.splitlines())) <= 80
    assert run(["methods", "funsearch"]) == 0
    assert "temperature=0.1" in " ".join(capsys.readouterr().out.split())
    assert run(["methods", "eoh-paper", "--json"]) == 0
    assert '"simplify":true' in capsys.readouterr().out
