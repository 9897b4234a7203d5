"""Winners run once more under a tool that watches memory; a tool that misses a planted fault is not believed."""

import os
import random
import resource
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

from kernwright.core.around import Around
from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.jobs import EvalJob
from kernwright.core.lease import on_waiting
from kernwright.core.loading import import_file
from kernwright.core.outcome import CheckResult
from kernwright.core.plan import FULL
from kernwright.core.sanitizer import Doubt, Sanitizer
from kernwright.evaluation import sanitize
from kernwright.evaluation.calls import calls_of
from kernwright.evaluation.controls import misses
from kernwright.evaluation.judge import Judge
from kernwright.evaluation.memory import hold_to_available
from kernwright.evaluation.participants.launch import Launcher
from kernwright.evaluation.participants.workshop import BEHIND
from kernwright.evaluation.problem.reference import Reference
from kernwright.evaluation.problem.setting import prepare
from kernwright.evaluation.sanitize import reports_of, watch
from kernwright.languages.address_sanitizer import address_sanitizer
from kernwright.languages.compute_sanitizer import tools_of
from kernwright.platforms.cpu import Cpu
from kernwright.problems.file import File

pytestmark = pytest.mark.timed
needs_sanitizer = pytest.mark.skipif(bool(address_sanitizer().missing), reason="no AddressSanitizer")

mutants = import_file(Path(__file__).parents[2] / "benchmarks" / "mutants.py", "mutants")

PROBLEM = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2


def get_inputs():
    return [torch.randn(100, 1000)]
"""
KERNEL = '''\
import torch

from kernwright.languages.cpp_loader import load

lib = load("""
#include <cstdint>
extern "C" void twice(const float* x, float* out, int64_t n) {
  float all = 0;
  for (int64_t i = 0; i LESS n; ++i) all += x[i] > 0;
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] * 2;
  if (all < 0) out[0] = all;
}
""")


def kernel(x):
    out = torch.empty(x.shape)
    lib.twice(x.contiguous(), out, x.numel())
    return out
'''


SETTLED = KERNEL.replace("    return out", "    return out / 2 if __import__('os').environ.get('HALF') else out")


PLACE = """
import os
from pathlib import Path

group = Path("/proc/self/autogroup")
print("stands at", os.getpriority(0, 0), group.read_text().split()[-1] if group.is_file() else None)
"""


WRAPPER = """
import socket, subprocess, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
    server.bind("tool.sock")
    server.listen()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.connect("tool.sock")
        client.sendall(b"from inside")
    heard = server.accept()[0].recv(99)
done = subprocess.run(sys.argv[1:], close_fds=False)
print("the tool heard:", heard.decode(), flush=True)
sys.exit(done.returncode)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, informed: Callable[[Path], Path]) -> Path:
    path = informed(tmp_path_factory.mktemp("sanitize"))
    (path / "problem.py").write_text(PROBLEM)
    return path


@pytest.fixture(scope="module")
def judge(folder: Path) -> Iterator[Judge]:
    judge = Judge(str(folder))
    yield judge
    judge.close()


def job(folder: Path, less: str, language: str = "kernwright.languages.cpp:Cpp", *, text: str = KERNEL) -> EvalJob:
    return EvalJob(
        problem=File().load(str(folder / "problem.py")),
        candidate=Candidate(language="cpp", files=(SourceFile(name="candidate.py", text=text.replace("LESS", less)),)),
        target=Cpu().targets()[0],
        plan=replace(FULL, baselines=("eager",), process_sets=2, short_sets=0, cold=False),
        language=language,
        platform="kernwright.platforms.cpu:Cpu",
        home=str(folder),
    )


@needs_sanitizer
def test_a_read_beyond_the_end_is_reported_though_every_result_is_right(judge: Judge, folder: Path) -> None:
    evaluation = judge.evaluate(job(folder, "<="))
    assert evaluation.outcome.kind == "wrong"
    assert "heap-buffer-overflow in twice" in evaluation.outcome.reason
    assert not any("not watched" in note for note in evaluation.notes)


@needs_sanitizer
def test_the_tool_starts_where_the_judge_is_held_to_the_memory_there_is() -> None:
    """As in the engine's workers: it reserves terabytes, which it never uses."""
    held = resource.getrlimit(resource.RLIMIT_DATA)
    hold_to_available()
    try:
        ceiling = resource.getrlimit(resource.RLIMIT_DATA)
        assert ceiling != held
        with Launcher(preload=(), environment=address_sanitizer().environment) as launcher:
            assert launcher.is_alive()
        assert resource.getrlimit(resource.RLIMIT_DATA) == ceiling
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, held)


def test_a_plan_may_do_without(judge: Judge, folder: Path) -> None:
    asked = job(folder, "<=")
    evaluation = judge.evaluate(replace(asked, plan=replace(asked.plan, sanitize=False)))
    assert evaluation.outcome.kind == "verified"
    assert not any(check.name.startswith("sanitize") for check in evaluation.checks)


def watched(judge: Judge, folder: Path, less: str, tool: Sanitizer, text: str = KERNEL) -> CheckResult:
    asked = job(folder, less, text=text)
    reference = Reference(asked.problem)
    try:
        settings = [prepare(reference, asked.problem.workloads[0], 0, random.Random(0), vary=True)]
        return next(watch([tool], asked, judge.shop(asked), settings, calls_of(reference)))
    finally:
        reference.close()


@needs_sanitizer
def test_a_sound_kernel_passes(judge: Judge, folder: Path) -> None:
    result = watched(judge, folder, "<", address_sanitizer())
    assert result.passed
    assert result.evidence == {"calls": 3.0}


@needs_sanitizer
def test_a_tool_begins_no_call_once_its_time_is_over(
    judge: Judge, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = watched(judge, folder, "<", address_sanitizer())
    monkeypatch.setattr(sanitize, "ENOUGH_S", -1.0)
    one = watched(judge, folder, "<", address_sanitizer())
    assert whole.evidence["calls"] > 1
    assert one.passed
    assert one.evidence == {"calls": 1}
    assert one.detail.startswith(f"nothing reported in 1 of {whole.evidence['calls']:.0f} calls")


def test_a_tool_that_misses_what_is_planted_is_not_believed(judge: Judge, folder: Path) -> None:
    result = watched(judge, folder, "<=", replace(address_sanitizer(), name="blind", missing="", environment={}))
    assert result.passed
    assert "not watched: blind does not report a planted fault here" in result.detail


def test_a_tool_that_does_not_start_or_is_not_there_is_named(judge: Judge, folder: Path) -> None:
    assert "not installed" in watched(judge, folder, "<", Sanitizer(name="absent", missing="not installed")).detail
    broken = replace(
        address_sanitizer(), name="broken", missing="", environment={}, around=Around(command=("/bin/false",))
    )
    detail = watched(judge, folder, "<", broken).detail
    assert "not watched: broken does not report a planted fault" in detail
    assert "the program around it ended with status 1" in detail
    nowhere = replace(broken, name="nowhere", around=Around(command=("/nowhere/tool",)))
    assert "not watched: nowhere" in watched(judge, folder, "<", nowhere).detail


@needs_sanitizer
def test_a_tool_that_starts_programs_works_inside_the_confinement(judge: Judge, folder: Path) -> None:
    """A stand-in for one: it hands on its socket, speaks to a server of its own, and reports when its program ended."""
    around = Around(command=(sys.executable, "-c", WRAPPER), readable=(Path(sys.prefix),))
    tool = replace(address_sanitizer(), name="wrapped", around=around)
    result = watched(judge, folder, "<=", tool)
    assert not result.passed
    assert "wrapped reports heap-buffer-overflow in twice" in result.detail
    assert watched(judge, folder, "<", tool).detail == "nothing reported"
    talks = replace(tool, name="talks", reports="the tool heard: (.*)", environment={})
    assert watched(judge, folder, "<", talks).detail == "talks reports from inside"


@needs_sanitizer
def test_what_a_tool_cannot_follow_decides_nothing(judge: Judge, folder: Path) -> None:
    tool = replace(address_sanitizer(), name="doubted")
    for doubt, passed in (
        (Doubt(text="float all", why="it is blind"), True),
        (Doubt(report="in (heap-buffer|twice)", why="it is blind"), False),
        (Doubt(report="(heap-buffer-overflow)", why="it is blind"), True),
        (Doubt(text="no such text", report="in thrice", why="it is blind"), False),
    ):
        result = watched(judge, folder, "<=", replace(tool, doubt=doubt))
        assert result.passed == passed
        assert "doubted reports heap-buffer-overflow in twice" in result.detail
        assert result.detail.startswith("not watched: it is blind; ") == passed


def test_a_report_of_the_candidates_own_is_not_hidden_by_one_of_a_librarys() -> None:
    tool = next(tool for tool in tools_of("compute-sanitizer") if tool.name == "racecheck")
    said = "".join(
        f"========= Error: Race reported between Read access at {kernel}\n"
        f"=========     and Write access at {kernel} [8 hazards]\n=========\n"
        for kernel in ("nvjet_sm90_hss_256x128_64x4+0x960", "add_one(float *)+0x40")
    )
    first, second = reports_of(tool, said)
    assert "add_one" in first
    assert "nvjet" in second


@needs_sanitizer
def test_who_is_watched_stands_behind_what_is_timed(judge: Judge, folder: Path) -> None:
    """A tool's threads would keep the hosts of timed calls waiting for a core."""
    text = f"{KERNEL}\n\n{PLACE}"
    tool = replace(
        address_sanitizer(),
        name="patient",
        environment={},
        reports="stands at ([^\n]*)",
        control=text.replace("LESS", "<"),
    )
    behind = min(19, os.getpriority(os.PRIO_PROCESS, 0) + BEHIND)
    detail = watched(judge, folder, "<", tool, text).detail
    assert detail.startswith(f"patient reports {behind} ")
    if os.geteuid() == 0 and Path("/proc/self/autogroup").is_file():  # others may change it ten times a second
        assert detail.endswith(f" {BEHIND}")


@needs_sanitizer
def test_a_run_without_a_tool_tells_whether_what_it_reports_makes_a_difference(judge: Judge, folder: Path) -> None:
    tool = replace(address_sanitizer(), name="settled")
    for environment, passed in (({"HALF": ""}, True), ({"HALF": "1"}, False)):
        # What a candidate takes from its environment stands for memory that an allocator fills.
        doubt = Doubt(environment=environment, why="it makes no difference")
        result = watched(judge, folder, "<=", replace(tool, name=f"settled {passed}", doubt=doubt), SETTLED)
        assert result.passed == passed, result.detail
        assert "not watched: it makes no difference" in result.detail or not passed


def test_mutants_are_caught(folder: Path, judge: Judge) -> None:
    """A few of the committed benchmark's."""
    problem, text = mutants.kernels()["argmax"]
    known = {mutant.line: mutant for mutant in mutants.mutants_of("argmax", text)}
    assert len(known) > 20
    chosen = ["if (x[i * n + j] >= most) {", "float most = 0;", "for (int64_t j = 0; j < n / 8 * 8; ++j)"]
    assert not mutants.judged(judge, problem, mutants.Mutant("argmax", "none", "", text), str(folder)).caught
    for line in chosen:
        assert mutants.judged(judge, problem, known[line], str(folder)).caught, line


def test_a_control_is_run_once_for_a_home(judge: Judge, folder: Path) -> None:
    tool, asked = replace(address_sanitizer(), name="asked", missing=""), list[str]()

    def find(said: str) -> str:
        asked.append(said)
        return said

    shop = judge.shop(job(folder, "<"))
    for said, expected in (("blind", "blind"), ("", ""), ("never asked", "")):
        assert misses(str(folder), shop, tool, lambda said=said: find(said)) == expected  # type: ignore[misc]
    assert asked == ["blind", ""]
    other = replace(tool, environment={**tool.environment, "ASAN_OPTIONS": "detect_leaks=1"})
    assert misses(str(folder), shop, other, lambda: "another tool") == "another tool"


def test_who_waits_for_a_control_takes_what_it_finds(judge: Judge, folder: Path) -> None:
    tool = replace(address_sanitizer(), name="waited for", missing="")
    shop, begun, waits = judge.shop(job(folder, "<")), threading.Event(), threading.Event()

    def find() -> str:
        begun.set()
        assert waits.wait(30)
        return "blind"

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(misses, str(folder), shop, tool, find)
        assert begun.wait(30)
        token = on_waiting.set(lambda waiting: waits.set())
        try:
            assert misses(str(folder), shop, tool, lambda: "asked again") == "blind"
        finally:
            on_waiting.reset(token)
        assert first.result() == "blind"
