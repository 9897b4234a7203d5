"""What a person asks a model for beside a search: explain, critique, port."""

import json
from pathlib import Path

import pytest
from cli_runs import Kernwright
from engine_runs import created, of_kind, scripted
from model_runs import LLM, asking, reply, script

from kernwright.core.events import ModelCalled
from kernwright.core.model import ModelSpec
from kernwright.core.spec import Budget
from kernwright.engine import by_hand, service

pytest.importorskip("jinja2")
TEXT = "It reads each element once.\nIt would break on strided inputs."


@pytest.fixture
def kernwright(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Kernwright:
    return Kernwright(tmp_path, capsys)


def test_an_explanation_is_kept_with_the_node(tmp_path: Path, kernwright: Kernwright) -> None:
    run = asking(tmp_path, script(tmp_path, reply("SPEEDUP = 1.5", "fused"), TEXT, "Too slow."))
    service.drive(tmp_path, run, resume=False, budget=None)
    before = service.load(tmp_path, run)
    assert before.finished is not None
    other = script(tmp_path, TEXT, name="other.json")
    said = kernwright("explain", run, "--model", other.name, "--json").json
    assert said["text"] == TEXT
    assert "has no more replies" in kernwright.refused("critique", run, "0", "--model", other.name)
    shown = kernwright("show", run, "0").out
    assert TEXT in shown
    (remark,) = kernwright("show", run, "0", "--json").json["remarks"]
    assert (remark["intent"], remark["state"], remark["author"]) == ("explain", "remarked", other.name)
    assert kernwright("show", run, str(remark["node"])).out.rstrip().endswith(TEXT)
    after = service.load(tmp_path, run)
    assert after.spent.proposals == before.spent.proposals
    assert after.finished == before.finished
    assert "remarked" in kernwright("show", run).out
    assert of_kind(tmp_path, run, ModelCalled)[-1].intent == "explain"


def test_a_reply_that_held_no_candidate_is_shown(tmp_path: Path, kernwright: Kernwright) -> None:
    run = asking(tmp_path, script(tmp_path, "I cannot do this.", "long " * 1000 + "end"), budget=Budget(proposals=2))
    service.drive(tmp_path, run, resume=False)
    assert kernwright("show", run, "0").out.endswith("The reply:\nI cannot do this.\n")
    assert kernwright("show", run, "0", "--json").json["reply"] == "I cannot do this."
    shown = kernwright("show", run, "1").out
    assert "The reply ended with:" in shown
    assert shown.endswith("long end\n")


def test_what_cannot_be_explained_is_a_sentence(tmp_path: Path, kernwright: Kernwright) -> None:
    run = asking(tmp_path, script(tmp_path, "no kernel at all"))
    assert "Nothing of run" in kernwright.refused("explain", run)
    service.drive(tmp_path, run, resume=False)
    assert "has no candidate" in kernwright.refused("explain", run, "0")
    assert "has no node 77" in kernwright.refused("critique", run, "77")


def test_a_run_without_models_says_how_to_name_one(tmp_path: Path, kernwright: Kernwright) -> None:
    run = created(tmp_path, scripted("SPEEDUP = 1.5"))
    service.drive(tmp_path, run, resume=False)
    assert "name one with --model" in kernwright.refused("explain", run)


def test_a_port_is_a_run_of_its_own_that_begins_with_the_old_kernel(tmp_path: Path) -> None:
    run = asking(tmp_path, script(tmp_path, reply("SPEEDUP = 1.5", "fused")))
    service.drive(tmp_path, run, resume=False)
    other = script(tmp_path, reply("SPEEDUP = 1.8", "ported"), name="other.json")
    made = by_hand.port(tmp_path, run, None, "rocm:gfx942", (other,))
    graph = service.load(tmp_path, made)
    assert graph.spec is not None
    assert graph.spec.target == "rocm:gfx942"
    assert graph.spec.operators == (LLM,)
    first, second = graph.nodes
    assert first.candidate is not None
    assert (second.pick.intent, second.pick.parents) == ("port", (0,))
    done = service.drive(tmp_path, made, resume=True)
    assert done.nodes[1].draft is not None
    assert done.nodes[1].draft.kind == "proposed"
    (call,) = [c for c in done.calls if c.intent == "port"]
    assert call.model == other.name


def test_a_port_to_another_language_asks_for_that_one(tmp_path: Path, kernwright: Kernwright) -> None:
    run = asking(tmp_path, script(tmp_path, reply("SPEEDUP = 1.5", "fused")))
    service.drive(tmp_path, run, resume=False)
    other = script(tmp_path, reply("SPEEDUP = 1.8", "ported"), name="other.json")
    made = by_hand.port(tmp_path, run, None, None, (other,), language="torch")
    done = service.drive(tmp_path, made, resume=True)
    assert done.spec is not None
    assert done.spec.languages == ("torch",)
    (call,) = [c for c in done.calls if c.intent == "port"]
    with service.opened(tmp_path) as store:
        prompt = json.loads(store.get(call.prompt))["user"]
    assert "It is to be written in `torch`." in prompt
    assert "### torch" in prompt
    assert "### cpp" not in prompt
    for arguments, said in (
        ([], "say --target, --language, or both"),
        (["--language", "tritan"], "Did you mean 'triton'"),
        (["--language", "triton", "--target", "cpu"], "Triton candidates are built for"),
    ):
        assert said in kernwright.refused("port", run, *arguments)


def test_a_spent_budget_leaves_no_room_for_an_explanation(tmp_path: Path, kernwright: Kernwright) -> None:
    model = script(tmp_path, reply("SPEEDUP = 1.5"), TEXT)
    dear = ModelSpec(name=model.name, usd_out=1.0, max_tokens=1_000_000)
    run = asking(tmp_path, dear, budget=Budget(usd=1.00001, proposals=1))
    service.drive(tmp_path, run, resume=False)
    assert json.loads((tmp_path / "script.json").read_text())[1] == TEXT
    assert "1.00001 usd leaves no room for another call" in kernwright.refused("explain", run)
