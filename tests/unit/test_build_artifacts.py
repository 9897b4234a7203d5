"""What a build leaves reaches the runners of the same candidate."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernwright.core.candidate import SourceFile
from kernwright.core.plan import QUICK
from kernwright.evaluation.ended import Ended
from kernwright.evaluation.participants.workshop import ARTIFACTS, Workshop
from kernwright.platforms.cpu import Cpu

NEEDS_IT = (SourceFile(name="main.py", text="import prepared\n\n\ndef kernel(x):\n    return x\n"),)
BEFORE = "import sys, types\nsys.modules['prepared'] = types.ModuleType('prepared')\n"


@pytest.fixture
def shop() -> Iterator[Workshop]:
    platform = Cpu()
    workshop = Workshop(platform, platform.targets()[0])
    yield workshop
    workshop.close()


def test_a_runner_imports_what_the_build_prepared_first(shop: Workshop, tmp_path: Path) -> None:
    (tmp_path / ARTIFACTS).mkdir()
    with pytest.raises(Ended), shop.runner("candidate", NEEDS_IT, QUICK, built=tmp_path):
        pass
    (tmp_path / ARTIFACTS / "before.py").write_text(BEFORE)
    with shop.runner("candidate", NEEDS_IT, QUICK, built=tmp_path) as runner:
        assert runner.name == "candidate"


CUDA = """\
import os
os.environ["KERNWRIGHT_TARGET"] = "cuda:sm_90a"
os.environ["KERNWRIGHT_EMULATE"] = "1"
from kernwright.languages.cuda_loader import load
library = load('''
extern "C" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }
''')
import torch
if "KERNWRIGHT_BUILDING" not in os.environ:
    x = torch.ones(4)
    library.twice(1, 4, x)
    assert x.tolist() == [2.0] * 4


def kernel(x):
    return x
"""


def test_cuda_is_built_and_run_by_the_shim_under_confinement(shop: Workshop, tmp_path: Path) -> None:
    files = (SourceFile(name="main.py", text=CUDA),)
    with shop.runner("builder", files, QUICK, building=True) as runner:
        message = {"op": "build", "name": "cuda", "language": "kernwright.languages.cuda:Cuda", "target": "cuda:sm_90a"}
        message |= {"workdir": str(runner.scratch), "files": ["main.py"]}
        reply = runner.ask("build", message, 60.0, spec=b"[]")
        runner.close()
        (tmp_path / "built").mkdir()
        shutil.move(runner.scratch / ARTIFACTS, tmp_path / "built" / ARTIFACTS)
    assert reply["resources"]["kernels"] == 1
    with shop.runner("candidate", files, QUICK, built=tmp_path / "built") as runner:
        assert runner.name == "candidate"
