"""What a build leaves is kept as plain files, all or nothing."""

from pathlib import Path

import pytest

pytest.importorskip("torch")

from kernwright.evaluation import build
from kernwright.evaluation.ended import Ended
from kernwright.evaluation.participants import keeping


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    (tmp_path / "scratch" / keeping.ARTIFACTS / "sub").mkdir(parents=True)
    return tmp_path / "scratch"


def test_links_are_left_behind_and_files_kept(scratch: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    artifacts = scratch / keeping.ARTIFACTS
    (artifacts / "sub" / "kernel.so").write_bytes(b"code")
    (artifacts / "link").symlink_to(secret)
    (artifacts / "folder").symlink_to(tmp_path)
    final = tmp_path / "cache" / "key"
    keeping.keep(scratch, final, {"library_bytes": 4.0})
    kept = {str(p.relative_to(final)) for p in final.rglob("*") if p.is_file()}
    assert kept == {"artifacts/sub/kernel.so", "notes.json", "resources.tsv"}
    assert build._resources(final) == {"library_bytes": 4.0}
    assert build._notes(final) == ()


def test_what_a_build_says_is_kept_and_is_one_line_that_names_its_source(scratch: Path, tmp_path: Path) -> None:
    said = build.sentences(["not all of it\n\x1b[31mwas built", 3, "", "x" * 9999, *"abcdefgh"])
    assert said[0] == "build: not all of it  [31mwas built"
    assert len(said) == build.MOST_NOTES
    assert max(map(len, said)) <= build.NOTE_CHARACTERS + len("build: ")
    keeping.keep(scratch, tmp_path / "key", {}, said)
    assert build._notes(tmp_path / "key") == said
    assert build.sentences({"no": "list"}) == build.sentences(None) == ()


def test_too_much_is_a_failed_build_and_nothing_is_kept(
    scratch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "MOST_BYTES", 1000)
    (scratch / keeping.ARTIFACTS / "large").write_bytes(b"x" * 2000)
    with pytest.raises(Ended) as caught:
        keeping.keep(scratch, tmp_path / "cache" / "key", {})
    assert caught.value.outcome.kind == "build_failed"
    assert not (tmp_path / "cache").exists()


def test_the_first_of_two_equal_builds_stays(scratch: Path, tmp_path: Path) -> None:
    final = tmp_path / "cache" / "key"
    keeping.keep(scratch, final, {"n": 1.0})
    keeping.keep(scratch, final, {"n": 2.0})
    assert build._resources(final) == {"n": 1.0}


def test_the_compilers_complaint_is_found() -> None:
    log = "In function f:\nkernel.cpp:3:1: warning: odd\nkernel.cpp:4:2: error: 'eps' was not declared\nmore"
    assert build._telling(log) == "kernel.cpp:4:2: error: 'eps' was not declared"
    assert build._telling("nothing of the kind") == ""
