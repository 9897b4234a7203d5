"""Commands about runs, with an evaluator that judges nothing."""

import sqlite3
import subprocess
import sys
import threading
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli_runs import CANDIDATE, PROBLEM, Kernwright
from engine_runs import created, scripted, spec

from kernwright.core.problem import Problem, Workload
from kernwright.core.spec import Budget, OperatorSpec
from kernwright.engine import service
from kernwright.store.sql import SqlStore

MAILBOX = OperatorSpec(name="mailbox", settings={"starts": 3})


@pytest.fixture
def kernwright(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Kernwright:
    return Kernwright(tmp_path / "home", capsys)


def ended(home: Path, *lines: str, **changes: Any) -> str:
    """A run with these candidates that has come to its end."""
    run = created(home, scripted(*lines), **changes)
    service.drive(home, run, resume=False)
    return run


def asked(home: Path) -> str:
    """A run that asks someone outside, on a problem that holds a workload back."""
    shapes = (Workload(name="wide", params={"cols": 64}), Workload(name="secret", params={"cols": 4711}, held_out=True))
    return service.create(home, spec(MAILBOX), Problem(name="plus", source=PROBLEM, workloads=shapes))


def test_runs_lists_them_with_their_best(kernwright: Kernwright) -> None:
    assert kernwright("runs", "--json").json["runs"] == []
    assert "no runs" in kernwright("runs").out
    run = ended(kernwright.home, "SPEEDUP = 1.5", "WRONG = True")
    [row] = kernwright("runs", "--json").json["runs"]
    assert (row["run"], row["champion_node"], row["best_speedup"]) == (run, 0, 1.5)
    assert "1.500x [1.485, 1.515]" in kernwright("runs").out


def test_show_tells_what_came_of_each_node(kernwright: Kernwright) -> None:
    run = ended(kernwright.home, "SPEEDUP = 1.5", "WRONG = True", "unusable: no code in it")
    said = kernwright("show", "latest", "--json").json
    assert said["run"] == run
    verdicts = [(n["node"], n["verdict"], n["speedup"], n["faster"]) for n in said["nodes"]]
    assert verdicts == [(0, "verified", 1.5, True), (1, "wrong", None, False), (2, None, None, False)]
    assert said["champion"]["node"] == 0
    shown = kernwright("show", run[:-1]).out
    assert max(map(len, shown.splitlines())) <= 80
    assert "no code in it" in shown
    assert "wrong as ordered" in shown


def test_show_a_node_prints_its_source_and_evaluation(kernwright: Kernwright) -> None:
    ended(kernwright.home, "SPEEDUP = 1.5")
    shown = kernwright("show", "latest", "0").out
    assert "SPEEDUP = 1.5\n" in shown
    assert "VERIFIED" in shown
    said = kernwright("show", "latest", "0", "--json").json
    assert said["evaluation"]["speedup"] == 1.5
    assert "SPEEDUP = 1.5" in said["files"][0]["text"]


def test_unknown_runs_and_nodes_are_refused_with_what_there_is(kernwright: Kernwright) -> None:
    assert "begin one with" in kernwright.refused("show", "latest")
    run = ended(kernwright.home, "SPEEDUP = 1.5")
    assert run in kernwright.refused("show", run.replace("nothing", "nothign"))
    assert "nodes are 0 to" in kernwright.refused("show", "latest", "77")
    assert "nodes are 0 to" in kernwright.refused("diff", "latest", "0", "77")


def test_diff_compares_sources_and_outcomes(kernwright: Kernwright) -> None:
    ended(kernwright.home, "SPEEDUP = 1.5", "SPEEDUP = 1.25")
    shown = kernwright("diff", "latest", "0", "1").out
    assert "-SPEEDUP = 1.5\n+SPEEDUP = 1.25\n" in shown
    assert "measured 1.250x" in shown
    said = kernwright("diff", "latest", "1", "1", "--json").json
    assert (said["diff"], said["b"]["speedup"]) == ("", 1.25)


def test_resume_extends_the_budget(kernwright: Kernwright) -> None:
    ended(kernwright.home, "SPEEDUP = 1.5", "SPEEDUP = 1.6", "SPEEDUP = 1.7", budget=Budget(proposals=1))
    said = kernwright("resume", "latest", "--budget", "proposals=2", "--json").json
    assert (said["spent"]["proposals"], said["budget"]["proposals"]) == (2, 2)
    shown = kernwright("resume", "latest", "--proposals", "3").out
    assert "Champion: node 2" in shown
    assert "Did you mean 'proposals'" in kernwright.refused("resume", "latest", "--budget", "proposal=3")
    assert "whole number" in kernwright.refused("resume", "latest", "--budget", "proposals=2.5")


def test_an_engine_that_holds_the_run_is_named(kernwright: Kernwright) -> None:
    run = ended(kernwright.home, "SPEEDUP = 1.5")
    store = SqlStore(kernwright.home)
    with store.lock(run):
        assert "is held by the process with pid" in kernwright.refused("resume", run)
    store.close()


def test_a_newer_journal_is_refused(kernwright: Kernwright) -> None:
    ended(kernwright.home, "SPEEDUP = 1.5")
    [journal] = kernwright.home.glob("*.db")
    with sqlite3.connect(journal) as connection:
        connection.execute("update meta set value = '999' where key = 'schema'")
    connection.close()
    assert "pip install --upgrade kernwright" in kernwright.refused("runs")


def test_a_fault_of_ours_ends_in_exit_1(kernwright: Kernwright) -> None:
    created(kernwright.home, scripted("BUG = 'as ordered'"))
    assert "as ordered" in kernwright.refused("resume", "latest", code=1)


def test_ask_holds_back_what_is_held_back(kernwright: Kernwright) -> None:
    run = asked(kernwright.home)
    shown = kernwright("ask", run)
    brief = kernwright("ask", run, "--json")
    for text in (shown.out, brief.out):
        assert "return x + 1" in text
        assert "secret" not in text
        assert "4711" not in text
    assert (brief.json["brief"], brief.json["intent"]) == (0, "start")
    assert f"kernwright tell {run} 0 FILE" in shown.out


def test_ask_waits_for_an_engine_that_has_nothing_to_ask_yet(kernwright: Kernwright) -> None:
    run = asked(kernwright.home)
    with closing(SqlStore(kernwright.home)) as engine, ExitStack() as at_work:
        at_work.enter_context(engine.lock(run))
        assert "no brief is open yet" in kernwright.refused("ask", run)
        gone = threading.Timer(1.0, at_work.close)
        gone.start()
        brief = kernwright("ask", run, "--wait", "60", "--json").json
        gone.join()
    assert brief["brief"] == 0


def test_a_deep_node_stands_apart_from_its_verdict(kernwright: Kernwright, tmp_path: Path) -> None:
    run = asked(kernwright.home)
    file = tmp_path / "answer.py"
    for number in range(9):  # each better than the one before, which it is made from
        file.write_text(f"SPEEDUP = {1 + number}\n{CANDIDATE}")
        kernwright("tell", run, str(kernwright("ask", run, "--json").json["brief"]), file)
    rows = [line for line in kernwright("show", run).out.splitlines() if " measured" in line]
    assert len(rows) == 9
    assert max(len(row) - len(row.lstrip()) for row in rows) == 6


def test_tell_answers_a_brief_and_the_next_shows_it(kernwright: Kernwright, tmp_path: Path) -> None:
    run = asked(kernwright.home)
    file = tmp_path / "answer.py"
    file.write_text("SPEEDUP = 1.5\n" + CANDIDATE)
    kernwright("ask", run)
    assert "no brief 7" in kernwright.refused("tell", run, "7", file)
    said = kernwright("tell", run, "0", file, "--author", "someone", "--summary", "plus one", "--json").json
    assert (said["verdict"], said["speedup"], said["queued"]) == ("measured", 1.5, False)
    assert "answer already" in kernwright.refused("tell", run, "0", file)
    kernwright("tell", run, str(kernwright("ask", run, "--json").json["brief"]), file)
    node = kernwright("show", run, "0", "--json").json
    assert (node["author"], node["summary"]) == ("someone", "plus one")


def test_what_is_told_must_be_a_text_file(kernwright: Kernwright, tmp_path: Path) -> None:
    run = asked(kernwright.home)
    kernwright("ask", run)
    binary = tmp_path / "binary.py"
    binary.write_bytes(b"\xff\xfe\x00")
    assert "There is no file" in kernwright.refused("tell", run, "0", tmp_path / "none.py")
    assert "is a folder" in kernwright.refused("tell", run, "0", tmp_path)
    assert "UTF-8" in kernwright.refused("tell", run, "0", binary)


def test_export_writes_a_file_that_needs_nothing_of_kernwright(kernwright: Kernwright, tmp_path: Path) -> None:
    ended(kernwright.home, "SPEEDUP = 1.5", "SPEEDUP = 1.25")
    out = tmp_path / "champion.py"
    said = kernwright("export", "latest", "-o", out, "--json").json
    assert said["path"] == str(out)
    # Nothing was measured by the evaluator that judges nothing, so there is no evidence.
    assert said["bundle"] is None
    assert "does not hold all samples" in said["without_bundle"]
    assert "# evidence: none. " in out.read_text()
    assert "does not hold all samples" in kernwright.refused("export", "latest", "-o", out, "--force", "--bundle", "b")
    text = out.read_text()
    assert "# verdict: verified\n" in text
    assert "1.500x [1.485, 1.515]" in text
    code = (
        f"import sys; sys.modules['kernwright'] = None; import runpy; print(runpy.run_path({str(out)!r})['kernel'](7))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("7\n", "")
    assert "is there already" in kernwright.refused("export", "latest", "-o", out)
    assert kernwright("export", "latest", "-o", out, "--force").code == 0


def test_export_says_so_where_nothing_is_verified(kernwright: Kernwright, tmp_path: Path) -> None:
    ended(kernwright.home, "SPEEDUP = 1.5; WRONG = 'confirm'", "SPEEDUP = 1.25")
    out = tmp_path / "other.py"
    assert "not verified" in kernwright.refused("export", "latest", "0", "-o", out)
    assert not out.exists()
    kernwright("export", "latest", "0", "-o", out, "--force")
    assert "NOT VERIFIED" in out.read_text()


def test_a_recording_can_be_replayed(kernwright: Kernwright, tmp_path: Path) -> None:
    ended(kernwright.home, "SPEEDUP = 1.5")
    tape = tmp_path / "tape.jsonl"
    assert kernwright("export", "latest", "--recording", tape, "--author", "someone").code == 0
    replay = OperatorSpec(name="replay", settings={"recording": str(tape)})
    again = service.create(
        kernwright.home, replace(spec(), operators=(replay,)), Problem(name="n", source="", workloads=())
    )
    said = kernwright("resume", again, "--json").json
    assert [(n["operator"], n["verdict"]) for n in said["nodes"]] == [("replay", "verified")]
