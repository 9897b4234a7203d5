"""A bench on the device: the compiler alone on two small problems in KernelBench's layout, under two precisions."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from kernwright import api
from kernwright.core.plan import FULL, QUICK
from kernwright.core.spec import OperatorSpec

pytestmark = [pytest.mark.device, pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")]
PROBLEM = """\
import torch


class Model(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layer = {layer}

    def forward(self, x):
        return torch.relu(self.layer(x) + x)


def get_inputs():
    return [torch.randn(512, 1024)]


def get_init_inputs():
    return [1024]
"""
LAYERS = {"1_Linear": "torch.nn.Linear(size, size)", "2_Norm": "torch.nn.LayerNorm(size)"}


@pytest.mark.parametrize("precision", ["strict_float32", "tf32"])
def test_the_compiler_alone_is_verified(tmp_path: Path, precision: str) -> None:
    folder = tmp_path / "level1"
    folder.mkdir()
    for stem, layer in LAYERS.items():
        (folder / f"{stem}.py").write_text(PROBLEM.format(layer=layer))
    report = api.bench(
        "kernelbench",
        str(tmp_path),
        tmp_path / "out",
        home=tmp_path / "home",
        target="cuda",
        rules={"precision": precision},
        operators=(OperatorSpec(name="compiler", settings={"only": "default"}),),
        plan=QUICK,
        confirm_plan=replace(FULL, process_sets=3, short_sets=3),
    )
    assert [(row.problem, row.verdict) for row in report.rows] == [(f"level1/{stem}", "verified") for stem in LAYERS], (
        report.rows
    )
    assert not report.degenerate
    assert report.unexamined == ()
    assert report.precision == precision
    assert all(row.speedup_eager and row.speedup_compile for row in report.rows)
