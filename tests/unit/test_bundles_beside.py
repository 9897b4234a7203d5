"""A bundle and what lies beside it: the kernel that it is evidence of, keys, files that would overwrite each other."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from judged_runs import searched

pytest.importorskip("torch")
pytest.importorskip("cryptography")

from kernwright import api
from kernwright.cli.main import run as command
from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.errors import UserError
from kernwright.engine.bundles import notes
from kernwright.engine.bundles.document import load, write
from kernwright.engine.bundles.facts import Bundle
from kernwright.engine.bundles.verifying import verify

NATIVE = 'extern "C" void plus() {\n}\n'
MAIN = """\
# A comment of the candidate's own.

from kernwright.languages.cpp_loader import load

lib = load("main.cpp")


def kernel(x):
    return x
"""
FILES = {
    "plain": (SourceFile(name="main.py", text="# Mine.\n\n\ndef kernel(x):\n    return x\n"),),
    "loaded": (SourceFile(name="main.py", text=MAIN), SourceFile(name="main.cpp", text=NATIVE)),
}


def exported(folder: Path, name: str = "plain", out: str = "champion.py") -> Path:
    """The bundle of a champion with these files, its kernel beside it."""
    candidate = Candidate(language="cpp" if name == "loaded" else "torch", files=FILES[name])
    run = searched(folder, f"exported {name}", 1.5, candidate)
    done = api.export(run, folder / out, home=folder)
    assert done.bundle is not None, done.without
    return done.bundle


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_said_of_the_kernel_that_was_exported(tmp_path: Path, name: str) -> None:
    bundle = exported(tmp_path, name)
    assert verify(bundle).notes == ()
    (tmp_path / "champion.py").unlink()
    assert verify(bundle).notes == ()


@pytest.mark.parametrize("name", FILES)
def test_an_edited_kernel_beside_its_bundle_is_told_of(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = exported(tmp_path, name)
    kernel = tmp_path / "champion.py"
    text = kernel.read_text()
    for old, new in (("return x\n", "return x + 1\n"), ("# Exported", "import os\n# Exported"), (text, "")):
        kernel.write_text(text.replace(old, new))
        assert verify(bundle).notes == ("champion.py, beside it, does not hold the bundle's candidate",)
    assert command(["verify", str(bundle)]) == 0
    assert "note: champion.py, beside it, does not hold" in capsys.readouterr().out
    kernel.write_text(text.replace("# problem: ", "import os  # problem: "))
    assert "does not hold" in str(verify(bundle).notes), "code in the header"


def test_an_edited_source_or_loader_is_told_of(tmp_path: Path) -> None:
    bundle = exported(tmp_path, "loaded")
    kernel = tmp_path / "champion.py"
    text = kernel.read_text()
    kernel.write_text(text.replace("void plus()", "void minus()"))
    assert "does not hold the bundle's candidate" in str(verify(bundle).notes)
    kernel.write_text(text.replace("class Library", "class Another"))
    assert "with a loader that is not this Kernwright's, which was not looked at" in str(verify(bundle).notes)


def test_what_is_not_todays_is_said(tmp_path: Path) -> None:
    made = load(exported(tmp_path)).bundle
    path = tmp_path / "other.json"

    def noted(bundle: Bundle) -> str:
        path.write_bytes(write(bundle))
        return str(verify(path).notes)

    plan = replace(made.plan, name="mine", half_width=0.5)
    evaluation = replace(made.evaluation, plan="mine")
    assert "under a plan of its own, 'mine'" in noted(replace(made, plan=plan, evaluation=evaluation))
    assert "version 19 of the judge" in noted(replace(made, evaluation=replace(made.evaluation, judge_version="19")))
    failed = replace(made.evaluation, failed_baselines={"compile": "no compiler"})
    assert "'compile' was not timed: no compiler" in noted(replace(made, evaluation=failed))


@pytest.mark.timeout(30)  # whoever opens one waits for a writer
def test_a_pipe_is_no_key(tmp_path: Path) -> None:
    bundle = exported(tmp_path)
    os.mkfifo(tmp_path / "key")
    with pytest.raises(UserError, match="is no regular file"):
        verify(bundle, tmp_path / "key")


@pytest.mark.parametrize("link", ["", "symbolic", "hard"])
def test_evidence_does_not_overwrite_the_kernel(tmp_path: Path, link: str) -> None:
    exported(tmp_path)
    kernel, other = tmp_path / "champion.py", tmp_path / "other.json"
    before = kernel.read_bytes()
    match link:
        case "symbolic":
            other.symlink_to(kernel)
        case "hard":
            other.hardlink_to(kernel)
        case _:
            other = tmp_path / "home" / ".." / "champion.py"
    with pytest.raises(UserError, match="the evidence would overwrite it"):
        api.export("latest", kernel, bundle=other, force=True, home=tmp_path)
    assert kernel.read_bytes() == before


def test_the_marks_of_an_export_are_known() -> None:
    text = notes.stand_alone(Candidate(language="cpp", files=FILES["loaded"]))
    assert [text.count(mark) for mark in (notes.LOADER, notes.SOURCES, notes.CANDIDATE)] == [1, 1, 1]
