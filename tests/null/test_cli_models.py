"""`evolve --model` as a user gives it."""

from dataclasses import replace
from pathlib import Path

import pytest
from cli_runs import PROBLEM, Kernwright
from engine_runs import PROBLEM as FACT
from engine_runs import spec
from model_runs import reply, script

from kernwright import api
from kernwright.cli.progress import Progress
from kernwright.core.errors import UserError
from kernwright.core.events import Entry, ModelCalled
from kernwright.core.graph import Graph
from kernwright.core.model import ModelSpec
from kernwright.core.spec import OperatorSpec, RunSpec
from kernwright.engine import intake, service
from kernwright.engine.chosen_models import BESIDE, asked_last, models_of
from kernwright.engine.reading import reading

pytest.importorskip("pydantic_ai")
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY", "KERNWRIGHT_API_KEY")

PLANTED = "sk-planted-0123456789abcdef"


@pytest.fixture
def kernwright(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Kernwright:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    return Kernwright(tmp_path / "home", capsys)


@pytest.fixture
def problem(tmp_path: Path) -> Path:
    path = tmp_path / "problem.py"
    path.write_text(PROBLEM)
    return path


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--model", "gpt-5"], "should look like PROVIDER:NAME"),
        (["--model", "openai:"], "should look like PROVIDER:NAME"),
        (["--model", "nonsense:x", "--price", "1,2"], "There is no provider for the model 'nonsense:x'"),
        (["--model", "nonsense:x"], "There is no provider for the model 'nonsense:x'"),
        (["--model", "anthropic:claude-sonet-4-5"], "Did you mean 'anthropic:claude-sonnet-4-5'"),
        (
            ["--model", "openai:x", "--base-url", "http://127.0.0.1:99999/v1"],
            "should look like http://127.0.0.1:8080/v1",
        ),
        (["--model", "openai:gpt-5"], "needs a key; put it in the environment variable OPENAI_API_KEY"),
        (["--model", "openai:my-own-tune"], "The price of 'openai:my-own-tune' is not known"),
        (["--model", "openai:x", "--base-url", "http://10.1.2.3/v1"], "The price of 'openai:x' is not known"),
        (["--model", "openai:x", "--base-url", "10.1.2.3"], "should look like http://127.0.0.1:8080/v1"),
        (["--model", "openai:x", "--base-url", "http://user:pass@h/v1"], "no key may be in it"),
        (["--model", "openai:x", "--base-url", "http://h/v1?key=1"], "no key may be in it"),
        (["--model", "openai:x", "--price", "3"], "The price '3' should look like IN,OUT"),
        (["--model", "openai:x", "--price", "-1,3"], "must be two numbers, 0 or more"),
        (["--model", "openai:x", "--price", "inf,3"], "must be two numbers, 0 or more"),
        (["--model", "a:x", "--model", "b:x", "--model", "c:x", "--price", "1,2", "--price", "1,2"], "2 prices for 3"),
        (["--model", "openai:x", "--model", "openai:x", "--price", "1,2"], "is named twice"),
        (["--base-url", "http://127.0.0.1/v1"], "no --model is named"),
        (["--price", "1,2"], "no --model is named"),
        (["--operator", "llm"], "needs a model to ask"),
        (["--model", "scripted:/nowhere.json"], "cannot be read"),
        (["--model", "replay:/nowhere.jsonl"], "cannot be read"),
    ],
)
def test_what_is_wrong_is_a_sentence_and_no_run_is_made(
    kernwright: Kernwright, problem: Path, arguments: list[str], sentence: str
) -> None:
    assert sentence in kernwright.refused("evolve", problem, *arguments)
    assert not list((kernwright.home).glob("*.db")) or kernwright("runs", "--json").json["runs"] == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["--model", PLANTED],
        ["--model", f"openai:{PLANTED}"],
        ["--model", f"{PLANTED}:gpt-5", "--price", "1,2"],
        ["--model", f"openai:{PLANTED}", "--price", "1,2"],
        ["--model", "openai:x", "--base-url", PLANTED],
        ["--model", "openai:x", "--price", PLANTED],
    ],
)
def test_a_key_in_place_of_a_name_is_not_repeated(kernwright: Kernwright, problem: Path, arguments: list[str]) -> None:
    sentence = kernwright.refused("evolve", problem, *arguments)
    assert "planted" not in sentence
    assert "key" in sentence
    with pytest.raises(UserError) as refused:
        service.create(kernwright.home, spec(OperatorSpec(name="llm"), models=(ModelSpec(name="sk-planted9"),)), FACT)
    assert "planted" not in str(refused.value)


@pytest.mark.parametrize(
    "command",
    [("compare", "eoh", "funsearch", "--problem", "problem.py"), ("bench", "kernelbench", "--path", "x", "-o", "out")],
)
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--price", "1,2"], "no --model is named"),
        (["--model", "gpt-5"], "should look like PROVIDER:NAME"),
        (["--model", "openai:my-own-tune"], "The price of 'openai:my-own-tune' is not known"),
    ],
)
def test_many_searches_take_models_as_one_does(
    kernwright: Kernwright, command: tuple[str, ...], arguments: list[str], sentence: str
) -> None:
    assert sentence in kernwright.refused(*command, *arguments)


def test_prices_are_frozen_into_the_run(
    kernwright: Kernwright, problem: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789")
    told = ["--model", "openai:gpt-5", "--usd", "2", "--tokens", "100000", "--hold", "--max-tokens", "4000"]
    run = kernwright("evolve", problem, *told, "--json").json["run"]
    shown = kernwright("show", run, "--json").json
    (model,) = shown["spec"]["models"]
    assert (model["name"], model["usd_in"], model["usd_out"], model["max_tokens"]) == ("openai:gpt-5", 1.25, 10.0, 4000)
    operators = [(each["name"], each["settings"]) for each in shown["spec"]["operators"]]
    assert operators == [("compiler", {"only": "default"}), ("tuner", {}), ("llm", {})]
    assert (shown["budget"]["usd"], shown["budget"]["tokens"]) == (2.0, 100000)
    assert "planted" not in kernwright("show", run).out
    for path in kernwright.home.rglob("*"):
        assert not path.is_file() or b"planted" not in path.read_bytes()


def test_a_server_on_this_machine_and_a_script_are_free() -> None:
    (local,) = models_of(["openai:any"], base_url="http://localhost:8080/v1")
    (six,) = models_of(["openai:any"], base_url="http://[::1]:8080/v1")
    (scripted,) = models_of(["scripted:x.json"])
    assert {local.usd_in, local.usd_out, six.usd_out, scripted.usd_out} == {0.0}
    with pytest.raises(UserError, match="is not known"):
        models_of(["openai:any"], base_url="http://gateway.example/v1")


def test_one_price_stands_for_all_or_each_has_its_own() -> None:
    both = models_of(["openai:x", "groq:y"], prices=["1,2"])
    assert [(m.usd_in, m.usd_out) for m in both] == [(1.0, 2.0)] * 2
    each = models_of(["openai:x", "groq:y"], prices=["1,2", "3,4"])
    assert [(m.usd_in, m.usd_out) for m in each] == [(1.0, 2.0), (3.0, 4.0)]


def test_models_are_asked_after_what_costs_nothing() -> None:
    plain = RunSpec(target="").operators
    models = models_of(["scripted:x"])
    assert asked_last(plain, (), greedy=True) == plain
    assert asked_last(plain, models, greedy=True)[-1] == OperatorSpec(name="llm", settings={"starts": 4})
    assert asked_last(plain, models, greedy=False)[-1] == OperatorSpec(name="llm")
    assert asked_last((), models, greedy=False) == (*BESIDE, OperatorSpec(name="llm"))
    own = (OperatorSpec(name="llm"),)
    assert asked_last(own, models, greedy=True) == own


@pytest.mark.parametrize(
    ("told", "names"),
    [
        ([], ["compiler", "tuner"]),
        (["--model", "scripted"], ["compiler:default", "tuner", "llm"]),
        (["--agent", "true"], ["compiler:default", "tuner", "agent"]),
        (["--agent", "true", "--model", "scripted"], ["compiler:default", "tuner", "llm", "agent"]),
        (["--operator", "compiler", "--model", "scripted"], ["compiler", "llm"]),
    ],
)
def test_whoever_is_named_to_write_gets_all_proposals_but_the_first(
    kernwright: Kernwright, problem: Path, tmp_path: Path, told: list[str], names: list[str]
) -> None:
    model = script(tmp_path, reply("import torch", "copies"))
    told = [model.name if word == "scripted" else word for word in told]
    run = kernwright("evolve", problem, *told, "--hold", "--json").json["run"]
    operators = kernwright("show", run, "--json").json["spec"]["operators"]
    assert [":".join((each["name"], *filter(None, [each["settings"].get("only")]))) for each in operators] == names


def test_a_model_that_a_program_names_is_asked(tmp_path: Path, problem: Path) -> None:
    model = script(tmp_path, reply("import torch", "copies"))
    run = api.begin(problem, models=(model.name,), home=tmp_path / "home")
    with reading(tmp_path / "home", run) as view:
        assert [each.name for each in view.spec.operators] == ["compiler", "tuner", "llm"]


def test_a_model_on_the_processor_has_one_question_at_a_time(tmp_path: Path) -> None:
    for given, expected in (({}, 1), ({"proposals_in_flight": 3}, 3), ({"models": ["scripted:x"]}, 4)):
        settings = {"models": ["local:x.gguf"], "method": "eoh", "target": "cpu", **given}
        assert intake.spec_of(settings).proposals_in_flight == expected


def test_a_script_in_place_of_a_model_from_the_command_line(
    kernwright: Kernwright, problem: Path, tmp_path: Path
) -> None:
    model = script(tmp_path, "nothing to say", reply("import torch", "copies"))
    told = ["--operator", "llm", "--model", model.name, "--hold", "--language", "torch"]
    run = kernwright("evolve", problem, *told, "--json").json["run"]
    shown = kernwright("show", run, "--json").json
    assert "begin it with: kernwright resume" in kernwright("evolve", problem, *told).out
    told = ["--operator", "mailbox", "--hold"]
    assert "ask for a brief with: kernwright ask" in kernwright("evolve", problem, *told).out
    assert shown["spec"]["languages"] == ["torch"]
    assert shown["calls"] == 0
    assert model.name in "".join(kernwright("show", run).out.split("\n"))


def test_doctor_names_the_variables_of_keys_and_never_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    from kernwright.engine import doctor

    line, *_ = doctor._models()
    assert "no key" in line.found
    assert "OPENAI_API_KEY" in line.remedy
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-planted-0123456789")
    line, *_ = doctor._models()
    assert line.found.endswith("keys: anthropic (ANTHROPIC_API_KEY)")


def test_a_model_that_is_left_out_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    graph = Graph()
    graph.spec = spec(models=(ModelSpec(name="m:one"), ModelSpec(name="m:two")))
    called = ModelCalled(node=0, model="m:one", intent="start", prompt="", error="m:one refused the key.", barred=True)
    with Progress("a run") as progress:
        for seq in (1, 2):
            progress.observe(Entry(seq=seq, at=0.0, event=replace(called, node=seq)), graph)
    assert capsys.readouterr().err.count("m:one refused the key.") == 1
