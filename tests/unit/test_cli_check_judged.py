"""`check` as a command: one object, a sentence where it refuses, and no trace of a problem that ends its process."""

import json
from pathlib import Path

import pytest
from test_cli_check import HEAD, TAIL

from kernwright.cli.main import run

pytestmark = pytest.mark.judged


def test_check_reports_in_one_object(tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "problem.py"
    path.write_text(HEAD + "return torch.tanh(x)" + TAIL + "torch.randn(64, 512)]\n")
    assert run(["check", str(path), "--home", str(home), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["name"], said["degenerate"], said["findings"]) == ("problem", False, [])
    [row] = said["workloads"]
    assert row["input_bytes"] == row["output_bytes"] == 64 * 512 * 4
    assert row["headroom"] == min(row["eager_ns"], row["compile_ns"]) / row["copy_ns"]


def test_what_only_copies_takes_about_as_long_as_the_copy_that_it_is_compared_with(
    tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "problem.py"
    path.write_text(HEAD + "return x.clone()" + TAIL + "torch.randn(1024, 1024)]\n")
    assert run(["check", str(path), "--home", str(home), "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)["workloads"]
    assert row["headroom"] < 1.5  # a copy of what lies in the caches takes half as long


def test_check_refuses_in_one_sentence(tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "problem.py"
    path.write_text(HEAD + "return torch.log(x)" + TAIL + "torch.randn(64, 512)]\n")
    assert run(["check", str(path), "--home", str(home), "--json"]) == 2
    assert "holds NaN" in json.loads(capsys.readouterr().out)["error"]


def test_a_problem_that_ends_its_process(tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "problem.py"
    path.write_text("import os\nos._exit(7)\n" + HEAD + "return x" + TAIL + "torch.randn(8)]\n")
    assert run(["check", str(path), "--home", str(home), "--json"]) == 2
    assert "ended its process (status 7)" in json.loads(capsys.readouterr().out)["error"]
