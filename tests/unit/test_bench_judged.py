"""A bench from end to end on the processor, with the real judge: good, wrong, degenerate, broken, unfit."""

import io
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from bench_runs import Watched
from rich.console import Console

from kernwright import api
from kernwright.cli.bench_view import view
from kernwright.cli.main import run
from kernwright.core.outcome import Interval
from kernwright.core.plan import FULL, QUICK
from kernwright.core.spec import Budget
from kernwright.engine.bench_report import BenchReport
from kernwright.engine.examining import known_report
from kernwright.engine.intake import problem_of

pytestmark = pytest.mark.judged

HEAD = "import torch\n\n\nclass Model(torch.nn.Module):\n    def __init__(self, size):\n        super().__init__()\n"
FORWARD = "\n    def forward(self, x):\n        return {}\n"
NORM = HEAD + "        self.norm = torch.nn.LayerNorm(size)\n" + FORWARD.format("torch.relu(self.norm(x))")
PLAIN = HEAD + FORWARD
TAIL = "\n\ndef get_inputs():\n    return [torch.randn(64, 256)]\n\n\ndef get_init_inputs():\n    return [256]\n"
PROBLEMS = {
    "level1/1_Norm": NORM,
    "level1/2_Sign": PLAIN.format("torch.relu(x)"),
    "level1/3_Hollow": PLAIN.format("x * 0.0"),
    "level1/4_Unfit": PLAIN.format("torch.log(x)"),
    "level2/1_Broken": "import nothing_of_this_name\n" + PLAIN.format("x"),
}
KERNELS = {
    "level1/1_Norm": NORM.replace("class Model", "class ModelNew"),
    "level1/2_Sign": "def kernel(x):\n    return x\n",
    "level1/3_Hollow": "import torch\n\n\ndef kernel(x):\n    return torch.zeros_like(x)\n",
    "level1/4_Unfit": "def kernel(x):\n    return x\n",
    "level2/1_Broken": "def kernel(x):\n    return x\n",
}
TINY = replace(QUICK, name="tiny", max_blocks=8, baselines=("eager",))
TINY_FULL = replace(
    FULL, name="tiny_full", max_blocks=8, process_sets=2, short_sets=0, cold=False, baselines=("eager",)
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, informed: Callable[[Path], Path]) -> Path:
    folder = tmp_path_factory.mktemp("bench")
    informed(folder / "home")
    for kind, files, end in (("checkout/KernelBench", PROBLEMS, TAIL), ("candidates", KERNELS, "")):
        for name, text in files.items():
            path = folder / kind / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + end)
    return folder


def benched(folder: Path, watch: Watched) -> BenchReport:
    return api.bench(
        "kernelbench",
        str(folder / "checkout"),
        folder / "out",
        candidates=folder / "candidates",
        home=folder / "home",
        watch=watch,
        plan=TINY,
        confirm_plan=TINY_FULL,
        budget=Budget(evaluations=3),
    )


@pytest.fixture(scope="module")
def report(folder: Path) -> BenchReport:
    return benched(folder, Watched())


def test_every_kind_of_problem_has_its_row(report: BenchReport) -> None:
    verdicts = {row.problem: row.verdict for row in report.rows}
    assert verdicts == {
        "level1/1_Norm": "verified",
        "level1/2_Sign": "wrong",
        "level1/3_Hollow": "verified",
        "level1/4_Unfit": "not_run",
        "level2/1_Broken": "not_run",
    }
    norm, _, _, unfit, broken = report.rows
    assert "the module ran in eval() mode" in norm.notes
    assert norm.speedup is not None
    assert norm.speedup_eager is not None
    assert norm.speedup.low <= norm.speedup.estimate <= norm.speedup.high
    assert "holds NaN" in unfit.reason
    assert "No module named 'nothing_of_this_name'" in broken.reason


def test_the_degenerate_one_is_left_out_by_name(report: BenchReport) -> None:
    assert list(report.degenerate) == ["level1/3_Hollow"]
    assert "a kernel that computes nothing passes" in report.degenerate["level1/3_Hollow"][0]
    assert report.unexamined == ("level1/4_Unfit", "level2/1_Broken")
    assert (report.headline.correct.count, report.headline.correct.of) == (1, 4)
    assert (report.everything.correct.count, report.everything.correct.of) == (2, 5)
    assert report.headline.verified.count == 1
    assert report.headline.against[0].correct is not None
    assert report.headline.against[0].correct.n == 1


def test_what_check_found_is_kept_for_other_benches(folder: Path, report: BenchReport) -> None:
    problem = problem_of(f"kernelbench:{folder / 'checkout'}#level1/1")
    known = known_report(problem, report.target, folder / "home")
    assert known is not None
    assert (known.problem, known.findings) == (problem.id, ())
    assert "the module ran in eval() mode" in known.notes
    assert known_report(replace(problem, name="other"), report.target, folder / "home") is None


def test_called_again_nothing_is_judged_anew(folder: Path, report: BenchReport) -> None:
    watch = Watched()
    began = time.monotonic()
    assert benched(folder, watch) == report
    assert time.monotonic() - began < 3
    assert watch.begun == []


def test_the_command_goes_by_the_same_ledger(
    folder: Path, report: BenchReport, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--path", str(folder / "checkout"), "--out", str(folder / "out"), "--home", str(folder / "home")]
    assert run(["bench", "kernelbench", *arguments, "--json"]) == 2
    assert "begun with other settings" in json.loads(capsys.readouterr().out)["error"]


def test_the_screen_has_80_columns(report: BenchReport) -> None:
    huge = Interval(estimate=12345.6, low=1234.5, high=123456.7, n=5)
    long = replace(
        report.rows[0],
        problem="level1/72_" + "long_" * 20,
        speedup=huge,
        speedup_eager=huge,
        speedup_compile=huge,
        compile_earlier=True,
    )
    # The mean of two problems has an interval by Student's t of one degree of freedom: a factor of millions is usual.
    means = [replace(each, correct=huge, all=replace(huge, low=1.2e-7)) for each in report.everything.against]
    everything = replace(report.everything, against=tuple(means))
    console = Console(width=400, record=True, file=io.StringIO())
    console.print(*view(replace(report, rows=(*report.rows, long), everything=everything)), sep="\n")
    shown = console.export_text()
    table = [line for line in shown.splitlines() if line.startswith(("level", "problem", "against", "faster"))]
    assert len(table) > 6
    assert max(map(len, table)) <= 80
    assert "Degenerate, so left out of the totals:" in shown
    assert "level1/3_Hollow: output 0 is " in shown
    assert "note: modules ran in eval() mode" in shown
    assert "4 problems: correct 25.0 %" in shown


def test_ctrl_c_ends_it_with_what_is_finished_kept(folder: Path, tmp_path: Path, home: Path) -> None:
    where = ["--path", folder / "checkout", "--out", tmp_path / "out", "--home", home]
    command = [sys.executable, "-m", "kernwright", "bench", "kernelbench", *where, "--problems", "1_Norm,1_Broken"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stderr is not None
        while "degenerate?" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
        assert process.wait(30) == 130
    assert said.splitlines()[-1].startswith("Stopped by Ctrl-C; what was finished is kept")
    assert json.loads((tmp_path / "out" / "bench.json").read_text())["asked"] == 2
    group = subprocess.run(["pgrep", "-g", str(process.pid)], capture_output=True, check=False)
    assert group.stdout == b""
