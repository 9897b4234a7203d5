"""Triton candidates run on the processor, and say so where they cannot."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

import torch
from triton_builds import forked
from triton_sources import GENERATED, MATMUL, SOFTMAX

from kernwright.core.loading import import_file
from kernwright.languages import triton_cache, triton_warm
from kernwright.languages.dry_run import noted_complaints
from kernwright.languages.triton_emulation import prepare


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    """Triton is imported before any run is told to interpret, as in a warm launcher."""
    triton_warm.warm()


def _run(text: str, folder: Path, inputs: list[Any]) -> Any:
    prepare("cuda:sm_90a", text)
    (folder / "candidate.py").write_text(text)
    module = import_file(folder / "candidate.py", "candidate")
    with torch.device("cuda"):
        function = module.ModelNew().eval() if hasattr(module, "ModelNew") else module.kernel
    with torch.no_grad():
        result = function(*inputs)
    return result.device.type, result.tolist()


def _emulated(text: str, folder: Path, *inputs: Any) -> Any:
    return forked(_run, text, folder, list(inputs))


def test_a_file_written_for_a_gpu_runs_as_it_is(tmp_path: Path) -> None:
    x = torch.randn(5, 100, generator=torch.Generator().manual_seed(1))
    device, values = _emulated(SOFTMAX, tmp_path, x)
    assert device == "cpu"
    torch.testing.assert_close(torch.tensor(values), torch.softmax(x, -1))


@pytest.mark.parametrize("given", ['"cuda"', "0", "x.device", "x.get_device()"])
def test_a_tensor_may_be_made_where_the_device_would_be(given: str, tmp_path: Path) -> None:
    text = SOFTMAX.replace("x = x.to(", f"x = x * torch.tensor(2.0, device={given})\n        x = x.to(")
    x = torch.randn(2, 16, generator=torch.Generator().manual_seed(1))
    _, values = _emulated(text, tmp_path, x)
    torch.testing.assert_close(torch.tensor(values), torch.softmax(x * 2, -1))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_an_autotuned_loop_runs_once(dtype: Any, tmp_path: Path) -> None:
    generator = torch.Generator().manual_seed(2)
    a, b = torch.randn(20, 70, generator=generator).to(dtype), torch.randn(70, 40, generator=generator).to(dtype)
    text = MATMUL.replace('BM"]), triton', 'BM"]) if COUNT.append(1) is None else 0, triton')
    text = text.replace("\n\ndef kernel", "\n\nCOUNT = []\n\n\ndef kernel").replace(
        "return c", "assert len(COUNT) == 1\n    return c"
    )
    _, values = _emulated(text, tmp_path, a, b)
    torch.testing.assert_close(torch.tensor(values), a.float() @ b.float(), rtol=1e-4, atol=1e-4)


def test_the_example_is_right(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "examples" / "candidates" / "softmax_triton.py").read_text()
    x = torch.randn(3, 10_000, generator=torch.Generator().manual_seed(4)) * 4
    _, values = _emulated(text, tmp_path, x)
    torch.testing.assert_close(torch.tensor(values), torch.softmax(x, -1))


def test_code_by_inductor_runs(tmp_path: Path) -> None:
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(tmp_path / "inductor")
    text = GENERATED.replace("1048576", "64").replace("1024", "8")
    x = torch.randn(8, 8, generator=torch.Generator().manual_seed(3))
    try:
        _, values = _emulated(text, tmp_path, x)
    finally:
        del os.environ["TORCHINDUCTOR_CACHE_DIR"]
    print(_, values)
    assert torch.equal(torch.tensor(values), torch.relu(x))


def test_other_types_are_refused(tmp_path: Path) -> None:
    pair = (torch.ones(16, 16, dtype=torch.bfloat16), torch.ones(16, 16, dtype=torch.bfloat16))
    name, said = _emulated(MATMUL, tmp_path, *pair)
    assert name == "TypeError"
    assert "not in bfloat16" in said
    name, said = _emulated(SOFTMAX.replace("e = tl", "x = x.to(tl.bfloat16)\n    e = tl"), tmp_path, torch.ones(2, 8))
    assert "not in bf16" in said


def test_the_environment_is_told_without_importing_anything() -> None:
    code = (
        "import sys; from kernwright.languages import triton_cache as c; from pathlib import Path\n"
        "c.variables(Path('x')), c.emulation_variables()\n"
        "print(sorted({'torch', 'triton'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    assert triton_cache.emulation_variables() == {"TRITON_INTERPRET": "1"}


def test_what_a_compiler_says_belongs_to_its_error(capfd: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        with noted_complaints():
            os.write(2, b"module {\nkernel.py:3: error: no such layout\n}\n")
            raise RuntimeError("PassManager::run failed")

    with pytest.raises(RuntimeError) as caught:
        fail()
    assert caught.value.__notes__ == ["kernel.py:3: error: no such layout"]
    assert capfd.readouterr().err == "module {\nkernel.py:3: error: no such layout\n}\n"
