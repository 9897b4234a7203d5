"""The skill file's commands run as they stand, in their order."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch")

from mcp_sessions import FILES, PROBLEM

pytestmark = pytest.mark.judged

ROOT = Path(__file__).parents[2]


def command(*words: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "kernwright", *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "KERNWRIGHT_HOME": str(cwd / "home")},
    )


def test_the_skill_is_shipped_and_printed(tmp_path: Path) -> None:
    text = (ROOT / "skills" / "kernwright" / "SKILL.md").read_text()
    assert command("mcp", "--skill", cwd=tmp_path).stdout == text
    front, _, body = text.removeprefix("---\n").partition("\n---\n")
    assert {line.partition(":")[0] for line in front.splitlines()} == {"name", "description"}
    assert len(body.splitlines()) < 90


def test_every_tool_that_the_skill_names_is_there() -> None:
    text = (ROOT / "skills" / "kernwright" / "SKILL.md").read_text()
    source = "".join(path.read_text() for path in (ROOT / "src" / "kernwright" / "mcp").glob("*.py"))
    named = set(re.findall(r"\b(?:[a-z]+_(?:problem|candidate|machine|run|brief|answer|kernel))\b", text))
    assert len(named) > 8
    for tool in named:
        assert f"async def {tool}(" in source, tool


def test_the_skill_names_every_tool() -> None:
    text = (ROOT / "skills" / "kernwright" / "SKILL.md").read_text()
    source = "".join(path.read_text() for path in (ROOT / "src" / "kernwright" / "mcp").glob("*.py"))
    tools = re.findall(r"@server\.tool\(\)\n    @sentences\n    async def (\w+)\(", source)
    assert len(tools) >= 15
    assert [tool for tool in tools if tool not in text] == []


def commands(*, searching: bool) -> list[str]:
    """Of the skill, in their order: those of a search and what comes of it, or those before it."""
    text = (ROOT / "skills" / "kernwright" / "SKILL.md").read_text()
    by_hand, heading, search = text.partition("\n## To let it search\n")
    assert heading
    blocks = re.findall(r"```bash\n(.*?)```", search if searching else by_hand, re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def succeeds(line: str, cwd: Path) -> None:
    words = shlex.split(line)
    assert words[0] == "kernwright"
    done = command(*words[1:], cwd=cwd)
    assert done.returncode == 0, (line, done.stderr)


@pytest.fixture
def folder(tmp_path: Path, informed: Callable[[Path], Path]) -> Path:
    for name, source in {"problem.py": PROBLEM, **FILES}.items():
        (tmp_path / name).write_text(source)
    informed(tmp_path / "home")
    return tmp_path


# In two halves of about 50 s on an idle machine, nearly all of it fresh processes that load PyTorch and compile the
# baseline: one test of all the commands came to the limit of time where others were at work.
def test_the_commands_by_hand_run(folder: Path) -> None:
    lines = commands(searching=False)
    assert len(lines) == 5
    for line in lines:
        succeeds(line, folder)


def test_the_commands_of_a_search_run(folder: Path) -> None:
    evolve, show, export = commands(searching=True)
    succeeds(evolve.replace("--proposals 6", "--proposals 1"), folder)  # one is as good as six here, and quicker
    succeeds(show, folder)
    shown = json.loads(command("show", "latest", "--json", cwd=folder).stdout)
    if shown["champion_node"] is not None:
        succeeds(export, folder)
    else:  # nothing faster was found on this machine: refused with a sentence, as the skill says
        assert command(*shlex.split(export)[1:], cwd=folder).returncode == 2
