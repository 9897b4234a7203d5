"""A coding agent's command line as an operator: a script plays the agent, real processes all the same."""

import asyncio
import os
import shlex
import sys
import time
from pathlib import Path

import pytest
from cli_runs import PROBLEM as CLI_PROBLEM
from cli_runs import Kernwright
from engine_runs import PROBLEM, of_kind, spec

from kernwright.core.brief import Proposed, Unusable
from kernwright.core.errors import UserError
from kernwright.core.events import ModelCalled
from kernwright.core.graph import Graph
from kernwright.core.model import Prompt, Reply
from kernwright.core.node import Node
from kernwright.core.spec import Budget, OperatorSpec
from kernwright.engine import service
from kernwright.engine.replaying import replayed
from kernwright.search.operators.agent import STOP_S
from kernwright.search.operators.agent_box import box_works, boxed
from kernwright.store.codec import decode
from kernwright.store.sql import SqlStore

pytest.importorskip("jinja2")

KERNEL = "SPEEDUP = {speedup}\\n\\n\\ndef kernel(x):\\n    return x\\n"
WRITES = f"""\
from pathlib import Path
print("thinking")
assert "BRIEF.md" in sys.argv[1], sys.argv
assert "Nothing else in the folder counts" in Path("BRIEF.md").read_text()
had = Path("candidate.py").exists()
Path("candidate.py").write_text("{KERNEL}".format(speedup=1.5 if had else 1.25))
print("NAME: better" if had else "NAME: first")
print("APPROACH: by hand")
"""


def agent(folder: Path, body: str, **settings: object) -> OperatorSpec:
    """An operator whose agent is this script."""
    script = folder / "agent.py"
    script.write_text("import os, subprocess, sys, time\n" + body)
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(script))} {{brief}}"
    return OperatorSpec(name="agent", settings={"command": command, **settings})  # type: ignore[arg-type]


def ran(folder: Path, body: str, *, proposals: int = 1, box: bool = False, **settings: object) -> Graph:
    """The end of a run that such an agent had to itself."""
    home = folder / "home"
    asked = spec(agent(folder, body, box=box, **settings), budget=Budget(proposals=proposals), proposals_in_flight=1)
    run = service.create(home, asked, PROBLEM)
    return service.drive(home, run, resume=False)


def why(node: Node) -> str:
    assert isinstance(node.draft, Unusable)
    return node.draft.reason


def gone(pid: int, limit_s: float = 10.0) -> bool:
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def test_what_an_agent_leaves_is_judged_and_its_session_journalled(tmp_path: Path) -> None:
    graph = ran(tmp_path, WRITES, proposals=2, starts=1, label="somebody", usd=0.5)
    drafts = [node.draft for node in graph.nodes if isinstance(node.draft, Proposed)]
    assert [(d.operator, d.author, d.summary, d.approach) for d in drafts] == [
        ("agent", "somebody", "first", "by hand"),
        ("agent", "somebody", "better", "by hand"),
    ]
    champion = graph.champion()
    assert champion is not None
    assert champion.draft == drafts[1]
    home = tmp_path / "home"
    (run,) = SqlStore(home).runs()
    calls = of_kind(home, run, ModelCalled)
    assert [(call.model, call.usd, call.error) for call in calls] == [("agent:somebody", 0.5, "")] * 2
    assert graph.spent.usd == 1.0
    store = SqlStore(home)
    try:
        assert "thinking" in decode(Reply, store.get(calls[0].reply)).text
        assert "already holds the source" in decode(Prompt, store.get(calls[1].prompt)).user
        assert replayed(store, run).differences == ()
    finally:
        store.close()


def test_no_session_begins_that_would_pass_the_budget(tmp_path: Path) -> None:
    home = tmp_path / "home"
    asked = spec(
        agent(tmp_path, WRITES, box=False, usd=0.1), budget=Budget(proposals=9, usd=0.35), proposals_in_flight=4
    )
    graph = service.drive(home, service.create(home, asked, PROBLEM), resume=False)
    assert graph.finished is not None
    assert "the budget of 0.35 usd leaves no room" in graph.finished.reason
    assert graph.spent.usd == pytest.approx(0.3)


def test_a_session_that_was_stopped_counts(tmp_path: Path) -> None:
    home = tmp_path / "home"
    asked = spec(agent(tmp_path, "time.sleep(1e6)", box=False, usd=0.1), budget=Budget(seconds=1.0))
    graph = service.drive(home, service.create(home, asked, PROBLEM), resume=False)
    assert [call.error for call in graph.calls] == ["stopped before the agent ended"] * len(graph.calls)
    assert graph.spent.usd == pytest.approx(0.1 * len(graph.calls))
    assert graph.calls


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("", "the agent left no file candidate.py in its folder"),
        ("sys.exit(3)", "the agent ended with status 3; the agent left no file"),
        ("os.abort()", "the agent ended with status 134; the agent left no file"),
        ("time.sleep(1e6)", "the agent did not end within 1 s; the agent left no file"),
        ("while True: print('y' * 99)", "the agent did not end within 1 s; the agent left no file"),
        ("os.symlink('/etc/passwd', 'candidate.py')", "the agent left no file candidate.py"),
        ("open('candidate.py', 'wb').write(b'\\xff')", "is not UTF-8 text"),
        ("open('candidate.py', 'w').write('x' * (1 << 21))", "longer than 1 MiB"),
        ("os.mkdir('sub'); open('sub/candidate.py', 'w').write('def kernel(x): return x')", "left no file"),
    ],
)
def test_an_agent_that_leaves_no_candidate_is_unusable_with_the_reason(tmp_path: Path, body: str, reason: str) -> None:
    graph = ran(tmp_path, body, timeout_s=1.0 if "1 s" in reason else 60.0)
    assert reason in why(graph.nodes[0])
    assert graph.calls[0].seconds < STOP_S


def test_source_left_as_it_was_is_unusable(tmp_path: Path) -> None:
    body = "if not os.path.exists('candidate.py'): open('candidate.py', 'w').write('def kernel(x):\\n    return x\\n')"
    nodes = ran(tmp_path, body, proposals=2, starts=1).nodes
    assert "left candidate.py as it was" in why(nodes[-1])


@pytest.mark.parametrize("ending", ["", "time.sleep(1e6)"], ids=["ends", "hangs"])
def test_what_an_agent_starts_dies_with_it(tmp_path: Path, ending: str) -> None:
    note = tmp_path / "pid"
    body = f"""\
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1e6)"], start_new_session=True)
open({str(note)!r}, "w").write(str(child.pid))
{ending}
"""
    ran(tmp_path, body, timeout_s=3.0)
    assert gone(int(note.read_text()))


def test_a_run_that_is_stopped_ends_its_agent(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    body = f"open({str(note)!r} + '~', 'w').write(str(os.getpid()))\nos.rename({str(note)!r} + '~', {str(note)!r})\n"
    operator = agent(tmp_path, body + "time.sleep(1e6)", box=False)
    home = tmp_path / "home"
    run = service.create(home, spec(operator, proposals_in_flight=1), PROBLEM)

    async def stopped() -> None:
        with service.opened(home) as store:
            from kernwright.engine.journal import Journal

            task = asyncio.create_task(service._driven(store, Journal(store, run), home, print, print))
            while not note.exists():
                await asyncio.sleep(0.02)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(stopped())
    assert gone(int(note.read_text()))
    graph = service.load(home, run)
    assert graph.nodes[0].draft is None  # a resume asks again


def test_an_agent_gets_few_variables_and_those_that_were_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "k-secret-1")
    monkeypatch.setenv("OTHER", "not for agents")
    monkeypatch.setenv("MINE", "named-value")
    body = "open('candidate.py', 'w').write(f'def kernel(x):\\n    return x\\n# {sorted(os.environ.items())}\\n')"
    (node,) = ran(tmp_path, body, env="MINE").nodes
    with service.opened(tmp_path / "home") as store:
        assert node.candidate is not None
        text = store.get(node.candidate).decode()
    assert "[MINE]" in text  # it had the value, which is kept out of what it leaves
    assert "named-value" not in text
    assert "k-secret-1" not in text
    assert "not for agents" not in text


def test_a_value_whose_beginning_was_cut_off_leaves_no_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what an agent says the end is kept; it may begin inside a key."""
    monkeypatch.setenv("SOME_API_KEY", "abcdef-0123456789-rest")
    graph = ran(tmp_path, "print(os.environ['SOME_API_KEY'] + 'x' * (20_000 - 11), end='')", env="SOME_API_KEY")
    (call,) = graph.calls
    with service.opened(tmp_path / "home") as store:
        said = store.get(call.reply).decode()
    assert "xxx" in said
    assert "rest" not in said


def test_sessions_have_a_limit_and_end_where_they_keep_failing(tmp_path: Path) -> None:
    graph = ran(tmp_path, WRITES, proposals=9, sessions=2)
    assert graph.finished is not None
    assert graph.finished.reason == "the agent had its 2 sessions"
    (tmp_path / "again").mkdir()
    graph = ran(tmp_path / "again", "print('not logged in'); sys.exit(1)", proposals=9)
    assert graph.finished is not None
    assert "failed 3 times in a row" in graph.finished.reason
    assert graph.spent.proposals == 3


def test_mistakes_are_sentences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for settings, said in (
        ({"command": "no-such-agent -p {brief}"}, "There is no command 'no-such-agent'"),
        ({"command": "sh 'x"}, "mind its quotes"),
        ({"command": "sh", "env": "NOT_SET_ANYWHERE"}, "The variable NOT_SET_ANYWHERE is not set"),
        ({"command": "sh", "writable": "/no/such/folder"}, "There is no /no/such/folder"),
        ({"command": "sh", "box": "perhaps"}, "give yes, no or auto"),
        ({"command": "sh", "timeout_s": 0.0}, "timeout_s is 0"),
        ({"command": "sh --key sk-planted-0123456789abcdef"}, "'command' of operator 'agent' holds a key"),
    ):
        operator = OperatorSpec(name="agent", settings=settings)  # type: ignore[arg-type]
        with pytest.raises(UserError, match=said):
            service.create(tmp_path / "home", spec(operator), PROBLEM)
    assert not (tmp_path / "home").exists()
    kernwright = Kernwright(tmp_path / "home", capsys)
    assert "no --agent is named" in kernwright.refused("evolve", "p.py", "--agent-env", "HOME")
    problem = tmp_path / "problem.py"
    problem.write_text(CLI_PROBLEM)
    told = "--operator", "agent:command=true,label=42,timeout_s=soon"
    assert "'timeout_s' of operator 'agent' is 'soon'; it should be a valid number" in kernwright.refused(
        "evolve", problem, *told
    )
    run = kernwright("evolve", problem, "--operator", "agent:command=true,label=42", "--hold", "--json").json["run"]
    (operator,) = kernwright("show", run, "--json").json["spec"]["operators"]
    assert operator["settings"] == {"command": "true", "label": "42"}
    assert "never its value" in kernwright.refused("evolve", "p.py", "--agent", "sh", "--agent-env", "KEY=1")


def test_a_box_hides_the_journal_and_leaves_little_to_write(tmp_path: Path) -> None:
    home, secret, scratch = tmp_path / "home", tmp_path / "problem.py", tmp_path / "scratch"
    home.mkdir()
    secret.touch()
    words = boxed(["codex", "exec"], scratch, [home, secret, tmp_path / "none"], [Path("/var/tmp")])
    text = " ".join(words)
    assert f"--tmpfs {home}" in text
    assert f"--ro-bind /dev/null {secret}" in text
    assert str(tmp_path / "none") not in text
    assert text.index("--tmpfs /tmp") < text.index(f"--bind {scratch} {scratch}")
    assert "--unshare-pid" in words
    assert text.endswith("-- codex exec")


@pytest.mark.skipif(not box_works(), reason="bubblewrap is not there, or may not work here")
def test_in_a_box_an_agent_writes_its_folder_alone_and_sees_no_journal(tmp_path: Path) -> None:
    outside = Path.home() / f"kernwright-{os.getpid()}"
    body = f"""\
found = [os.path.exists({str(tmp_path / "home" / "journal.db")!r}), len(os.listdir({str(tmp_path)!r}))]
try:
    open({str(outside)!r}, "w").close()
except OSError:
    found.append("read-only")
found.append(len([p for p in os.listdir("/proc") if p.isdigit()]) < 5)
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1e6)"], start_new_session=True)
open("candidate.py", "w").write(f"def kernel(x):\\n    return x\\n# {{found}}\\n")
"""
    (node,) = ran(tmp_path, body, box=True).nodes
    assert not outside.exists()
    with service.opened(tmp_path / "home") as store:
        assert isinstance(node.draft, Proposed), node.draft
        text = store.get(node.draft.candidate).decode()
    assert "# [False, 2, 'read-only', True]" in text  # the script, and a folder in place of the journal


@pytest.mark.skipif(box_works(), reason="bubblewrap works here")
def test_a_box_that_must_be_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="bubblewrap"):
        ran(tmp_path, "", box=True)
