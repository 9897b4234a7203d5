"""What a person sees of profiles: the diagnosis, what changed, the ledger; and what is not seen, once."""

from pathlib import Path

import pytest
from cli_runs import CANDIDATE, PROBLEM, Kernwright
from engine_runs import created

from kernwright.cli.progress import Progress
from kernwright.core.guidance import Guidance
from kernwright.core.spec import Budget, OperatorSpec
from kernwright.engine import service
from kernwright.testing.scripted import scripted as candidate

TOLD = Guidance(profile=True, diagnosis=True)
BLIND = 'MISSING = ("counters: not permitted",)'
FIRST = f'SPEEDUP = 1.5; COUNTERS = {{"dram_busy": 0.9, "dram_bytes": 1000.0}}; {BLIND}'
SECOND = f'SPEEDUP = 1.9; COUNTERS = {{"dram_busy": 0.5, "dram_bytes": 400.0}}; {BLIND}'


@pytest.fixture
def kernwright(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Kernwright:
    return Kernwright(tmp_path / "home", capsys)


@pytest.fixture
def run(kernwright: Kernwright) -> str:
    """One whose two nodes came by ask and tell, the second with what it was to change."""
    mailbox = OperatorSpec(name="mailbox")
    run = created(kernwright.home, mailbox, guidance=TOLD, budget=Budget(proposals=3))
    home = kernwright.home
    service.tell(home, run, service.ask(home, run).node, candidate(FIRST), summary="plain")
    expects = ("DRAM bytes -50 %", "registers -10 %")
    service.tell(home, run, service.ask(home, run).node, candidate(SECOND), summary="half the bytes", expects=expects)
    return run


def test_a_run_shows_its_ledger_and_what_was_not_seen_once(kernwright: Kernwright, run: str) -> None:
    shown = kernwright("show", run).out
    assert max(map(len, shown.splitlines())) <= 80
    assert "expected and seen" in shown
    assert "DRAM bytes -50 %" in shown
    assert "half the bytes" in shown
    assert "came 1 · unseen 1" in shown
    assert shown.count("counters: not permitted") == 1
    rows = kernwright("show", run, "--json").json["ledger"]
    assert [(row["node"], row["idea"], row["seen"]["verdict"]) for row in rows] == [
        (1, "half the bytes", "came"),
        (1, "half the bytes", "unseen"),
    ]


def test_a_node_shows_its_diagnosis_and_what_changed(kernwright: Kernwright, run: str) -> None:
    first = kernwright("show", run, "0").out
    assert "DRAM runs at 90.0% of its peak" in first
    second = kernwright("show", run, "1").out
    assert max(map(len, second.splitlines())) <= 80
    assert "Expected: DRAM bytes -50 %" in second
    assert "against node 0" in second
    assert "-60%" in second
    said = kernwright("show", run, "1", "--json").json
    assert said["profile"]["counters"]["dram_bytes"] == 400
    assert said["diagnosis"]["expected"][0]["verdict"] == "came"
    [change] = [each for each in said["changes"] if each["name"] == "dram_bytes"]
    assert (change["before"], change["after"]) == (1000, 400)


def test_diff_compares_figures_too(kernwright: Kernwright, run: str) -> None:
    assert "DRAM throughput" in kernwright("diff", run, "0", "1").out
    assert {each["name"] for each in kernwright("diff", run, "0", "1", "--json").json["changes"]} >= {"dram_busy"}


def test_the_next_brief_tells_all_of_it(kernwright: Kernwright, run: str) -> None:
    text = kernwright("ask", run).out
    assert "What limits the parent" in text
    assert "expected was 'DRAM bytes -50 %'; it came" in text
    assert "DRAM bytes 1 kB -> 400 B" in text
    assert "--expect" in text
    assert "`DRAM bytes -30 %`, `time on all -20 %`" in text
    assert "of one workload also: DRAM throughput, DRAM bytes." in text
    assert "registers 168" not in text  # nothing counts them here
    said = kernwright("ask", run, "--json").json
    assert "it came" in said["diagnosis"]
    assert said["counted"] == ["DRAM throughput", "DRAM bytes"]
    assert "DRAM throughput 50.0%, DRAM bytes 400 B" in said["parents"][0]["profile"]


def test_an_expectation_that_nobody_could_check_is_said_before_anything_is_judged(
    kernwright: Kernwright, run: str, tmp_path: Path
) -> None:
    brief = str(kernwright("ask", run, "--json").json["brief"])
    file = tmp_path / "c.py"
    file.write_text("SPEEDUP = 2.5\ndef kernel(x):\n    return x\n")
    tell = ("tell", run, brief, file, "--language", "torch", "--expect")
    said = kernwright.refused(*tell, "time on lnog -20 %")
    assert "'lnog'" in said
    assert "there are: " in said
    loose = kernwright(*tell, "it flies")
    assert loose.code == 0
    assert "a sentence that nothing checks" in loose.err


def test_progress_says_once_what_is_not_seen(kernwright: Kernwright) -> None:
    operator = OperatorSpec(
        name="kernwright.testing.scripted:Scripted",
        settings={"script": f"{FIRST}\n{SECOND}\nSPEEDUP = 2.5; {BLIND}", "intents": "start,improve"},
    )
    settings = {"policy_settings": {"starts": 1}, "proposals_in_flight": 1, "budget": Budget(proposals=3)}
    run = created(kernwright.home, operator, guidance=TOLD, **settings)
    kernwright.capture.readouterr()
    with Progress(run) as progress:
        graph = service.drive(kernwright.home, run, resume=False, observe=progress.observe)
    assert sum(node.profile is not None for node in graph.nodes) >= 2
    said = kernwright.capture.readouterr().err
    assert said.count("not seen: counters: not permitted") == 1
    assert "node 0: limited by dram" in said


def test_ways_to_look_that_are_none_are_refused(kernwright: Kernwright, tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text(PROBLEM)
    (tmp_path / "c.py").write_text(CANDIDATE)
    said = kernwright.refused("evolve", tmp_path / "p.py", "--profiles", "cod", "--hold", "--target", "cpu")
    assert "Did you mean 'code'" in said
    assert "nothing.py" in kernwright.refused("profile", tmp_path / "p.py", tmp_path / "nothing.py")
