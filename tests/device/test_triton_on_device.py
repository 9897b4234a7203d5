"""On a GPU: what was built without one is found, is right, and needs what the build said."""

import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

import torch

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.plan import QUICK
from kernwright.engine import intake
from kernwright.evaluation.judge import Judge
from kernwright.languages.gpus import gpu_of
from kernwright.problems.file import problem_in

pytestmark = [
    pytest.mark.device,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU"),
]
UNIT = Path(__file__).parents[1] / "unit"
BENCHMARKS = Path(__file__).parents[2] / "benchmarks" / "problems"
PRELUDE = f"""
import json, os, sys, time, warnings
from pathlib import Path
sys.path.insert(0, {str(UNIT)!r})
import triton_builds, triton_sources
from triton_builds import call, tensor
folder = Path(sys.argv[1])
text = getattr(triton_sources, sys.argv[2])
shapes, dtype = json.loads(sys.argv[3]), sys.argv[4]
"""
WARM = """
from kernwright.languages.triton_warm import warm
if sys.argv[-1] == "warm":
    warm(90)
"""
BUILD = """
built, hits = triton_builds.build_here(text, sys.argv[5], [call(*[tensor(*s, dtype=dtype) for s in shapes])], folder)
print(json.dumps({"hits": hits, "resources": dict(built.resources)}))
"""
RUN = """
import torch
from triton import knobs
from kernwright.core.loading import import_file
hits = []
knobs.compilation.listener = lambda *, cache_hit, **about: hits.append(cache_hit)
(folder / "candidate.py").write_text(text)
inputs = [torch.randn(s, device="cuda", dtype=getattr(torch, dtype)) for s in shapes]
torch.cuda.synchronize()
before = set((folder / "artifacts").rglob("*"))
start = time.perf_counter()
module = import_file(folder / "candidate.py", "candidate")
with torch.device("cuda"):
    function = module.ModelNew().eval() if hasattr(module, "ModelNew") else module.kernel
with torch.no_grad():
    result = function(*inputs)
torch.cuda.synchronize()
first_s = time.perf_counter() - start
wide = [x.double() for x in inputs]
right = wide[0] @ wide[1] if len(wide) == 2 else wide[0].softmax(-1) if "softmax" in text else wide[0].relu()
new = sorted(p.name for p in set((folder / "artifacts").rglob("*")) - before if p.is_file())
error = (result.double() - right).abs().max().item()
print(json.dumps({"hits": hits, "new": new, "first_s": first_s, "error": error}))
"""
CASES = {
    "SOFTMAX": ([[4096, 4096]], "float32"),
    "MATMUL": ([[512, 256], [256, 384]], "float16"),
    "GENERATED": ([[1024, 1024]], "float32"),
}


def _target() -> str:
    major, minor = torch.cuda.get_device_capability()
    number = major * 10 + minor
    return f"cuda:sm_{number}a" if number >= 90 else f"cuda:sm_{number}"


def _python(code: str, folder: Path, name: str, *rest: str, **variables: str) -> dict[str, Any]:
    shapes, dtype = CASES[name]
    command = [sys.executable, "-c", PRELUDE + WARM + code, str(folder), name, json.dumps(shapes), dtype, *rest]
    done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


@pytest.mark.parametrize("name", list(CASES))
@pytest.mark.parametrize("start", ["warm", "cold"])
def test_a_run_compiles_nothing(name: str, start: str, tmp_path: Path) -> None:
    from kernwright.languages.triton_cache import variables

    # Both are forked from one process, which has found its ptxas; other versions would make other keys.
    built = _python(BUILD, tmp_path / "built", name, _target(), start, CUDA_VISIBLE_DEVICES="")
    assert built["resources"]["dry_run"] == 1
    assert not any(built["hits"])
    run = tmp_path / "run"
    run.mkdir()
    (tmp_path / "built" / "artifacts").rename(run / "artifacts")
    told = {"KERNWRIGHT_ARTIFACTS": str(run / "artifacts"), "TORCHINDUCTOR_CACHE_DIR": str(run / "inductor")}
    ran = _python(RUN, run, name, start, **told, **variables(run / "artifacts"))
    print(name, start, ran)
    assert ran["error"] < 1e-2
    assert ran["hits"]
    assert all(ran["hits"]), ran
    assert not [file for file in ran["new"] if file.endswith((".cubin", ".json")) or "launcher" in file], ran


def test_the_driver_agrees_about_registers(tmp_path: Path) -> None:
    from kernwright.core.loading import import_file
    from kernwright.languages.gpu_resources import image_resources

    source = tmp_path / "kernels.py"
    source.write_text(
        "import triton\nimport triton.language as tl\n@triton.jit\ndef f(x, N: tl.constexpr):\n"
        "    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]\n"
        "    a = tl.load(x + at)\n    tl.store(x + at, tl.dot(a, a) + tl.dot(a, tl.trans(a)))\n"
    )
    function = import_file(source, "kernels_of_a_test").f
    for size in (16, 128):
        kernel = function[(1,)](torch.zeros(size, size, device="cuda"), size, num_warps=4)
        found = image_resources(kernel.asm["cubin"])
        assert found["registers"] == kernel.n_regs
        assert found["spill_bytes"] == 4 * kernel.n_spills


def test_the_described_gpu_is_like_this_one() -> None:
    """Where it is another model of the same architecture, `$KERNWRIGHT_DEVICE` has to say so."""
    gpu, real = gpu_of(_target()), torch.cuda.get_device_properties(0)
    assert gpu is not None
    if gpu.name != real.name:
        pytest.skip(f"this is {real.name}, not {gpu.name}")
    described = asdict(gpu)
    same = (
        "major minor multi_processor_count shared_memory_per_block shared_memory_per_block_optin "
        "shared_memory_per_multiprocessor L2_cache_size warp_size regs_per_multiprocessor "
        "max_threads_per_multi_processor max_threads_per_block"
    )
    there = {field: getattr(real, field) for field in same.split() if hasattr(real, field)}
    assert {field: described[field] for field in there} == there


def test_the_launcher_of_a_signature_is_compiled_once_for_all_builds(tmp_path: Path) -> None:
    judge = Judge(str(tmp_path))
    problem = problem_in(Path("softmax_rows.py"), (BENCHMARKS / "softmax_rows.py").read_text())
    text = (BENCHMARKS / "softmax_4096_triton.py").read_text()
    try:
        for number in range(2):
            files = (SourceFile(name="candidate.py", text=f"{text}\n# {number}\n"),)
            candidate = Candidate(language="triton", files=files)
            job = replace(intake.job_of(problem, candidate, _target(), QUICK, tmp_path), build_only=True)
            found = judge.evaluate(job)
            assert found.outcome.kind == "built", found.outcome
    finally:
        judge.close()
    (common,) = (tmp_path / "cache" / "common").glob("*/*/artifacts/triton/*/__triton_launcher*")
    builds = sorted((tmp_path / "cache" / "build").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    assert [(build / "artifacts" / "common").is_dir() for build in builds] == [True, False]
    (own,) = builds[1].glob(f"artifacts/triton/*/{common.name}")
    assert own.read_bytes() == common.read_bytes()
