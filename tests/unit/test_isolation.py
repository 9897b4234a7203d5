"""What a runner can reach at each level of isolation, and that honest kernels still work there."""

import json
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kernwright.evaluation.participants.launch import Confinement, Launcher, Level, Runner
from kernwright.evaluation.runner import landlock, namespaces, seccomp, tree

HERE = Path(__file__).parent
LEVELS: tuple[Level, ...] = ("namespaces", "landlock", "rlimits")


@pytest.fixture(scope="module")
def warm() -> Iterator[Launcher]:
    """As strong as this machine permits, with torch."""
    pytest.importorskip("torch")
    with Launcher(runner="hostile_runners:act", search=[HERE]) as launcher:
        yield launcher


@pytest.fixture(params=LEVELS)
def launcher(request: pytest.FixtureRequest) -> Iterator[Launcher]:
    with Launcher(preload=(), runner="hostile_runners:act", search=[HERE], strongest=request.param) as it:
        yield it


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    path = tmp_path / "scratch"
    path.mkdir()
    return path


def ask(runner: Runner, limit_s: float = 60) -> Any:
    runner.send({"go": True})
    answer = runner.receive(limit_s)["answer"]
    runner.close()
    return answer


def reached(launcher: Launcher, scratch: Path, tmp_path: Path) -> tuple[Runner, dict[str, str]]:
    secret = tmp_path / "secret.txt"
    secret.write_text("the seed is 42")
    abstract = f"kernwright-test-{os.getpid()}"
    signal.signal(signal.SIGURG, signal.SIG_IGN)
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(f"\0{abstract}")
        local.listen()
        config = {
            "act": "reach", "port": server.getsockname()[1], "abstract": abstract, "secret": str(secret),
            "judge": os.getpid(), "launcher": launcher.pid, "uid": os.getuid(),
        }  # fmt: skip
        runner = launcher.spawn(Confinement(scratch=scratch), config)
        answer = ask(runner)
    return runner, answer


def test_nothing_but_its_scratch_is_within_reach(launcher: Launcher, scratch: Path, tmp_path: Path) -> None:
    runner, answer = reached(launcher, scratch, tmp_path)
    open_ways = {way for way, result in answer.items() if result == "done"}
    match runner.level:
        case "namespaces" | "landlock":
            assert open_ways == set()
            assert (tmp_path / "secret.txt").read_text() == "the seed is 42"
        case "rlimits":  # a user's own files stay open, and `missing` says that they do
            assert open_ways <= {"secret", "overwrite", "neighbour", "home", "shared folder", "packages", "memory"}
            assert any("landlock" in sentence for sentence in runner.missing)
    Path("/tmp/kernwright-escaped").unlink(missing_ok=True)
    planted = Path(json.__file__).with_name("planted.py")
    planted.unlink(missing_ok=True)


def test_the_driver_of_a_device_can_start_and_no_more(launcher: Launcher, scratch: Path) -> None:
    allowed = ["listen", "device"]
    with_device = ask(launcher.spawn(Confinement(scratch=scratch, devices=(Path("/dev/full"),)), {"act": "listen"}))
    assert [name for name, end in with_device.items() if end == "done"] == allowed
    without = ask(launcher.spawn(Confinement(scratch=scratch), {"act": "listen"}))
    assert without["listen"] != "done"


def test_a_forced_level_is_the_level_reported(launcher: Launcher, scratch: Path) -> None:
    runner = launcher.spawn(Confinement(scratch=scratch), {"act": "echo"})
    forced = LEVELS.index(launcher.strongest)
    assert LEVELS.index(runner.level) >= forced
    assert bool(runner.missing) or runner.level == "namespaces"
    runner.close()


def test_a_scratch_folder_can_be_used_again(launcher: Launcher, scratch: Path) -> None:
    for _ in range(2):
        runner = launcher.spawn(Confinement(scratch=scratch), {"act": "count"})
        assert ask(runner) == "counting"
    runner = launcher.spawn(Confinement(scratch=scratch), {"act": "append"})
    assert ask(runner) == "done"


def test_it_finds_an_empty_room(launcher: Launcher, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hunter2")
    confinement = Confinement(scratch=scratch, environment={"EXTRA": "1"})
    listing = launcher.strongest != "landlock"
    runner = launcher.spawn(confinement, {"act": "look", "list": listing})
    found = ask(runner)
    environment = found["environment"]
    assert environment["EXTRA"] == "1"
    folder = namespaces.SCRATCH if runner.level == "namespaces" else str(scratch)
    assert environment["HOME"] == environment["TMPDIR"] == folder
    assert "hunter2" not in str(environment)
    assert set(found["fds"]) <= {0, 1, 2, *range(3, 64)}
    assert len(found["fds"]) <= 5  # standard streams, the socket, and the listing itself
    if runner.level == "namespaces":
        assert found["processes"] == ["1", "2"]


def test_a_runner_does_not_inherit_what_another_was_told(warm: Launcher, scratch: Path) -> None:
    secret = "quite-unlikely-" + "marker"
    first = warm.spawn(Confinement(scratch=scratch, environment={"A": secret}), {"act": "echo", "told": secret})
    assert ask(first) == "ready"
    launcher_memory = read_memory(warm.pid)
    assert launcher_memory == b"" or secret.encode() not in launcher_memory


def read_memory(pid: int) -> bytes:
    """Everything a fork of `pid` would inherit; empty where that may not be read."""
    found = []
    try:
        with Path(f"/proc/{pid}/maps").open() as maps, Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
            for line in maps:
                span, rights, *_, inode = line.split()[:5]
                low, high = (int(text, 16) for text in span.split("-"))
                if rights.startswith("rw") and inode == "0":
                    memory.seek(low)
                    found.append(memory.read(high - low))
    except OSError:
        return b""
    return b"".join(found)


def test_the_launcher_has_one_thread(warm: Launcher) -> None:
    assert len(tree.threads(warm.pid)) == 1


def test_honest_kernels_compute(warm: Launcher, scratch: Path) -> None:
    cores = tuple(sorted(os.sched_getaffinity(0))[:1])
    runner = warm.spawn(Confinement(scratch=scratch, cores=cores), {"act": "compute"})
    answer = ask(runner)
    assert answer["matmul"]
    assert answer.get("numba", 1000) == 1000


@pytest.mark.skipif(shutil.which("g++") is None, reason="no compiler")
def test_a_compiler_runs_where_programs_are_allowed(warm: Launcher, scratch: Path) -> None:
    runner = warm.spawn(Confinement(scratch=scratch, executables=True), {"act": "compile_program"})
    assert ask(runner) == 1000


@pytest.mark.skipif(shutil.which("g++") is None, reason="no compiler")
def test_torch_compile_works_inside(warm: Launcher, scratch: Path) -> None:
    runner = warm.spawn(Confinement(scratch=scratch, executables=True), {"act": "torch_compile"})
    assert ask(runner, 200) is True


def test_handed_memory_is_not_counted(warm: Launcher, scratch: Path) -> None:
    runner = warm.spawn(Confinement(scratch=scratch), {"act": "echo"})
    buffer = os.memfd_create("input")
    os.ftruncate(buffer, 1 << 30)
    runner.send({"go": True}, [buffer])
    os.close(buffer)
    assert runner.receive(10) == {"answer": "ready"}
    assert runner.rss_bytes() == 0
    runner.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become someone else")
@pytest.mark.skipif(not Path("/usr/bin/python3").exists(), reason="no interpreter that everyone may read")
@pytest.mark.parametrize("level", LEVELS)
def test_an_ordinary_user_gets_the_same(tmp_path_factory: pytest.TempPathFactory, level: Level) -> None:
    """As another user, with the system's interpreter, since this one may be in root's home."""
    package = Path(namespaces.__file__).parents[3]
    program = f"""
import os, sys, tempfile
sys.path.insert(0, {str(package)!r})
from pathlib import Path
from kernwright.evaluation.participants.launch import Confinement, Launcher
from kernwright.evaluation.runner.kernel import may_read
folder = Path(tempfile.mkdtemp())
(folder / "entry.py").write_text(
    "import os\\n"
    "def main(sock, config):\\n"
    "    try: os.listdir(config['home']); seen = 'home'\\n"
    "    except OSError: seen = ''\\n"
    "    sock.send(('{{\\"seen\\": \\"%s\\"}}' % seen).encode())\\n"
    "    sock.recv(1)\\n"
)
(folder / "scratch").mkdir()
with Launcher(preload=(), runner="entry:main", search=[folder], strongest={level!r}) as launcher:
    runner = launcher.spawn(Confinement(scratch=folder / "scratch"), {{"home": "/tmp"}})
    print(runner.level, runner.receive(10)["seen"], may_read(runner.pid))
"""

    def become_nobody() -> None:
        os.setgroups([])
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)

    done = subprocess.run(
        ["/usr/bin/python3", "-c", program], capture_output=True, text=True, preexec_fn=become_nobody, cwd="/tmp"
    )
    if "Permission denied" in done.stderr or "No module named" in done.stderr:
        pytest.skip("this checkout is closed to other users")
    assert done.returncode == 0, done.stderr
    expected = {
        "namespaces": ["namespaces", "True"],
        "landlock": ["landlock", "False"],
        "rlimits": ["rlimits", "home", "False"],
    }[level]
    if namespaces_permitted() and landlock_permitted():
        assert done.stdout.split() == expected


def namespaces_permitted() -> bool:
    return subprocess.run(["unshare", "-Urn", "true"], capture_output=True).returncode == 0


def landlock_permitted() -> bool:
    try:
        return landlock.version() > 0
    except OSError:
        return False


def test_namespaces_that_are_refused_are_named() -> None:
    missing: list[str] = []
    entered = namespaces.enter(namespaces.Way(None, "not here"), False, missing)
    assert entered == namespaces.Entered()
    assert missing == ["namespaces: this machine does not permit them (not here)"]


def test_paths_inside_others_are_merged(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    paths = [str(tmp_path / "a" / "b"), str(tmp_path / "a"), str(tmp_path / "absent"), "/"]
    assert namespaces.merge(paths) == [str(tmp_path / "a")]


def test_the_project_around_the_package_is_not_readable() -> None:
    package = Path(namespaces.__file__).parents[2]
    readable = namespaces.readable_paths([], [])
    assert any(package.is_relative_to(path) for path in readable)
    assert str(package.parent) not in readable or package.parent.name == "site-packages"


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_is_whole(machine: str) -> None:
    program = seccomp.assemble(machine, network=False, execute=False, signal_only=123)
    assert len(program) % 8 == 0
    instructions = [program[i : i + 8] for i in range(0, len(program), 8)]
    assert len(instructions) < 4096
    for position, instruction in enumerate(instructions):
        assert position + 1 + max(instruction[2], instruction[3]) <= len(instructions)
    assert instructions[-1] == b"\x06\x00\x00\x00\x00\x00\xff\x7f"
