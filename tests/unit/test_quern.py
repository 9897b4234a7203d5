"""The device of `examples/quern`: its notes are true, its rules hold, and the judge takes its programs."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from kernwright.cli.main import run
from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.jobs import EvalJob
from kernwright.core.loading import import_file
from kernwright.core.outcome import Evaluation
from kernwright.core.plan import QUICK
from kernwright.evaluation.judge import Judge
from kernwright.platforms.cpu import Cpu
from kernwright.problems.file import File
from kernwright.testing.quern import load

EXAMPLE = Path(__file__).parents[2] / "examples" / "quern"
RMS = '''
import torch

from kernwright.testing.quern import load

device = load("""
QUERN_PROGRAM(rms) {
  Far x = feed.far(0), weight = feed.far(1), y = feed.far(2);
  int width = (int)feed.number(0);
  int64_t rows = x.count() / width;
  for (int64_t row = stone.index(); row < rows; row += stone.count()) {
    Grain sum(0.0f);
    for (int at = 0; at < width; at += 240) {
      int n = width - at < 240 ? width - at : 240;
      stone.settle(stone.fetch(x, row * width + at, at, n));
      for (int i = 0; i < n; i += 12) {
        Grain g = sift(stone.take(at + i), n - i, 0.0f);
        sum = sum + g * g;
      }
    }
    sum = sum + turn(sum, 6);
    sum = sum + turn(sum, 3);
    sum = sum + turn(sum, 1) + turn(sum, 2);
    Grain mean = sum * Grain((float)feed.number(1)) + Grain(1e-5f);
    Grain r = seed_rsqrt(mean);
    for (int step = 0; step < STEPS; ++step) r = r * (Grain(1.5f) - Grain(0.5f) * mean * r * r);
    for (int at = 0; at < width; at += 240) {
      int n = width - at < 240 ? width - at : 240;
      stone.settle(stone.fetch(weight, at, 2640, n));
      for (int i = 0; i < n; i += 12) stone.put(at + i, stone.take(at + i) * r * stone.take(2640 + i));
      stone.settle(stone.store(at, y, row * width + at, n));
    }
  }
}
""")


class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(width))

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        device.rms(16, x, self.weight.detach(), y, x.shape[-1], 1.0 / x.shape[-1])
        return y
'''
STORED = "stone.settle(stone.store(at, y, row * width + at, n));"
BODIES = {
    "a fourth haul while three are open": "for (int i = 0; i < 4; ++i) stone.fetch(feed.far(0), 0, 12 * i, 12);",
    "stone 0 ended with 1 tickets open; settle each": "stone.fetch(feed.far(0), 0, 0, 12);",
    "fetch: 241 numbers; a haul moves 1 to 240": "stone.fetch(feed.far(0), 0, 0, 241);",
    "a place in the bin is a multiple of 12": "stone.take(16);",
    "numbers 990 to 1001 of an array of 1000": "stone.settle(stone.fetch(feed.far(0), 990, 0, 12));",
    "no such ticket is open": "int t = stone.fetch(feed.far(0), 0, 0, 12); stone.settle(t); stone.settle(t);",
    "far(1): the launch passed 1 arrays": "feed.far(1);",
}


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    judge = Judge(home=str(tmp_path_factory.mktemp("home")))
    yield judge
    judge.close()


@pytest.fixture(autouse=True)
def artifacts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNWRIGHT_ARTIFACTS", str(tmp_path))
    monkeypatch.setenv("KERNWRIGHT_BUILDING", "1")


def judged(judge: Judge, home: Path, text: str) -> Evaluation:
    return judge.evaluate(
        EvalJob(
            problem=File().load(str(EXAMPLE / "rms_rows.py")),
            candidate=Candidate(
                language="kernwright.testing.quern:Quern", files=(SourceFile(name="kernel.py", text=text),)
            ),
            target=Cpu().targets()[0],
            plan=replace(QUICK, baselines=("eager",)),
            language="kernwright.testing.quern:Quern",
            platform="kernwright.platforms.cpu:Cpu",
            home=str(home),
        )
    )


def kernel_of(note: str, folder: Path) -> Any:
    """The candidate that a note of the pack shows."""
    text = (EXAMPLE / "knowledge" / note).read_text()
    [block] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (folder / "shown.py").write_text(block)
    return import_file(folder / "shown.py", "shown").kernel


def test_programs_that_the_pack_shows_are_right(tmp_path: Path) -> None:
    sigmoid = kernel_of("languages/quern-grains.md", tmp_path)
    x = torch.linspace(-30.0, 30.0, 1003)
    assert torch.allclose(sigmoid(x), torch.sigmoid(x), rtol=2e-6, atol=1e-30)
    scaled = kernel_of("samples/quern-scaled-rows.md", tmp_path)
    for width in (31, 240, 500, 1536):
        rows, weight = torch.randn(33, width), torch.randn(width)
        assert torch.equal(scaled(rows, weight), rows * weight)


@pytest.mark.parametrize(("said", "body"), BODIES.items(), ids=lambda text: text[:24])
def test_what_the_device_forbids_is_said(said: str, body: str) -> None:
    device = load(f"QUERN_PROGRAM(program) {{ {body} }}")
    with pytest.raises(RuntimeError, match=re.escape(said)):
        device.program(1, torch.zeros(1000))


def test_what_is_not_settled_is_chaff() -> None:
    device = load(
        "QUERN_PROGRAM(early) { int t = stone.fetch(feed.far(0), 0, 0, 12); Grain g = stone.take(0); stone.settle(t);\n"
        "  stone.put(12, g); stone.settle(stone.store(12, feed.far(0), 0, 12)); }"
    )
    x = torch.zeros(12)
    device.early(1, x)
    assert (x > 1e33).all()


def test_its_language_lacks_what_it_lacks() -> None:
    # A word in a remark is none.
    load("// #include, std::exp\nQUERN_PROGRAM(nothing) { }").nothing(16)
    for text, said in (
        ("#include <cmath>", "line 2: Quern's language has no '#'"),
        ("float f(float x) { return std::exp(x); }", "has no 'std'"),
        ("float* p;", r"has no 'float\*'"),
        ("Grain f(Grain a) { return a / a; }", "no match for|invalid operands"),
        ("float f(Far a) { return a.at_[0]; }", "private"),
    ):
        with pytest.raises(RuntimeError, match=said):
            load(f"\n{text}\nQUERN_PROGRAM(nothing) {{ }}")
    with pytest.raises(RuntimeError, match="a launch on 17 stones"):
        load("QUERN_PROGRAM(nothing) { }").nothing(17)
    with pytest.raises(RuntimeError, match="contiguous float32"):
        load("QUERN_PROGRAM(nothing) { }").nothing(1, torch.zeros(3, dtype=torch.float64))


def test_what_is_no_program_of_the_device_is_not_called() -> None:
    device = load("static float twice(float x) { return 2 * x; } void rows(const float x[]) { (void)twice(x[0]); }")
    with pytest.raises(AttributeError, match="there is no program '_Z4rowsPKf'"):
        device._Z4rowsPKf(1)


@pytest.mark.judged
def test_the_judge_tells_a_right_program_from_an_almost_right_one(judge: Judge, home: Path) -> None:
    right = judged(judge, home, RMS.replace("STEPS", "3"))
    assert right.outcome.kind == "measured", right.outcome
    rough = judged(judge, home, RMS.replace("STEPS", "1"))
    assert rough.outcome.kind == "wrong", rough.outcome
    jammed = judged(judge, home, RMS.replace("STEPS", "3").replace(STORED, "stone.store(at, y, row * width + at, n);"))
    assert jammed.outcome.kind == "crashed", jammed.outcome
    assert "the port is jammed" in jammed.outcome.reason


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """What a command says as JSON."""
    assert run([*arguments, "--json"]) in (0, 1)
    return json.loads(capsys.readouterr().out)


@pytest.mark.judged
def test_an_answer_in_it_is_recognised_and_judged(
    tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, problem = ("--home", str(home)), str(EXAMPLE / "rms_rows.py")
    settings = ("--operator", "mailbox", "--memory", "off", "--knowledge", str(EXAMPLE / "knowledge"), "--hold")
    made = said(capsys, "evolve", problem, "--language", "kernwright.testing.quern:Quern", *settings, *place)["run"]
    brief = said(capsys, "ask", made, *place)
    assert "It can be written in: kernwright.testing.quern:Quern." in brief["candidate_contract"]
    assert "cpp_loader" not in brief["candidate_contract"]
    assert {each["name"] for each in brief["knowledge"]} >= {"constraints/quern-form", "constraints/quern-hauls"}
    (tmp_path / "kernel.py").write_text(RMS.replace("STEPS", "3").replace("device.rms(16", "device.rms(17"))
    told = said(capsys, "tell", made, "0", str(tmp_path / "kernel.py"), *place)
    assert told["verdict"] == "crashed"
    assert "a launch on 17 stones; Quern has 1 to 16" in told["reason"]
