"""What exists is documented, and what is documented runs."""

import random
import re
import shlex
import typing
from pathlib import Path

import pytest
import typer.main

from kernwright import languages, models, platforms, problems
from kernwright.cli.app import app
from kernwright.core.events import Event
from kernwright.core.graph import Graph
from kernwright.core.outcome import Outcome
from kernwright.engine import executors
from kernwright.knowledge.documents import KEYS
from kernwright.knowledge.problems import FAMILIES
from kernwright.knowledge.vocabulary import BOTTLENECKS, FOLDERS
from kernwright.platforms import profilers
from kernwright.search import operators, policies

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
JUDGE = (ROOT / "docs" / "reference" / "judge.md").read_text()
EXTEND = (ROOT / "docs" / "howto" / "extend.md").read_text()


def _kinds(union: object) -> list[str]:
    return [member.__dataclass_fields__["kind"].default for member in typing.get_args(union)]


@pytest.mark.parametrize("family", [languages, platforms, profilers, problems, executors, models, operators, policies])
def test_every_plug_in_is_named(family: object) -> None:
    for name in family.TABLE:
        assert f"`{name}`" in EXTEND


def test_every_verdict_and_event_is_named() -> None:
    for kind in _kinds(Outcome):
        assert f"`{kind}`" in README
    for kind in _kinds(Event):
        assert f"`{kind}`" in JUDGE


def test_every_command_is_in_the_readme() -> None:
    commands = {path.stem for path in (ROOT / "src" / "kernwright" / "cli").glob("*.py")}
    text = README + (ROOT / "Makefile").read_text()
    for command in (
        "doctor",
        "demo",
        "new",
        "check",
        "evolve",
        "judge",
        "profile",
        "runs",
        "show",
        "diff",
        "resume",
        "ask",
        "tell",
        "export",
        "steer",
        "methods",
        "compare",
        "zoo",
        "verify",
        "knowledge",
    ):
        assert command in commands
        assert f"kernwright {command}" in text.replace("$(BIN)/", "")


def test_no_help_is_lost_to_markup() -> None:
    """What stands in square brackets would be taken for a style, and left out."""
    for name, command in typer.main.get_group(app).commands.items():
        for param in command.params:
            assert not re.search(r"\[[a-z]", getattr(param, "help", None) or ""), f"{name} {param.name}"


def test_every_word_of_knowledge_is_named() -> None:
    text = (ROOT / "docs" / "reference" / "knowledge.md").read_text()
    for word in (*BOTTLENECKS, *FOLDERS, *FAMILIES, *KEYS):
        assert f"`{word}`" in text


def test_every_file_that_the_readme_links_is_there() -> None:
    for document in (ROOT / "README.md", ROOT / "docs" / "howto" / "extend.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
            assert (document.parent / target).exists(), target


def test_pages_keep_to_their_length() -> None:
    assert len(README.splitlines()) < 150
    assert len((ROOT / "ARCHITECTURE.md").read_text().splitlines()) < 150


def test_the_example_policy_works() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", EXTEND, flags=re.DOTALL)
    space: dict[str, type] = {}
    exec(code, space)
    picks = space["Latest"]().pick(Graph(), 1, random.Random(0))
    assert [pick.intent for pick in picks] == ["start"]


def _commands() -> list[str]:
    """Every command of ours in a block of a page, without comments; of several on a line each."""
    found: dict[str, None] = {}
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "src/kernwright/mcp/SKILL.md"):
        for block in re.findall(r"^```[a-z]*\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE):
            for line in block.replace("\\\n", " ").splitlines():
                found |= dict.fromkeys(part.strip() for part in re.split(r";|&&", re.sub(r"\s#.*", "", line)))
    return [line for line in found if line.startswith("kernwright ")]


def test_pages_show_commands() -> None:
    assert len(_commands()) > 40


@pytest.mark.parametrize("line", _commands())
def test_every_command_of_a_page_is_understood(line: str) -> None:
    """Its options exist, their values are of the kind that they take, and it has the arguments that it needs."""
    words = shlex.split(re.sub(r">\s*\S+", "", line.replace("BRIEF", "0").replace("NODE", "0")))[1:]
    typer.main.get_group(app).make_context("kernwright", list(words)).close()
    command = typer.main.get_group(app).commands[words[0]]
    while hasattr(command, "commands"):
        command, words = command.commands[words[1]], words[1:]
    command.make_context(words[0], words[1:]).close()
