"""Runners that misbehave are stopped, named, and leave nothing behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from kernwright.core.errors import MachineFault
from kernwright.evaluation.participants import launch
from kernwright.evaluation.participants.launch import (
    Confinement,
    Launcher,
    Level,
    Runner,
    RunnerBabble,
    RunnerDied,
    RunnerHog,
    RunnerOverdue,
)
from kernwright.evaluation.participants.proc import used_ns
from kernwright.evaluation.participants.stillness import STILL_NS, STIRS
from kernwright.evaluation.runner import tree

HERE = Path(__file__).parent
LEVELS: tuple[Level, ...] = ("namespaces", "landlock", "rlimits")


@pytest.fixture(scope="module", params=LEVELS)
def launcher(request: pytest.FixtureRequest) -> Iterator[Launcher]:
    with Launcher(preload=("numpy",), runner="hostile_runners:act", search=[HERE], strongest=request.param) as it:
        yield it


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    path = tmp_path / "scratch"
    path.mkdir()
    return path


def start(launcher: Launcher, scratch: Path, act: str, memory_bytes: int = 256 << 20, **config: Any) -> Runner:
    confinement = Confinement(scratch=scratch, memory_bytes=memory_bytes, processes=16)
    runner = launcher.spawn(confinement, {"act": act, **config})
    runner.send({"go": True})
    return runner


def assert_gone(launcher: Launcher, scratch: Path) -> None:
    """Nothing runs below the launcher, and the next runner works."""
    deadline = time.monotonic() + 2
    while (left := [pid for pid in tree.descendants(launcher.pid) if tree.is_alive(pid)]) and (
        time.monotonic() < deadline
    ):
        time.sleep(0.01)
    assert left == []
    runner = start(launcher, scratch, "echo")
    assert runner.receive(10) == {"answer": "ready"}
    runner.close()


def test_a_package_that_is_on_the_path_alone_is_found(
    tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it is among the installed ones: a checkout on `PYTHONPATH`."""
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(bare))
    with (
        Launcher(preload=(), runner="hostile_runners:act", search=[HERE]) as launcher,
        closing(start(launcher, scratch, "echo")) as runner,
    ):
        assert runner.receive(10) == {"answer": "ready"}


@pytest.mark.parametrize("act", ["fork_bomb", "thread_bomb"])
def test_a_bomb_is_a_hog(launcher: Launcher, scratch: Path, act: str) -> None:
    with pytest.raises(RunnerHog, match="processes and threads"):
        start(launcher, scratch, act).receive(20)
    assert_gone(launcher, scratch)


@pytest.mark.parametrize("act", ["memory_hog", "shared_memory_hog"])
def test_memory_is_watched(launcher: Launcher, scratch: Path, act: str) -> None:
    with pytest.raises(RunnerHog, match=r"MiB of memory; the limit is 256 MiB"):
        start(launcher, scratch, act).receive(20)
    assert_gone(launcher, scratch)


def test_disk_is_watched(launcher: Launcher, scratch: Path) -> None:
    confinement = Confinement(scratch=scratch, disk_bytes=128 << 20)
    runner = launcher.spawn(confinement, {"act": "disk_hog"})
    runner.send({"go": True})
    with pytest.raises(RunnerHog, match="MiB of disk"):
        runner.receive(20)
    assert_gone(launcher, scratch)


def test_disk_that_others_take_is_not_a_runners_fault(launcher: Launcher, scratch: Path, tmp_path: Path) -> None:
    confinement = Confinement(scratch=scratch, disk_bytes=64 << 20)
    runner = launcher.spawn(confinement, {"act": "endless_loop"})
    runner.send({"go": True})
    with (tmp_path / "of-others").open("wb") as file:
        file.write(os.urandom(1 << 20) * 128)
    with pytest.raises(RunnerOverdue):
        runner.receive(0.5)
    assert_gone(launcher, scratch)


@pytest.mark.parametrize("act", ["endless_loop", "print_endlessly"])
def test_a_deadline_always_holds(launcher: Launcher, scratch: Path, act: str) -> None:
    began = time.monotonic()
    with pytest.raises(RunnerOverdue, match=r"0\.3 s"):
        start(launcher, scratch, act).receive(0.3)
    assert time.monotonic() - began < 5
    assert_gone(launcher, scratch)


def test_an_escaped_process_is_killed_too(launcher: Launcher, scratch: Path) -> None:
    runner = start(launcher, scratch, "escape")
    assert runner.receive(10) == {"answer": "escaped"}
    assert runner.tasks() == 2
    runner.close()
    runner.close()
    assert_gone(launcher, scratch)


def test_an_exit_is_told_with_what_was_printed(launcher: Launcher, scratch: Path) -> None:
    with pytest.raises(RunnerDied, match="exited with code 0") as caught:
        start(launcher, scratch, "exit_quietly").receive(10)
    assert "1000x" in caught.value.log
    assert_gone(launcher, scratch)


def test_a_segmentation_fault_is_named(launcher: Launcher, scratch: Path) -> None:
    with pytest.raises(RunnerDied, match="SIGSEGV") as caught:
        start(launcher, scratch, "segfault").receive(10)
    assert "hostile_runners.py" in caught.value.log
    assert_gone(launcher, scratch)


def test_output_neither_blocks_nor_grows(launcher: Launcher, scratch: Path) -> None:
    runner = start(launcher, scratch, "print_much")
    assert runner.receive(20) == {"answer": "printed"}
    runner.close()
    assert runner.log().endswith("line 199999\n")
    assert len(runner.log()) <= 8192


@pytest.mark.parametrize(
    "text",
    ["not json", "[1]", "[" * 60000, '{"x": NaN}', '{"x": 1e999}', '{"x": "\\ud800"}', "\xff\xfe", "1" * 5000],
    ids=["text", "array", "deep", "nan", "infinite", "surrogate", "bytes", "digits"],
)
def test_a_malformed_message_is_babble(launcher: Launcher, scratch: Path, text: str) -> None:
    with pytest.raises(RunnerBabble):
        start(launcher, scratch, "garble", bytes=text).receive(10)
    assert_gone(launcher, scratch)


@pytest.mark.parametrize(("act", "reason"), [("oversize", "longer than"), ("close_socket", "closed its socket")])
def test_a_broken_protocol_is_babble(launcher: Launcher, scratch: Path, act: str, reason: str) -> None:
    with pytest.raises(RunnerBabble, match=reason):
        start(launcher, scratch, act).receive(10)
    assert_gone(launcher, scratch)


def test_an_answer_before_the_question_is_babble(launcher: Launcher, scratch: Path) -> None:
    runner = start(launcher, scratch, "speak_early")
    runner.receive(10)
    time.sleep(0.1)
    with pytest.raises(RunnerBabble, match="out of turn"):
        runner.send({"next": 1})
    assert_gone(launcher, scratch)


def test_frozen_means_every_thread_and_process(launcher: Launcher, scratch: Path) -> None:
    runner = start(launcher, scratch, "count")
    runner.receive(10)
    files = [scratch / "own", scratch / "child"]
    wait_for(lambda: all(file.exists() for file in files))
    runner.freeze()
    time.sleep(0.02)
    before, spent = [file.read_bytes() for file in files], runner.cpu_ns()
    time.sleep(0.1)
    assert [file.read_bytes() for file in files] == before
    assert runner.cpu_ns() == spent
    runner.thaw()
    wait_for(lambda: all(file.read_bytes() not in (b"", old) for file, old in zip(files, before, strict=True)))
    assert runner.cpu_ns() > spent
    runner.send({"still": "there"})
    assert runner.receive(10) == {"answer": "still here"}
    runner.close()
    assert_gone(launcher, scratch)


@pytest.mark.parametrize("seen_by", ["thaw", "freeze"])
def test_who_runs_while_it_is_stopped_is_found(launcher: Launcher, scratch: Path, seen_by: str) -> None:
    runner = start(launcher, scratch, "count")
    runner.receive(10)
    runner.freeze()
    runner.freeze()  # nothing has run

    def run_a_little() -> None:
        before = used_ns(runner.pid)
        os.kill(runner.pid, signal.SIGCONT)  # as a timer of its own would
        wait_for(lambda: used_ns(runner.pid) > before + STILL_NS)

    for _ in range(STIRS):  # a little, and a few times, is excused: some take long to leave their core
        run_a_little()
        os.kill(runner.pid, signal.SIGSTOP)
        wait_for(lambda: tree.is_stopped(runner.pid))
        runner.freeze()
    run_a_little()
    with pytest.raises(RunnerHog, match="while it was stopped"):
        getattr(runner, seen_by)()
    assert_gone(launcher, scratch)


def test_a_frozen_runner_can_be_killed(launcher: Launcher, scratch: Path) -> None:
    runner = start(launcher, scratch, "count")
    runner.receive(10)
    runner.freeze()
    runner.close()
    assert_gone(launcher, scratch)


def test_cores_are_pinned(launcher: Launcher, scratch: Path) -> None:
    core = min(os.sched_getaffinity(0))
    runner = launcher.spawn(Confinement(scratch=scratch, cores=(core,)), {"act": "echo"})
    assert runner.affinity() == {core}
    assert runner.tasks() == 1
    assert runner.rss_bytes() < 64 << 20
    runner.close()


def test_runners_live_side_by_side(launcher: Launcher, scratch: Path) -> None:
    runners = [start(launcher, scratch, "echo") for _ in range(4)]
    start(launcher, scratch, "escape").close()
    assert [runner.receive(10)["answer"] for runner in runners] == ["ready"] * 4
    for runner in runners:
        runner.close()
    assert_gone(launcher, scratch)


def test_a_dead_launcher_is_the_machines_fault(scratch: Path) -> None:
    with Launcher(preload=(), runner="hostile_runners:act", search=[HERE]) as launcher:
        runner = start(launcher, scratch, "endless_loop")
        pid = runner.pid
        os.kill(launcher.pid, signal.SIGKILL)
        with pytest.raises(MachineFault):
            runner.receive(20)
        assert not tree.is_alive(pid)
        with pytest.raises(MachineFault, match="launcher"):
            launcher.spawn(Confinement(scratch=scratch), {"act": "echo"})


def test_a_launcher_that_cannot_start_says_why() -> None:
    with pytest.raises(MachineFault, match="no_such_module"):
        Launcher(preload=(), runner="no_such_module:main")


def test_later_runners_find_what_was_imported_too(launcher: Launcher, scratch: Path) -> None:
    known = {"modules": ["colorsys", "no_such_module"]}
    with closing(start(launcher, scratch, "has", **known)) as before:
        assert before.receive(10)["answer"] == [False, False]
    launcher.import_too(["no_such_module", "colorsys"])  # what is not there is nobody's fault yet
    with closing(start(launcher, scratch, "has", **known)) as after:
        assert after.receive(10)["answer"] == [True, False]


def test_a_launcher_that_was_begun_early_is_the_next_one(scratch: Path) -> None:
    """It imports PyTorch while the judge's process does; one with variables of its own is another."""
    pytest.importorskip("torch")
    launch.begin()
    (early,) = launch._ahead
    with Launcher(preload=(), runner="hostile_runners:act", search=[HERE]) as other:
        assert other.pid != early.process.pid
    with Launcher(runner="hostile_runners:act", search=[HERE]) as taken:
        assert taken.pid == early.process.pid
        assert launch._ahead == []
        with closing(start(taken, scratch, "has", modules=["torch", "numpy"])) as runner:
            assert runner.receive(10)["answer"] == [True, True]


@pytest.mark.parametrize("level", LEVELS)
def test_nothing_survives_a_killed_judge(scratch: Path, level: Level) -> None:
    program = f"""
import time
from pathlib import Path
from kernwright.evaluation.participants.launch import Confinement, Launcher
launcher = Launcher(preload=(), runner="hostile_runners:act", search=[Path({str(HERE)!r})], strongest={level!r})
runner = launcher.spawn(Confinement(scratch=Path({str(scratch)!r})), {{"act": "escape"}})
runner.send({{}})
runner.receive(10)
print(launcher.pid, runner.pid, runner.init_pid, flush=True)
time.sleep(60)
"""
    judge = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert judge.stdout is not None
    with judge, judge.stdout:
        pids = [int(word) for word in judge.stdout.readline().split()]
        everything = [*pids, *tree.descendants(pids[0])]
        assert len(set(everything)) >= 4
        judge.kill()
    wait_for(lambda: not any(tree.is_alive(pid) for pid in everything))


def wait_for(condition: Any, limit_s: float = 10) -> None:
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_the_judge_begins_without_what_takes_long_and_is_seldom_needed() -> None:
    pytest.importorskip("torch")
    program = "import sys, kernwright.evaluation.judge; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"scipy.stats", "torch._dynamo", "sqlalchemy"} & {*done.stdout.split()}
