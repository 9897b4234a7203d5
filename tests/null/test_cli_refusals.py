"""Bad input on the command line: one sentence, the right exit code, nothing else on stdout."""

import contextlib
import json
import os
import platform
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest
from cli_runs import CANDIDATE, PROBLEM, Kernwright, process
from engine_runs import created, scripted

from kernwright.cli import main
from kernwright.core.errors import UserError
from kernwright.core.spec import OperatorSpec
from kernwright.engine.intake import rules_of, settings_of
from kernwright.engine.targets import target_of

WORKER = "kernwright.engine.executors.worker"
pytestmark = pytest.mark.skipif(platform.system() != "Linux", reason="judging needs Linux")


@pytest.fixture
def kernwright(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Kernwright:
    return Kernwright(tmp_path / "home", capsys)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "problem.py").write_text(PROBLEM)
    (tmp_path / "candidate.py").write_text(CANDIDATE)
    (tmp_path / "native.py").write_text("from kernwright.languages.cpp_loader import load\n" + CANDIDATE)
    return tmp_path


def test_files_that_are_not_there_or_not_text(kernwright: Kernwright, files: Path) -> None:
    problem, candidate = files / "problem.py", files / "candidate.py"
    (files / "binary.py").write_bytes(b"\x7fELF\xff\xfe")
    for name, sentence in (("none.py", "There is no file"), ("", "is a folder"), ("binary.py", "is not UTF-8 text")):
        assert sentence in kernwright.refused("judge", problem, files / name)
        assert sentence in kernwright.refused("judge", files / name, candidate)
        assert sentence in kernwright.refused("evolve", problem, "--start", files / name)
        assert sentence in kernwright.refused("check", files / name)


def test_pipes_and_devices_are_not_waited_for(kernwright: Kernwright, files: Path) -> None:
    problem, candidate, pipe = files / "problem.py", files / "candidate.py", files / "pipe.py"
    os.mkfifo(pipe)
    for given in ((pipe, candidate), (problem, pipe), (problem, candidate, "--champion", pipe)):
        assert "is a pipe, a socket or a device" in kernwright.refused("judge", *given)
    assert "is a pipe, a socket or a device" in kernwright.refused("check", pipe)
    assert "An empty path" in kernwright.refused("judge", "", candidate)
    for given in (pipe, "/dev/zero"):
        assert f"'{given}' is no regular file" in kernwright.refused("verify", given)


def test_what_only_a_rerun_asks_for_is_not_taken_without_one(kernwright: Kernwright, files: Path) -> None:
    for given in (("--problem", files / "problem.py"), ("--trust-problem",)):
        assert "add --rerun, or leave them out" in kernwright.refused("verify", files / "bundle.json", *given)


def test_a_problem_without_model(kernwright: Kernwright, files: Path) -> None:
    (files / "problem.py").write_text("import torch\n")
    assert "defines no Model" in kernwright.refused("check", files / "problem.py")


@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    [
        ("--plan", "ful", "Did you mean 'full'"),
        ("--rules", "own-kernel", "Did you mean 'own-kernels'"),
        ("--rules", "prepak=true", "Did you mean 'prepack'"),
        ("--rules", "prepack=perhaps", "true or false"),
        ("--rules", "precision=tf16", "one of: "),
        ("--target", "gpu", "There is no target"),
        ("--target", "cpu:z80", "There is no target"),
        ("--language", "fortran", "There is no language"),
        ("--threads", "4096", "cannot be timed here"),
    ],
)
def test_unknown_names_and_values(kernwright: Kernwright, files: Path, option: str, value: str, sentence: str) -> None:
    assert sentence in kernwright.refused("judge", files / "problem.py", files / "candidate.py", option, value)


@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    [
        ("--operator", "compilr", "Did you mean 'compiler'"),
        ("--operator", "mailbox:start=3", "Did you mean 'starts'"),
        ("--operator", ":", "should look like NAME"),
        ("--policy", "gredy", "Did you mean 'greedy'"),
        ("--policy-set", "start=3", "Did you mean 'starts'"),
        ("--policy-set", "starts", "key=value"),
        ("--executor", "threads", "There is no executor"),
    ],
)
def test_a_run_that_cannot_be_is_not_made(
    kernwright: Kernwright, files: Path, option: str, value: str, sentence: str
) -> None:
    assert sentence in kernwright.refused("evolve", files / "problem.py", option, value)
    assert kernwright("runs", "--json").json["runs"] == []


def test_files_in_the_other_order_are_seen(kernwright: Kernwright, files: Path) -> None:
    assert "The problem's file comes first" in kernwright.refused("judge", files / "candidate.py", files / "problem.py")


def test_limits_can_be_said_together(kernwright: Kernwright, files: Path) -> None:
    evolve = ("evolve", files / "problem.py", "--hold", "--seconds", "9", "--budget")
    assert "Did you mean 'proposals'" in kernwright.refused(*evolve, "proposal=3")
    run = kernwright(*evolve, "proposals=3", "--json").json["run"]
    said = kernwright("show", run, "--json").json["budget"]
    assert (said["proposals"], said["seconds"]) == (3, 9)


def test_help_in_place_of_a_command_is_no_error_message(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["knowledge"]):
        assert main.run(words) == 2
        out, err = capsys.readouterr()
        assert "Usage" in out
        assert "see:" not in err


def test_usage_errors_are_sentences_too(kernwright: Kernwright, capsys: pytest.CaptureFixture[str]) -> None:
    assert "No such option" in kernwright.refused("runs", "--jsn")
    assert "PROBLEM" in kernwright.refused("judge")


def test_a_usage_error_is_one_sentence_with_where_to_look(kernwright: Kernwright, files: Path) -> None:
    said = kernwright.refused("evolve", files / "problem.py", "--usd", "-1")
    assert "should be greater than or equal to 0; see: kernwright evolve --help" in said
    assert "'nope'; see: kernwright" in kernwright.refused("nope")


def test_a_home_that_cannot_be_written(kernwright: Kernwright, files: Path) -> None:
    kernwright.home.write_text("a file, not a folder")
    for command in (("judge", files / "problem.py", files / "candidate.py"), ("evolve", files / "problem.py")):
        assert "cannot be written" in kernwright.refused(*command)


def test_no_compiler(files: Path) -> None:
    home = files / "home"
    arguments = ("judge", files / "problem.py", files / "native.py", "--home", home, "--json")
    for environment, sentence in (({"CXX": ""}, "install g++"), ({"CXX": "no-such-compiler"}, "is not there")):
        done = process(*arguments, PATH=str(files), **environment)
        out, _ = done.communicate(timeout=60)
        assert done.returncode == 2
        assert sentence in json.loads(out)["error"]


def test_not_linux() -> None:
    with pytest.raises(UserError, match="needs Linux, and this is Darwin"):
        target_of(None, system="Darwin")


def test_settings_may_hold_commas() -> None:
    assert settings_of(["only=a,b,trials=3", "flag=yes"], "It") == {"only": "a,b", "trials": 3, "flag": True}
    assert rules_of(["own-kernels,prepack=true"]) == {"vendor_libraries": "forbidden", "prepack": True}


def test_new_writes_what_can_be_read_and_overwrites_nothing(kernwright: Kernwright, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    assert kernwright("new", path, "--json").json["path"] == str(path)
    assert "overwritten" in kernwright.refused("new", path)
    assert "Did you mean 'torch'" in kernwright.refused("new", tmp_path / "c.py", "--candidate", "torc")
    for kind in ("cpp", "torch"):
        assert kernwright("new", tmp_path / f"{kind}.py", "--candidate", kind).code == 0
    said = kernwright("evolve", path, "--start", tmp_path / "torch.py", "--hold", "--json")
    assert kernwright("runs", "--json").json["runs"][0]["run"] == said.json["run"]


def test_ctrl_c_ends_everything_and_says_how_to_go_on(kernwright: Kernwright) -> None:
    run = created(kernwright.home, scripted("SLEEP_S = 60.0; SPEEDUP = 1.5"), executor="processes")
    going = process("resume", run, "--home", kernwright.home, "--json")
    assert going.stderr is not None
    while "proposes" not in (line := going.stderr.readline()):
        assert line
    while not _workers_of(going.pid):
        time.sleep(0.01)
    os.kill(going.pid, signal.SIGINT)
    out, err = going.communicate(timeout=30)
    assert going.returncode == 130
    assert f"kernwright resume {run}" in json.loads(out)["error"]
    assert "Traceback" not in err
    assert _workers_of(going.pid) == []
    assert kernwright("show", run, "--json").json["nodes"][0]["state"] == "evaluating"


@pytest.mark.timeout(60)
def test_a_resume_with_no_terminal_says_once_which_briefs_it_waits_for(kernwright: Kernwright) -> None:
    mailbox = OperatorSpec(name="mailbox")
    run = created(kernwright.home, mailbox, executor="processes", proposals_in_flight=1)
    going = process("resume", run, "--home", kernwright.home, "--json")
    assert going.stderr is not None
    waits = f"brief 0 waits for an answer: kernwright ask {run}"
    while waits not in (line := going.stderr.readline()):
        assert line
    os.kill(going.pid, signal.SIGINT)
    out, err = going.communicate(timeout=30)
    assert waits not in err
    assert out.count("\n") == 1  # nothing but the one object
    assert f"kernwright resume {run}" in json.loads(out)["error"]


def _workers_of(pid: int) -> list[str]:
    """Command lines of the worker processes that this engine started."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            lines.append(path.read_bytes().decode(errors="replace").split("\0"))
    return [" ".join(line) for line in lines if f"{WORKER}\0{pid}".split("\0") == line[-3:-1]]


def test_a_reader_that_goes_away_is_no_error(kernwright: Kernwright) -> None:
    created(kernwright.home, scripted("SPEEDUP = 1.5"))
    going = process("runs", "--home", kernwright.home)
    assert going.stdout is not None
    assert going.stderr is not None
    going.stdout.close()
    assert going.stderr.read() == ""
    going.wait(30)
    going.stderr.close()


def test_doctor_works_without_torch_and_says_what_to_install(tmp_path: Path) -> None:
    packages = Path(sysconfig.get_path("purelib"))
    for entry in packages.iterdir():
        if not entry.name.startswith(("torch", "numpy", "scipy", "numba", "optuna", "_", "kernwright")):
            (tmp_path / entry.name).symlink_to(entry)
    source = Path(__file__).parents[2] / "src"
    code = (
        f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(source)!r}]; "
        "from kernwright.cli.main import run; sys.exit(run(['doctor', '--json']))"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    said = json.loads(done.stdout)
    lines = {line["name"]: line for line in said["lines"]}
    assert (done.returncode, said["able"]) == (1, False)
    assert lines["torch"]["state"] == "fail"
    assert "kernwright[torch]" in lines["torch"]["remedy"]
    assert lines["isolation"]["found"].split(":")[0] in ("namespaces", "landlock", "rlimits")
    assert lines["home"]["state"] == "ok"


@pytest.mark.parametrize("words", [("stats",), ("stats", "--json"), ("show", "softmax-online")])
def test_a_full_disk_is_a_sentence(tmp_path: Path, words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "kernwright", "knowledge", *words, "--home", str(tmp_path)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (1, "The disk is full; make room and run it again.\n")


def test_whoever_reads_may_stop_early(tmp_path: Path) -> None:
    with process("knowledge", "show", "softmax-online", "--home", tmp_path) as shown:
        assert shown.stdout is not None
        shown.stdout.close()
        assert shown.stderr is not None
        assert (shown.wait(60), shown.stderr.read()) == (0, "")
