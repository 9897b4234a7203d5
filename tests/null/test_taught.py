"""From what limits a kernel to the notes about it, and a language from outside that a folder teaches."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from engine_runs import PROBLEM, scripted, spec

from kernwright.core.brief import Brief
from kernwright.core.guidance import Guidance
from kernwright.core.profile import Profile
from kernwright.core.spec import Budget, OperatorSpec
from kernwright.engine import methods, service
from kernwright.engine.briefs import brief_of
from kernwright.engine.journal import Journal
from kernwright.engine.shelves import packs_of
from kernwright.engine.written import recognise
from kernwright.knowledge.folders import read
from kernwright.knowledge.lint import lint
from kernwright.knowledge.situations import Situation
from kernwright.knowledge.vocabulary import spoken
from kernwright.search.diagnosis import diagnose
from kernwright.store.sql import SqlStore

QUERN = "kernwright.testing.quern:Quern"
PACK = Path(__file__).parents[2] / "examples" / "quern" / "knowledge"
ARMS = Path(__file__).parents[2] / "benchmarks" / "ablation"
TOLD = Guidance(profile=True, diagnosis=True, knowledge_tokens=3000)
ROWS = "class Model:\n    def forward(self, x):\n        return torch.softmax(x, -1)\n"
PROGRAM = "from kernwright.testing.quern import load\n"


def after_a_look(home: Path, counters: str, guidance: Guidance = TOLD) -> tuple[Brief, Journal]:
    """The brief of whoever improves a kernel that was seen so."""
    line = f"SPEEDUP = 1.5; COUNTERS = {counters}"
    operator = scripted(line, "SPEEDUP = 1.1", intents="start,improve")
    settings = spec(
        operator,
        target="cuda:sm_90a",
        languages=("cuda",),
        guidance=guidance,
        budget=Budget(proposals=2),
        policy_settings={"starts": 1},
        proposals_in_flight=1,
    )
    run = service.create(home, settings, replace(PROBLEM, source=ROWS))
    service.drive(home, run, resume=False)
    return told(home, run, 1)


def told(home: Path, run: str, node: int) -> tuple[Brief, Journal]:
    store = SqlStore(home)
    try:
        journal = Journal(store, run)
        assert journal.library is not None
        return brief_of(journal, node), journal
    finally:
        store.close()


@pytest.mark.parametrize(
    ("counters", "bottleneck"),
    [
        ('{"dram_busy": 0.9, "dram_bytes": 1000.0}', "dram"),
        ('{"bank_conflict_share": 0.5, "dram_busy": 0.1}', "bank-conflicts"),
        ('{"loads_used": 0.25, "dram_busy": 0.1}', "uncoalesced"),
    ],
)
def test_what_a_profile_says_leads_to_notes_about_it(tmp_path: Path, counters: str, bottleneck: str) -> None:
    brief, journal = after_a_look(tmp_path, counters)
    assert brief.bottlenecks[0] == bottleneck
    assert journal.library is not None
    first, *_ = [journal.library.read(passage.name) for passage in brief.knowledge]
    assert first is not None
    assert bottleneck in first.bottlenecks


def test_without_diagnoses_in_its_guidance_a_run_is_not_led_by_them(tmp_path: Path) -> None:
    arms = (TOLD, replace(TOLD, diagnosis=False), replace(TOLD, profile=False, diagnosis=False))
    names = []
    for number, guidance in enumerate(arms):
        home = tmp_path / str(number)
        home.mkdir()
        brief, _ = after_a_look(home, '{"bank_conflict_share": 0.5, "dram_busy": 0.1}', guidance)
        names.append([passage.name for passage in brief.knowledge])
    assert names[0] != names[1]
    assert names[1] == names[2]


def quern(home: Path, **changes: Any) -> Brief:
    """The first brief of a run for a device that nobody knows."""
    home.mkdir()
    settings = spec(OperatorSpec(name="mailbox"), languages=(QUERN,), guidance=TOLD, **changes)
    return service.ask(home, service.create(home, settings, replace(PROBLEM, source=ROWS)))


def test_a_folder_teaches_a_language_from_outside(tmp_path: Path) -> None:
    untaught, taught = quern(tmp_path / "without"), quern(tmp_path / "with", knowledge=packs_of([PACK]))
    assert not [each.name for each in (*untaught.knowledge, *untaught.further) if "quern" in each.name]
    assert {passage.name for passage in taught.knowledge[:2]} == {"constraints/quern-form", "constraints/quern-hauls"}
    named = {each.name for each in (*taught.knowledge, *taught.further)}
    assert {f"{note.name}" for note in read(PACK).notes} <= named


def test_the_pack_of_the_example_is_in_order(tmp_path: Path) -> None:
    assert lint(read(PACK)) == []
    for folder in ("languages", "guidance"):  # what only one folder says may be a slip
        (tmp_path / folder).mkdir()
        for path in (PACK / folder).glob("q*.md"):
            (tmp_path / folder / path.name).write_text(path.read_text())
    assert any("applies to 'quern', which no language" in finding.said for finding in lint(read(tmp_path)))


def test_a_language_from_outside_is_recognised_where_it_is_named() -> None:
    assert recognise({"kernel.py": PROGRAM}, (QUERN,)) == QUERN
    assert recognise({"kernel.py": PROGRAM}) == "torch"
    assert recognise({"kernel.py": "import torch\n"}, ("torch", QUERN)) == "torch"
    assert recognise({"kernel.py": "from kernwright.languages.cpp_loader import load"}, ("torch",)) == "cpp"
    assert (spoken(QUERN), spoken("triton")) == ("quern", "triton")


@pytest.mark.parametrize(
    ("arm", "intents", "changed"),
    [
        ("no-retrieval", (), {"knowledge_tokens": 0}),
        ("no-diagnosis", (), {"profile": False, "diagnosis": False}),
        ("no-tuning", ("tune",), {}),
    ],
)
def test_an_arm_differs_from_the_default_in_what_its_name_says(
    arm: str, intents: tuple[str, ...], changed: dict[str, Any]
) -> None:
    whole, without = methods.load(methods.DEFAULT), methods.load(str(ARMS / f"{arm}.toml"))
    assert without.guidance == replace(whole.guidance, **changed)
    assert without.intents == tuple(intent for intent in whole.intents if intent not in intents)
    same = ("policy", "repairs", "budget")
    assert [getattr(without, name) for name in same] == [getattr(whole, name) for name in same]


def test_what_is_ruled_out_is_not_looked_for() -> None:
    seen = Profile(counters={"bank_conflict_share": 0.5, "spill_bytes": 0.0, "local_accesses": 0.0})
    found = diagnose(seen)
    assert found is not None
    assert any("spills" in sentence for sentence in found.ruled_out)
    asked = Situation(problem=PROBLEM, target="cuda:sm_90a", diagnosis=found)
    assert "bank" in asked.text
    assert "spill" not in asked.text
