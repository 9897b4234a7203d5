"""Commands as a user gives them, in this process and in one of their own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kernwright.cli.main import run

PROBLEM = """\
import torch

WORKLOADS = {"wide": {"cols": 64}, "secret": {"cols": 4711, "held_out": True}}


class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1


def get_inputs(cols):
    return [torch.randn(8, cols)]
"""
CANDIDATE = "def kernel(x):\n    return x + 1\n"


@dataclass(frozen=True)
class Said:
    """What a command left."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one object on stdout."""
        assert self.out.count("\n") == 1
        plain: dict[str, Any] = json.loads(self.out)
        return plain


@dataclass(frozen=True)
class Kernwright:
    """Runs commands in this process."""

    home: Path
    capture: pytest.CaptureFixture[str]

    def __call__(self, command: str, *arguments: str | Path) -> Said:
        self.capture.readouterr()
        code = run([command, *map(str, arguments), "--home", str(self.home)])
        out, err = self.capture.readouterr()
        return Said(code, out, err)

    def refused(self, command: str, *arguments: str | Path, code: int = 2) -> str:
        """The sentence of a refusal, which is the same with `--json`."""
        plain = self(command, *arguments)
        said = self(command, *arguments, "--json")
        assert (plain.code, plain.out) == (code, "")
        assert said.code == code
        sentence: str = said.json["error"]
        assert plain.err.endswith(sentence + "\n")
        assert "Traceback" not in plain.err
        return sentence


def process(*arguments: str | Path, **environment: str) -> "subprocess.Popen[str]":
    """A command in a process of its own."""
    command = [sys.executable, "-m", "kernwright", *map(str, arguments)]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
        start_new_session=True,
    )
