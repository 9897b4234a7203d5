"""A bundle and what lies beside it: the kernel that it is evidence of, keys, files that would overwrite each other."""

import io
import os
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tokenize import detect_encoding

import pytest
from judged_runs import searched

pytest.importorskip("torch")
pytest.importorskip("cryptography")

from kernwright import api
from kernwright.cli.main import run as command
from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.errors import UserError
from kernwright.engine.bundles import notes
from kernwright.engine.bundles.document import LIMIT_BYTES, load, write
from kernwright.engine.bundles.facts import Bundle
from kernwright.engine.bundles.header import BEGINNING, header_of, parted
from kernwright.engine.bundles.verifying import verify
from kernwright.engine.exporting import BUNDLE_SUFFIX
from kernwright.testing.bundles import made_bundle

GALLERY = Path(__file__).parents[2] / "gallery"
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


Edit = Callable[[str], str]
"""Of a kernel's text, whose body stays what it was."""
ODD = ["\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\x00", "\x1b", "\x08", "\u202e"]


def after(line: str, more: str) -> Edit:
    """At the end of the header's line that begins so."""
    return lambda text: "\n".join(each + more if each.startswith(f"# {line}") else each for each in text.split("\n"))


def added(line: str) -> Edit:
    return lambda text: text.replace("\n\n", f"\n# {line}\n\n", 1)


HIDING = {
    **{ascii(odd): added(f"note: nothing{odd}print(1)") for odd in ODD},
    "first line": after("Exported", '\rprint("EVIL")'),
    "coding": after("Exported", " coding: unicode_escape"),
    "coding of an editor": after("Exported", " -*- coding:utf-7 -*-"),
    "second line": after("problem: ", " vim: set fileencoding=utf-7 :"),
}


@pytest.mark.parametrize("name", HIDING)
def test_code_that_hides_in_the_header_is_told_of(tmp_path: Path, name: str) -> None:
    bundle, kernel = exported(tmp_path), tmp_path / "champion.py"
    text = kernel.read_text()
    kernel.write_bytes(HIDING[name](text).encode())
    assert verify(bundle).notes == ("champion.py, beside it, has a header in which code may hide",)


STATING: list[tuple[str, Edit]] = [
    ("states another speedup", lambda text: text.replace("# speedup: 1.", "# speedup: 99.")),
    ("states another speedup", lambda text: text.replace(" 95 % interval", " 99 % interval")),
    ("states another speedup", added("speedup: 99.000x [98.000, 99.900], 95 % interval, against PyTorch eager")),
    ("states another problem", after("problem: ", "0")),
    ("states another verdict", after("verdict: ", " twice")),
    ("states another threads", lambda text: text.replace("# threads: 1;", "# threads: 64;")),
    ("states another machine", after("machine: ", " and everywhere")),
    ("states another torch", after("torch: ", ".1")),
    ("states another note", after("note: ", "!")),
    ("states another workload", after("workload: ", " and any other")),
    ("states another use", after("use: ", "!")),
    ("states more", added("It is by far the fastest.")),
    ("states more", added("praise: the fastest")),
    ("states more", lambda text: text.replace("# speedup: ", "#  speedup: 9")),
]


@pytest.mark.parametrize(("said", "edit"), STATING)
def test_a_header_that_states_what_the_bundle_does_not_is_told_of(tmp_path: Path, said: str, edit: Edit) -> None:
    bundle, kernel = exported(tmp_path), tmp_path / "champion.py"
    text = kernel.read_text()
    kernel.write_text(edit(text))
    assert verify(bundle).notes == (f"champion.py, beside it, has a header that {said} than the bundle",)


def test_a_header_may_state_less_and_names_its_own_evidence(tmp_path: Path) -> None:
    bundle, kernel = exported(tmp_path), tmp_path / "champion.py"
    header, body = parted(kernel.read_text())
    first, *rest = header.split("\n")
    kernel.write_text("\n".join((f"{first} and others", *rest[::2])) + f"\n\n{body}")
    assert verify(bundle).notes == ()
    kernel.write_text(header.replace(", bundle ", ", bundle 0") + f"\n\n{body}")
    assert "has a header that names other evidence than the bundle" in str(verify(bundle).notes)
    kernel.write_text(body)
    assert verify(bundle).notes == ()


def test_a_kernel_is_looked_at_to_its_end(tmp_path: Path) -> None:
    bundle, kernel = exported(tmp_path), tmp_path / "champion.py"
    header, body = parted(kernel.read_text())
    first, *rest = header.split("\n")
    room = LIMIT_BYTES - len(f"{header}\n\n{body}".encode())
    kernel.write_text("\n".join((first + "x" * room, *rest)) + f"\n\n{body}print('EVIL')\n")
    assert "is larger than 16 MiB, and was not looked at" in str(verify(bundle).notes)


def test_a_loader_and_a_header_are_both_told_of(tmp_path: Path) -> None:
    bundle, kernel = exported(tmp_path, "loaded"), tmp_path / "champion.py"
    kernel.write_text(added("praise: fast")(kernel.read_text()).replace("class Library", "class Another"))
    loader, header = verify(bundle).notes
    assert "a loader that is not this Kernwright's" in loader
    assert "has a header that states more" in header


@pytest.mark.parametrize("odd", ODD)
def test_names_put_no_code_into_a_header(odd: str) -> None:
    made = made_bundle(random.Random(1))
    name = f"a{odd}print(1) # coding=utf-7"
    problem = replace(made.problem, name=name)
    evaluation = replace(made.evaluation, notes=(name,), machine=name, environment={"torch": name})
    origin = f"{BEGINNING}0: node 1 of run r, by {name} coding:utf-7."
    text = header_of(origin, f"evidence: {name}, bundle 0", problem, made.candidate, evaluation)
    assert all(line.startswith("# ") and line.isprintable() for line in text.splitlines()[:-1])
    assert detect_encoding(io.BytesIO(text.encode()).readline)[0] == "utf-8"
    assert parted(f"{text}x = 1\n") == (text.removesuffix("\n\n"), "x = 1\n")


def test_an_odd_name_is_exported_without_a_note(tmp_path: Path) -> None:
    run = searched(tmp_path, "odd\rname\x00 coding: utf-7", 1.5)
    done = api.export(run, tmp_path / "odd.py", home=tmp_path)
    assert done.bundle is not None
    assert "# problem: odd name? coding : utf-7 (" in (tmp_path / "odd.py").read_text()
    assert verify(done.bundle).notes == ()


@pytest.mark.parametrize("kernel", sorted(GALLERY.rglob("kernel.py")), ids=lambda path: str(path.parent.name))
def test_nothing_is_said_of_kernels_that_earlier_versions_exported(kernel: Path) -> None:
    notes = verify(kernel.with_name(f"{kernel.stem}{BUNDLE_SUFFIX}")).notes
    assert [note for note in notes if not note.startswith("it is by version ")] == []


def test_a_candidate_that_cannot_be_one_file_excuses_no_other_kernel(tmp_path: Path) -> None:
    main = "def kernel(x):\n    import kernwright\n    return x\n"
    made = made_bundle(random.Random(1))
    candidate = Candidate(language="torch", files=(SourceFile(name="main.py", text=main),))
    evaluation = replace(made.evaluation, candidate=candidate.id)
    path = tmp_path / "champion.bundle.json"
    path.write_bytes(write(replace(made, candidate=candidate, evaluation=evaluation)))
    (tmp_path / "champion.py").write_text(main)
    assert verify(path).notes == ()
    (tmp_path / "champion.py").write_text("print('EVIL')\n")
    assert "does not hold the bundle's candidate" in str(verify(path).notes)


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
    checks = tuple(check for check in made.evaluation.checks if check.name != "forbidden")  # which came later
    older = replace(made.evaluation, judge_version="19", checks=checks)
    assert "version 19 of the judge" in noted(replace(made, evaluation=older))
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
