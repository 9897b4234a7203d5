"""The server as an agent's client sees it: over stdio, with the real judge, and with clients that vanish."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("mcp")
pytest.importorskip("torch")

from mcp_sessions import ENDLESS, FILES, PROBLEM, Refused, call, connected

from kernwright.engine import service
from kernwright.engine.executors.guard import descendants
from kernwright.engine.reading import reading

pytestmark = pytest.mark.judged

TOOLS = set(
    "check_problem judge_candidate examine_machine start_run resume_run wait_run stop_run list_runs show_run "
    "diff_nodes export_kernel export_trajectories ask_brief tell_answer steer_run search_knowledge "
    "read_knowledge".split()
)
VANISHING = """
import asyncio, json, sys
from pathlib import Path
from mcp_sessions import call, connected

async def main():
    async with connected(Path(sys.argv[1])) as client:
        begun = asyncio.Event()
        async def progress(done, total, message):
            if "proposes" in (message or ""):
                begun.set()
        work = json.loads(sys.argv[2])
        task = asyncio.create_task(call(client, work.pop("tool"), progress=progress, **work))
        await begun.wait()
        print("begun", flush=True)
        await task

asyncio.run(main())
"""


@pytest.fixture
def problem(tmp_path: Path) -> Path:
    path = tmp_path / "problem.py"
    path.write_text(PROBLEM)
    return path


def endless(folder: Path) -> Path:
    path = folder / "endless.py"
    path.write_text(ENDLESS)
    return path


def none_left(pids: list[int], limit_s: float = 40.0) -> bool:
    """Whether all of these processes end within the limit."""
    deadline = time.monotonic() + limit_s
    while alive := [pid for pid in pids if _alive(pid)]:
        if time.monotonic() > deadline:
            print([Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ") for pid in alive if _alive(pid)])
            return False
        time.sleep(0.05)
    return True


def _judging(pid: int, limit_s: float = 30.0) -> list[int]:
    """Everything below this process, once a worker is among it."""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        pids = descendants(pid)
        if any("executors.worker" in _command(each) for each in pids):
            return pids
        time.sleep(0.05)
    raise AssertionError("no judge began")


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_an_agent_judges_asks_tells_looks_and_takes_away(tmp_path: Path, home: Path, problem: Path) -> None:
    async def session() -> None:
        said: list[str] = []

        async def progress(done: float, total: float | None, message: str | None) -> None:
            said.append(message or "")

        async with connected(home) as client:
            listed = (await client.list_tools()).tools
            assert {tool.name for tool in listed} == TOOLS
            assert all(tool.description for tool in listed)
            judging = asyncio.create_task(
                call(client, "judge_candidate", problem=str(problem), candidate=FILES, progress=progress)
            )
            assert (await call(client, "list_runs"))["runs"] == []
            assert not judging.done()  # the loop was free while the judge worked
            judged = await judging
            assert judged["verdict"] == "measured"
            assert judged["speedup"] > 0
            assert any("baselines" in line for line in said)

            made = await call(client, "start_run", problem=str(problem), operators=["mailbox"], hold=True, author="me")
            brief = await call(client, "ask_brief", run=made["run"])
            assert brief["intent"] == "start"
            wrong = {"kernel.py": "def kernel(x):\n    return x\n"}
            told = await call(
                client, "tell_answer", run=made["run"], brief=brief["brief"], candidate=wrong, summary="--same"
            )
            assert told["verdict"] == "wrong"
            shown = await call(client, "show_run", run=made["run"], node=0)
            assert (shown["summary"], shown["author"], shown["files"][0]["name"]) == ("--same", "me", "kernel.py")
            after = await call(client, "ask_brief", run=made["run"])
            told = await call(client, "tell_answer", run=made["run"], brief=after["brief"], candidate=FILES)
            assert told["verdict"] == "measured"
            changed = await call(client, "diff_nodes", run=made["run"], a=0, b=after["brief"])
            assert "+" in changed["diff"]
            out = tmp_path / "out.py"
            await call(client, "export_kernel", run=made["run"], node=after["brief"], out=str(out), force=True)
            assert "void twice" in out.read_text()
            lines = tmp_path / "out.jsonl"
            assert (await call(client, "export_trajectories", run=made["run"], file=str(lines)))["nodes"] == 2
            assert lines.exists()

    asyncio.run(session())


def test_mistakes_are_sentences_and_the_server_goes_on(home: Path, problem: Path) -> None:
    async def session() -> None:
        async with connected(home) as client:
            for said, tool, arguments in (
                ("There is no file", "judge_candidate", {"problem": "/nowhere.py", "candidate": FILES}),
                ("There is no file", "judge_candidate", {"problem": str(problem), "candidate": "/nowhere.py"}),
                ("plain name", "judge_candidate", {"problem": str(problem), "candidate": {"../kernel.py": ""}}),
                ("one Python file", "judge_candidate", {"problem": str(problem), "candidate": {}}),
                ("There are no runs", "show_run", {"run": "latest"}),
                ("There is no operator 'nobody'", "start_run", {"problem": str(problem), "operators": ["nobody"]}),
                ("quick", "judge_candidate", {"problem": str(problem), "candidate": FILES, "plan": "hasty"}),
            ):
                with pytest.raises(Refused, match=said):
                    await call(client, tool, **arguments)
            made = await call(client, "start_run", problem=str(problem), operators=["mailbox"], hold=True)
            with pytest.raises(Refused, match="not at work here"):
                await call(client, "stop_run", run=made["run"])
            with pytest.raises(Refused, match="There is no brief 7"):
                await call(client, "tell_answer", run=made["run"], brief=7, candidate=FILES)

    asyncio.run(session())


def test_what_a_client_hands_in_is_no_option_and_breaks_nothing(home: Path, problem: Path) -> None:
    kernel = "def kernel(x):\n    return x\n"

    async def session() -> None:
        async with connected(home) as client:
            made = await call(client, "start_run", problem=str(problem), operators=["mailbox"], hold=True)
            for said, tool, arguments in (
                ("--help", "show_run", {"run": "--help"}),
                ("There is no file --hold", "start_run", {"problem": "--hold", "operators": ["mailbox"], "hold": True}),
                ("cannot be handed to a command", "show_run", {"run": "x" * 200_000}),
                ("null byte", "show_run", {"run": "a\0b"}),
                ("File name too long", "tell_answer", {"candidate": {"x" * 300 + ".py": kernel}}),
                ("plain name", "tell_answer", {"candidate": {"kernel.py": kernel, "a\nb.cpp": ""}}),
                (
                    "price",
                    "start_run",
                    {"problem": str(problem), "models": ["openai:x"], "base_url": "http://10.0.0.1/v1"},
                ),
            ):
                told = {"run": made["run"], "brief": 0} if tool == "tell_answer" else {}
                with pytest.raises(Refused, match=said):
                    await call(client, tool, **told, **arguments)
            assert len((await call(client, "list_runs"))["runs"]) == 1

    asyncio.run(session())


def test_an_argument_that_is_none_is_a_sentence(home: Path) -> None:
    async def session() -> None:
        async with connected(home) as client:
            for said, tool, arguments in (
                ("The argument pin of steer_run is 'abc'; it should be a valid list.", "steer_run", {"pin": "abc"}),
                (
                    r"The argument pin\[0\] of steer_run is 'abc'; it should be a valid int",
                    "steer_run",
                    {"pin": ["abc"]},
                ),
                ("show_run needs the argument 'run'", "show_run", None),
            ):
                with pytest.raises(Refused, match=rf"^{said}") as refused:
                    await call(client, tool, **({} if arguments is None else {"run": "latest", **arguments}))
                assert "\n" not in str(refused.value)
                assert "http" not in str(refused.value)

    asyncio.run(session())


def test_a_search_is_steered(home: Path, problem: Path) -> None:
    async def session() -> None:
        async with connected(home) as client:
            made = await call(client, "start_run", problem=str(problem), operators=["mailbox"], hold=True)
            run = made["run"]
            nobody = await call(client, "steer_run", run=run)
            assert (nobody["pinned"], nobody["banned"], nobody["hints"]) == ([], [], [])
            for said, wish in (
                ("has no node 0", {"pin": [0]}),
                ("is empty", {"hint": [" "]}),
                ("keep to 2000", {"hint": ["x" * 2001]}),
                ("a run of its own", {"fork": 0, "hint": ["x"]}),
                ("integer", {"pin": ["first"]}),
            ):
                with pytest.raises(Refused, match=said):
                    await call(client, "steer_run", run=run, **wish)
            brief = await call(client, "ask_brief", run=run)
            wrong = {"kernel.py": "def kernel(x):\n    return x\n"}
            await call(client, "tell_answer", run=run, brief=brief["brief"], candidate=wrong)
            said = await call(
                client, "steer_run", run=run, pin=[0], ban=["--shared memory"], hint=["breiter laden, 核"], author="me"
            )
            assert not said["queued"]
            assert (said["pinned"], said["hints"]) == ([0], ["Do not try this: --shared memory", "breiter laden, 核"])
            after = await call(client, "ask_brief", run=run)
            assert [parent["node"] for parent in after["parents"]] == [0]
            assert "breiter laden, 核" in str(after["hints"])
            assert "--shared memory" in str(after["hints"])
            unasked = await call(client, "tell_answer", run=run, brief=None, candidate=wrong, parent=0, later=True)
            assert (unasked["node"], unasked["pending"]) == (2, True)
            freed = await call(client, "steer_run", run=run, free=[0])
            assert freed["pinned"] == []
            forked = await call(client, "steer_run", run=run, fork=0)
            assert forked["run"] != run
            assert (await call(client, "show_run", run=forked["run"]))["spec"]["operators"][0]["name"] == "given"

    asyncio.run(session())


def test_a_search_at_work_is_steered_by_its_own_engine(tmp_path: Path, home: Path, problem: Path) -> None:
    async def session() -> None:
        async with connected(home) as client:
            made = await call(
                client, "start_run", problem=str(problem), operators=["given"], start=str(endless(tmp_path))
            )
            said = await call(client, "steer_run", run=made["run"], hint=["wider loads"])
            while said["hints"] != ["wider loads"]:
                said = await call(client, "steer_run", run=made["run"])
            await call(client, "stop_run", run=made["run"])

    asyncio.run(session())


def test_a_cancelled_judge_ends_and_the_server_goes_on(tmp_path: Path, home: Path, problem: Path) -> None:
    async def session() -> None:
        begun = asyncio.Event()

        async def progress(done: float, total: float | None, message: str | None) -> None:
            if "check" in (message or ""):
                begun.set()

        async with connected(home) as client:
            idle = set(descendants(os.getpid()))
            path = endless(tmp_path)
            task = asyncio.create_task(
                call(client, "judge_candidate", problem=str(problem), candidate=str(path), progress=progress)
            )
            await begun.wait()
            working = set(descendants(os.getpid())) - idle
            assert working
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await call(client, "list_runs"))["runs"] == []
            assert await asyncio.to_thread(none_left, sorted(working))

    asyncio.run(session())


def test_a_run_goes_on_behind_the_call_and_ends_in_order_with_the_session(
    tmp_path: Path, home: Path, problem: Path
) -> None:

    async def session() -> tuple[str, list[int]]:
        path = endless(tmp_path)
        async with connected(home) as client:
            made = await call(
                client, "start_run", problem=str(problem), operators=["given"], start=str(path), proposals=1
            )
            assert made["running"]
            with pytest.raises(Refused, match="at work already"):
                await call(client, "resume_run", run=made["run"])
            waited = await call(client, "wait_run", run=made["run"], limit_s=0.5)
            assert waited["running"]
            stopped = await call(client, "stop_run", run=made["run"])
            assert (stopped["running"], stopped["finished"]) == (False, None)
            again = await call(client, "resume_run", run=made["run"])
            assert again["running"]
            return made["run"], descendants(os.getpid())

    run, pids = asyncio.run(session())
    assert pids
    assert none_left(pids)
    _is_resumable(home, run)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_client_that_vanishes_leaves_no_process_and_its_run_can_be_resumed(
    tmp_path: Path, home: Path, problem: Path, how: signal.Signals
) -> None:
    work = {
        "tool": "start_run",
        "problem": str(problem),
        "operators": ["given"],
        "start": str(endless(tmp_path)),
        "wait": True,
    }
    client = subprocess.Popen(
        [sys.executable, "-c", VANISHING, str(home), json.dumps(work)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{Path(__file__).parent}:{os.environ.get('PYTHONPATH', '')}"},
    )
    with client:
        assert client.stdout is not None
        assert client.stdout.readline() == "begun\n"
        pids = _judging(client.pid)
        client.send_signal(how)
        assert none_left(pids)
    with reading(home, "latest") as view:
        run = view.id
    _is_resumable(home, run)


def _is_resumable(home: Path, run: str) -> None:
    """Nobody holds it, its first node waits, and nothing was said of the candidate."""
    with reading(home, run) as view:
        assert view.graph.finished is None
        node = view.graph.nodes[0]
        assert (node.evaluation, node.in_flight) == (None, True)
    with service.opened(home) as store, store.lock(run):
        pass


def test_an_agent_looks_up_what_its_run_is_told(home: Path, problem: Path) -> None:
    pack = Path(__file__).parents[1] / "null" / "pack"

    async def session() -> None:
        async with connected(home) as client:
            made = await call(
                client,
                "start_run",
                problem=str(problem),
                operators=["mailbox"],
                knowledge=[str(pack)],
                memory="off",
                hold=True,
            )
            found = await call(
                client,
                "search_knowledge",
                words="--rows one pass one program per row",
                tags=["reduction"],
                run=made["run"],
            )
            names = [note["name"] for note in found["notes"]]
            assert "guidance/row-reductions" in names
            read = await call(client, "read_knowledge", note=names[0], run=made["run"])
            assert read["name"] == names[0]
            assert read["text"]
            brief = await call(client, "ask_brief", run=made["run"])
            assert brief["knowledge"][0]["text"]
            with pytest.raises(Refused, match="There is no note 'guidance/none'"):
                await call(client, "read_knowledge", note="guidance/none", run=made["run"])

    asyncio.run(session())
