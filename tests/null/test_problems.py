"""Problem files and candidate files: read without running them, every mistake one sentence."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kernwright.core.errors import UserError
from kernwright.core.registry import reference
from kernwright.core.resolve import resolve
from kernwright.problems import TABLE
from kernwright.problems.file import File
from kernwright.problems.sources import LARGEST_BYTES, read_candidate

KERNELBENCH = """
raise SystemExit("this file must not be executed to be read")
class Model: pass
def get_inputs(): return []
def get_init_inputs(): return []
"""
SHAPED = """
class Model: pass
def get_inputs(rows, cols=3): return []
def get_init_inputs(cols): return [cols]
"""


def load(folder: Path, text: str) -> object:
    path = folder / "problem.py"
    path.write_text(text)
    return File().load(str(path))


def test_table_names_the_source() -> None:
    assert resolve(reference("problems", TABLE, "file"))().name == "file"
    assert list(File().ids()) == []


def test_kernelbench_form_is_a_problem_as_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "problem.py"
    path.write_text(KERNELBENCH)
    problem = File().load(str(path))
    assert problem.name == "problem"
    assert problem.source == KERNELBENCH
    assert [(w.name, w.params, w.held_out) for w in problem.workloads] == [("default", {}, False)]


def test_everything_that_a_richer_file_declares(tmp_path: Path) -> None:
    path = tmp_path / "problem.py"
    path.write_text(
        SHAPED.replace("Model", "Block")
        + """
NAME, ENTRY = "other", "ignored: only single assignments are read"
NAME = "block"
ENTRY: str = "Block"
BACKWARD = False
TOLERANCE = {"rms_ratio": 2, "reduction": 7}
RULES = {"vendor_libraries": "forbidden", "prepack": True}
WORKLOADS = {
    "a": {"rows": 64, "cols": 2, "weight": 3},
    "b": {"rows": -1, "cols": 0, "held_out": True},
}
"""
    )
    problem = File().load(str(path))
    assert (problem.name, problem.entry, problem.origin) == ("block", "Block", str(path))
    assert (problem.tolerance.rms_ratio, problem.tolerance.max_ratio, problem.tolerance.reduction) == (2.0, 8.0, 7)
    assert (problem.rules.vendor_libraries, problem.rules.prepack) == ("forbidden", True)
    assert [(w.name, w.params, w.weight, w.held_out) for w in problem.workloads] == [
        ("a", {"rows": 64, "cols": 2}, 3.0, False),
        ("b", {"rows": -1, "cols": 0}, 1.0, True),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("class Model(:\n", "line 1"),
        ("x = 1\n", "no class at all"),
        ("class Net: pass\ndef get_inputs(): return []", "its classes: Net"),
        ("class Model: pass", "no get_inputs"),
        (KERNELBENCH + "WORKLOADS = {n: {} for n in 'ab'}", "WORKLOADS must be a literal"),
        (KERNELBENCH + "def WORKLOADS(): pass", "WORKLOADS is taken"),
        (KERNELBENCH + "WORKLOADS = [1]", "WORKLOADS must be a dictionary"),
        (KERNELBENCH + "WORKLOADS = {}", "no workload to time"),
        (KERNELBENCH + "WORKLOADS = {'a': {'held_out': True}}", "no workload to time"),
        (KERNELBENCH + "WORKLOADS = {'a': 3}", "it must be a dictionary such as"),
        (KERNELBENCH + "WORKLOADS = {'a': {'weight': 0}}", "a weight is a positive number"),
        (KERNELBENCH + "WORKLOADS = {'a': {'weight': True}}", "a weight is a positive number"),
        (KERNELBENCH + "WORKLOADS = {'a': {'held_out': 1}}", "must be True or False"),
        (KERNELBENCH + "WORKLOADS = {'a': {'rows': 1}}", "neither get_inputs nor get_init_inputs takes"),
        (SHAPED + "WORKLOADS = {'a': {'rows': [1]}}", "a parameter is a finite number"),
        (SHAPED + "WORKLOADS = {'a': {'rows': 1e999, 'cols': 1}}", "a parameter is a finite number"),
        (SHAPED + "WORKLOADS = {'a': {'rows': 1, 'cols': 1, 'wieght': 2}}", "Did you mean 'weight'"),
        (SHAPED + "WORKLOADS = {'a': {'cols': 1}}", "get_inputs needs rows"),
        (SHAPED + "WORKLOADS = {'a': {'rows': 1}}", "get_init_inputs needs cols"),
        (SHAPED, "get_inputs needs rows"),
        (KERNELBENCH + "TOLERANCE = {'rms_ration': 1}", "Did you mean 'rms_ratio'"),
        (KERNELBENCH + "TOLERANCE = {'rms_ratio': -1}", "0 or more"),
        (KERNELBENCH + "TOLERANCE = {'reduction': 0}", "whole number above 0"),
        (KERNELBENCH + "RULES = {'prepak': True}", "Did you mean 'prepack'"),
        (KERNELBENCH + "RULES = {'prepack': 1}", "must be True or False"),
        (KERNELBENCH + "RULES = {'precision': 'float8'}", "must be one of"),
        (KERNELBENCH + "BACKWARD = 1", "BACKWARD is 1"),
        (KERNELBENCH + "NAME = ''", "not empty"),
    ],
)
def test_a_mistake_is_one_sentence_that_names_the_file(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        load(tmp_path, text)
    assert said in str(caught.value)
    assert "problem.py" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_generator_with_keywords_takes_any_parameter(tmp_path: Path) -> None:
    path = tmp_path / "problem.py"
    path.write_text(KERNELBENCH.replace("get_inputs()", "get_inputs(**sizes)") + "WORKLOADS = {'a': {'depth': 2}}")
    assert File().load(str(path)).workloads[0].params == {"depth": 2}


def test_what_is_no_text_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="There is no file"):
        File().load(str(tmp_path / "absent.py"))
    with pytest.raises(UserError, match="is a folder"):
        File().load(str(tmp_path))
    (tmp_path / "latin.py").write_bytes(b"# \xe9\n")
    with pytest.raises(UserError, match="not UTF-8"):
        File().load(str(tmp_path / "latin.py"))
    (tmp_path / "zero.py").write_bytes(b"a\0b")
    with pytest.raises(UserError, match="zero byte"):
        File().load(str(tmp_path / "zero.py"))
    with (tmp_path / "large.py").open("wb") as file:
        os.truncate(file.fileno(), LARGEST_BYTES + 1)
    with pytest.raises(UserError, match="at most"):
        File().load(str(tmp_path / "large.py"))
    os.mkfifo(tmp_path / "pipe.py")
    for endless in ("/dev/zero", str(tmp_path / "pipe.py")):
        with pytest.raises(UserError, match="is a pipe, a socket or a device; give the path of a problem file"):
            File().load(endless)
    with pytest.raises(UserError, match="An empty path"):
        File().load("")


def test_reading_a_problem_imports_no_torch(tmp_path: Path) -> None:
    path = tmp_path / "problem.py"
    path.write_text(KERNELBENCH)
    code = (
        "import sys; from kernwright.problems.file import File; "
        f"File().load({str(path)!r}); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_candidate_brings_the_files_that_it_loads(tmp_path: Path) -> None:
    main = tmp_path / "mine.py"
    main.write_text(
        "lib = load('kernel.cpp', flags=[])\nagain = load('kernel.cpp')\nother = load(name)\n"
        "inline = load('int f();\\n')\nweights = torch.load('weights.pt')\n"
    )
    (tmp_path / "kernel.cpp").write_text("int f() { return 1; }\n")
    asked: list[list[str]] = []

    def recognise(files: object) -> str:
        assert isinstance(files, dict)
        asked.append(list(files))
        return "cpp"

    candidate = read_candidate(main, None, recognise)
    assert candidate.language == "cpp"
    assert [file.name for file in candidate.files] == ["mine.py", "kernel.cpp"] == asked[0]
    assert read_candidate(main, "torch", recognise).language == "torch"
    assert len(asked) == 1


def test_a_candidate_that_does_not_parse_is_still_read(tmp_path: Path) -> None:
    main = tmp_path / "broken.py"
    main.write_text("def kernel(:\n    load('kernel.cpp')\n")
    assert [f.name for f in read_candidate(main, "cpp", lambda _: "").files] == ["broken.py"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.py", "load('b.cpp')", "no such file beside it"),
        ("a.py", "load('../b.cpp')", "without folders"),
        ("a.cpp", "int f();", "not a Python file"),
    ],
)
def test_a_candidate_that_cannot_be_read(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UserError, match=said):
        read_candidate(tmp_path / name, "cpp", lambda _: "")
