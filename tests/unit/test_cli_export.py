"""An exported kernel needs PyTorch and a compiler, and nothing of Kernwright."""

import subprocess
import sys
from pathlib import Path

import pytest

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.errors import UserError
from kernwright.engine.exporting import stand_alone

NATIVE = """\
#include <cstdint>
#ifndef QUOTE
#define QUOTE "it's \\"\\"\\" quoted"
#endif
extern "C" void plus(const float* x, float* y, int64_t n) { for (int64_t i = 0; i < n; ++i) y[i] = x[i] + STEP; }
"""
MAIN = '''\
"""Ünïcode before the call, so that bytes and characters differ."""
from __future__ import annotations

import torch
from kernwright.languages.cpp_loader import load{alias}

STEP = 2
lib = "ü" and {name}({source}, defines={{"STEP": STEP}})


def kernel(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    lib.plus(x, y, x.numel())
    return y
'''
USE = """\
import sys
sys.modules["kernwright"] = None
import torch, runpy
kernel = runpy.run_path(sys.argv[1])["kernel"]
x = torch.randn(1000)
print(torch.equal(kernel(x), x + 2))
"""


@pytest.mark.parametrize("beside", [True, False], ids=["a file beside it", "text inside"])
@pytest.mark.parametrize("name", ["load", "open_library"])
def test_the_loader_and_sources_are_inlined(tmp_path: Path, beside: bool, name: str) -> None:
    source = '"plus.cpp"' if beside else repr(NATIVE)
    alias = f" as {name}" if name != "load" else ""
    main = SourceFile(name="main.py", text=MAIN.format(alias=alias, name=name, source=source))
    files = (main, SourceFile(name="plus.cpp", text=NATIVE)) if beside else (main,)
    path = tmp_path / "exported.py"
    path.write_text(stand_alone(Candidate(language="cpp", files=files), "# made by a test\n"))
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", USE, str(path)], capture_output=True, text=True, check=False, env=environment
    )
    assert done.stdout == "True\n", done.stderr


@pytest.mark.parametrize(
    "line", ["import kernwright", "from kernwright.core import candidate", "from kernwright.languages import cpp"]
)
def test_what_takes_more_of_kernwright_is_refused(line: str) -> None:
    text = f"{line}\n\n\ndef kernel(x):\n    return x\n"
    with pytest.raises(UserError, match="cannot stand alone"):
        stand_alone(Candidate(language="torch", files=(SourceFile(name="main.py", text=text),)))
