"""The knowledge packs' sample kernels are what their notes say: complete, right, and built without a device.

`python tests/unit/sample_runs.py knobs LANGUAGE FOLDER...` tries every value of every knob; `benchmarks/samples.py` has
the judge time them.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from kernwright.core.candidate import knobs_of
from kernwright.engine.written import recognise
from kernwright.problems.file import File
from kernwright.problems.sources import read_candidate

pytest.importorskip("torch")

from sample_runs import candidate_of

SAMPLES = Path(__file__).parents[2] / "src" / "kernwright" / "knowledge" / "packs" / "samples"
FOLDERS = sorted(path.parent for path in SAMPLES.glob("*/candidate.py"))
NEEDS = {"cpp": (), "torch": (), "triton": ("triton",), "cuda": ("cuda", "cuda.core")}


def of(language: str) -> list[str]:
    return [str(folder) for folder in FOLDERS if folder.name.startswith(f"{language}-")]


def runs(*arguments: str) -> Iterator[dict[str, Any]]:
    """What `sample_runs.py` prints."""
    command = [sys.executable, str(Path(__file__).with_name("sample_runs.py")), *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=280, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return map(json.loads, done.stdout.splitlines())


def skip_unless_installed(language: str) -> None:
    for module in NEEDS[language]:
        if find_spec(module) is None:
            pytest.skip(f"{module} is not installed")


def test_there_are_enough() -> None:
    assert len(FOLDERS) >= 20
    assert len([*of("cpp"), *of("torch")]) >= 8
    assert of("triton")
    assert of("cuda")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_sample_is_complete(folder: Path) -> None:
    note = (SAMPLES / f"{folder.name}.md").read_text()
    assert f"`{folder.name}/candidate.py`" in note
    problem = File().load(str(folder / "problem.py"))
    assert len(problem.timed) >= 2
    assert len(problem.timed) < len(problem.workloads)
    candidate = read_candidate(folder / "candidate.py", None, recognise)
    assert candidate.language == folder.name.partition("-")[0]
    assert {file.name: file.text for file in candidate.files} == {
        file.name: file.text for file in candidate_of(folder).files
    }
    for knob in knobs_of(candidate):
        assert knob.name == "FLAG" or re.search(rf"\b{knob.name}\b", note), knob.name
        assert len(knob.values) > 1
    for name in re.findall(r"`([a-z]+(?:-[a-z0-9]+){2,})`", note):
        assert list(SAMPLES.parent.glob(f"*/{name}.md")), f"it names the note {name}, which is not there"


@pytest.mark.parametrize("language", list(NEEDS))
def test_samples_are_right(language: str) -> None:
    skip_unless_installed(language)
    rows = list(runs("run", language, *of(language)))
    assert {row["name"] for row in rows} == {Path(folder).name for folder in of(language)}
    assert not [row for row in rows if not row["error_share"] <= 1.0]


def test_a_wrong_one_would_be_noticed(tmp_path: Path) -> None:
    folder = tmp_path / "cpp-maxpool-separable"
    shutil.copytree(SAMPLES / folder.name, folder)
    text = (folder / "candidate.py").read_text()
    (folder / "candidate.py").write_text(text.replace("from[c + 4 * width]", "from[c + 3 * width]"))
    (row,) = runs("run", "cpp", str(folder))
    assert row["error_share"] > 1.0


@pytest.mark.parametrize(("language", "target"), [("triton", "cuda:sm_90a"), ("cuda", "cuda:sm_80")])
def test_samples_for_a_gpu_are_built_without_one(language: str, target: str) -> None:
    skip_unless_installed(language)
    rows = {row["name"]: row for row in runs("build", target, *of(language))}
    assert set(rows) == {Path(folder).name for folder in of(language)}
    for name, row in rows.items():
        assert row["kernels"] > 0, name
        assert row["spill_bytes"] == 0, name
        assert row.get("dry_run", 1.0) == 1.0, name
