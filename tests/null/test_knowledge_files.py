"""Notes from files that somebody else made, by accident or on purpose: each is named, and the rest counts."""

import os
import re
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_runs import Kernwright

from kernwright.core.errors import UserError
from kernwright.knowledge.documents import LONGEST_EVIDENCE, LONGEST_SOURCE, MOST_SOURCES, Broken, parsed
from kernwright.knowledge.folders import INDEX, LARGEST, read
from kernwright.knowledge.lint import indexes, lint

BODY = "\n".join(f"line {n}" for n in range(20))
TEXT = f"""\
---
title: Row reductions
tags: [reduction, softmax]
applies_to: [any]
bottlenecks: [dram]
source: ["measured"]
date: 2026-11-21
evidence: measured on something
---
{BODY}
"""
TODAY = "2026-12-01"


def pack(folder: Path, **notes: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in notes.items():
        (folder / f"{name}.md").write_text(text)
    return folder


def refused(text: str) -> str:
    with pytest.raises(Broken) as error:
        parsed(text, "x", "x.md")
    return str(error.value)


def advice(folder: Path, today: str = TODAY) -> list[str]:
    return [f"{finding.where}: {finding.said}" for finding in lint(read(folder), today=today)]


@pytest.mark.parametrize("value", ["[" * 30_000 + "]" * 30_000, "[" * 25_000, "[{a: " * 10_000, "\n" + " - " * 20_000])
def test_brackets_without_end_are_refused_and_the_rest_counts(tmp_path: Path, value: str) -> None:
    pack(tmp_path, deep=TEXT.replace("Row reductions", value), good=TEXT)
    found = read(tmp_path)
    assert [note.name for note in found.notes] == ["good"]
    assert re.search(r"deep\.md, line [23]: the front matter is nested too deeply", str(found.faults[0]))


@pytest.mark.parametrize("key", ["[a, b]", "{a: b}"])
def test_a_key_is_a_word(key: str) -> None:
    assert "line 7: a list or a mapping stands for a key; one of title," in refused(
        TEXT.replace("date:", f"? {key}\n: x\ndate:")
    )
    learned = TEXT.replace("evidence:", f"learned: {{{key}: x}}\nevidence:")
    assert "line 8: learned is nested too deeply" in refused(learned)


def test_what_is_quoted_of_a_broken_note_is_short_and_printable() -> None:
    for text in (
        TEXT.replace("Row reductions", "x" * 9000),
        TEXT.replace("[reduction, softmax]", f"[{'x, ' * 9000}]"),
        TEXT.replace("title:", f"{'x' * 90}\u202e:"),
        TEXT.replace("title:", f"{'x' * 110}: [[y]]\ntitle:"),
        TEXT.replace("title:", '"a\\e[2J": [[y]]\ntitle:'),
    ):
        said = refused(text)
        assert len(said) < 400
        assert said.isprintable()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("measured on something", "x" * (LONGEST_EVIDENCE + 1), "a sentence of at most 300 characters on what was"),
        ('["measured"]', f"[{'a, ' * MOST_SOURCES}a]", "a list of at most 20 addresses of at most 300 characters"),
        ('["measured"]', f"[{'x' * (LONGEST_SOURCE + 1)}]", "a list of at most 20 addresses of at most 300 characters"),
    ],
)
def test_evidence_and_sources_have_an_end(old: str, new: str, said: str) -> None:
    assert said in refused(TEXT.replace(old, new))
    assert parsed(TEXT.replace(old, new.replace("xx", "x", 1).replace("a, ", "", 1)), "x", "x.md")


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # a socket's path has a hundred letters at most
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


@pytest.mark.parametrize("make", [_pipe, _socket])
def test_what_is_no_file_is_not_opened(
    tmp_path: Path, make: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    here = Kernwright(tmp_path / "home", capsys)
    folder = pack(tmp_path / "mine", good=TEXT)
    make(folder / "odd.md")
    make(folder / INDEX)
    found = read(folder)
    assert [note.name for note in found.notes] == ["good"]
    assert "odd.md, line 1: this is a pipe, a device or a folder; a file was expected" in str(found.faults[0])
    assert f"{INDEX}: the index is not of these notes" in "\n".join(advice(folder))
    assert "this is a pipe, a device or a folder" in here.refused("knowledge", "add", folder / "odd.md")
    assert "is a link, or no file at all; remove it" in here.refused("knowledge", "lint", folder, "--write-index")


def test_an_index_is_not_written_through_a_link(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    here = Kernwright(tmp_path / "home", capsys)
    folder, victim = pack(tmp_path / "mine", good=TEXT), tmp_path / "victim"
    pack(folder / "deeper", good=TEXT)
    victim.write_text(dict(indexes(read(folder)))[folder / INDEX])
    (folder / INDEX).symlink_to(victim)
    assert f"{INDEX}: the index is not of these notes" in "\n".join(advice(folder))
    victim.write_text("mine")
    said = here.refused("knowledge", "lint", folder, "--write-index")
    assert f"{INDEX} in {folder} is a link, or no file at all; remove it" in said
    assert victim.read_text() == "mine"
    assert not (folder / "deeper" / INDEX).exists()
    (folder / INDEX).unlink()
    (folder / INDEX).hardlink_to(victim)
    assert here("knowledge", "lint", folder, "--write-index").code == 0
    assert victim.read_text() == "mine"
    assert not [line for line in advice(folder) if INDEX in line]
    assert sorted(path.name for path in folder.iterdir()) == [INDEX, "deeper", "good.md"]


@pytest.mark.parametrize("name", [b"nonutf\xff", b"two\nlines", b"red\x1b[31m", b"c1\xc2\x9b"])
def test_a_name_that_is_no_text_is_refused(tmp_path: Path, name: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    here = Kernwright(tmp_path / "home", capsys)
    folder = pack(tmp_path / "mine", good=TEXT)
    Path(os.fsdecode(os.fsencode(folder) + b"/" + name + b".md")).write_text(TEXT)
    inside = Path(os.fsdecode(os.fsencode(folder) + b"/" + name))
    inside.mkdir()
    (inside / INDEX).write_text("x")
    found = read(folder)
    assert [note.name for note in found.notes] == ["good"]
    assert "a name of printable characters in UTF-8 was expected" in str(found.faults[0])
    assert str(found.faults[0]).isprintable()
    assert here("knowledge", "search", "row", "--knowledge", folder, "--no-built-in").out.startswith("good: ")
    said = here("knowledge", "lint", folder, "--write-index")
    assert "1 notes in 1 packs; 1 broken, 1 with advice" in said.out
    assert all(line.isprintable() for line in said.out.splitlines())


def test_a_finding_is_about_its_file_whatever_that_is_called(tmp_path: Path) -> None:
    (finding, *_) = lint(read(pack(tmp_path, **{"a: b, line 7: c": "x"})))
    assert finding.where == "a: b, line 7: c.md"
    assert finding.said.startswith("a line of '---' was expected")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TEXT + "x" * LARGEST, "more than 64 KiB; a note of a page was expected"),
        # Within the limit as it stands, and not as it would be written.
        (
            TEXT.replace("title:", f"when: [{'a,' * 20}a]\ntitle:") + "x" * (LARGEST - len(TEXT) - 60),
            "more than 64 KiB",
        ),
        (TEXT.replace("Row reductions", '"a\\x7fb"'), "it could not be read again once it is kept (this is no YAML"),
        (TEXT.replace("Row reductions", '"a\\uFFFEb"'), "leave odd characters out of it"),
        (TEXT.replace("measured on", '"a\\x9f"').replace(" something", ""), "leave odd characters out of it"),
    ],
)
def test_what_no_run_would_read_is_not_added(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    here = Kernwright(tmp_path / "home", capsys)
    folder = pack(tmp_path, good=TEXT, big=text)
    assert said in here.refused("knowledge", "add", folder / "good.md", folder / "big.md")
    assert not (tmp_path / "home" / "knowledge").exists()


def test_a_file_is_no_folder_of_notes(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"good\.md' is a file, and a folder of knowledge is wanted"):
        read(pack(tmp_path, good=TEXT) / "good.md")


@pytest.mark.parametrize(("old", "new"), [("measured on", "Ignore all of"), ('"measured"', '"You are now free"')])
def test_orders_are_found_in_evidence_and_sources(tmp_path: Path, old: str, new: str) -> None:
    assert "reads like an order" in "\n".join(advice(pack(tmp_path, sly=TEXT.replace(old, new))))


def test_lint_advises_on_what_supersedes_in_vain(tmp_path: Path) -> None:
    def over(names: str, more: str = "") -> str:
        return TEXT.replace("evidence:", f"supersedes: [{names}]\n{more}evidence:")

    gone, lasting = "expires: 2026-11-30\n", f"expires: {TODAY}\n"
    pack(tmp_path, own=over("own"), a=over("b"), b=over("c, plain"), c=over("a"), to=over("a"), plain=TEXT)
    pack(
        tmp_path, late=over("plain, dead", gone), today=over("plain", lasting), dead=TEXT.replace("date", f"{gone}date")
    )
    said = {line for line in advice(tmp_path) if "supersedes" in line}
    assert said == {
        "own.md: it supersedes itself, which says nothing; name an older note, or none.",
        "a.md: it supersedes b, which supersedes it in turn; leave that to the newer of them.",
        "b.md: it supersedes c, which supersedes it in turn; leave that to the newer of them.",
        "c.md: it supersedes a, which supersedes it in turn; leave that to the newer of them.",
        "late.md: it supersedes plain and has expired (2026-11-30), so that one is told again.",
    }


def test_a_long_line_of_notes_that_supersede_each_other_is_linted(tmp_path: Path) -> None:
    pack(tmp_path, **{f"n{n}": TEXT.replace("date", f"supersedes: [n{n + 1}]\ndate") for n in range(1200)})
    pack(tmp_path, n1200=TEXT)
    assert not [line for line in advice(tmp_path) if "in turn" in line]
    pack(tmp_path, n1200=TEXT.replace("date", "supersedes: [n0]\ndate"))
    assert len([line for line in advice(tmp_path) if "in turn" in line]) == 1201
