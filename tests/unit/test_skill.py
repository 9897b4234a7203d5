"""The skill file's commands run as they stand, in their order."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from mcp_sessions import FILES, PROBLEM

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


def test_the_commands_of_the_skill_run(tmp_path: Path) -> None:
    (tmp_path / "problem.py").write_text(PROBLEM)
    for name, source in FILES.items():
        (tmp_path / name).write_text(source)
    text = (ROOT / "skills" / "kernwright" / "SKILL.md").read_text()
    commands = [line for block in re.findall(r"```bash\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    assert len(commands) == 8
    verified = False
    for line in commands:
        words = shlex.split(line.replace("--proposals 6", "--proposals 1"))  # one is as good as six here, and quicker
        assert words[0] == "kernwright"
        if words[1] == "export" and not verified:
            asked = command("show", "latest", "--json", cwd=tmp_path)
            verified = json.loads(asked.stdout)["champion_node"] is not None
            if not verified:  # nothing faster was found on this machine: refused with a sentence, as the skill says
                assert command(*words[1:], cwd=tmp_path).returncode == 2
                continue
        done = command(*words[1:], cwd=tmp_path)
        assert done.returncode == 0, (line, done.stderr)
