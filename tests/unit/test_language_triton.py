"""Triton candidates compile for GPUs that are not there, and what they need is known."""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

import torch
import triton
import triton_builds
from triton_builds import build, build_here, call, tensor
from triton_sources import GENERATED, MATMUL, SOFTMAX

from kernwright.core.candidate import Candidate, SourceFile, knobs_of
from kernwright.languages import triton_warm
from kernwright.languages.gpu_resources import cubin_resources, image_resources
from kernwright.languages.triton import Triton

H200 = "cuda:sm_90a"
ROWS = call(tensor(128, 1024))


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    """What children would each do again."""
    triton_warm.warm()


@pytest.mark.parametrize("target", ["cuda:sm_80", H200, "cuda:sm_100a", "rocm:gfx942", "rocm:gfx950"])
def test_softmax_compiles_ahead_and_its_needs_are_known(target: str, tmp_path: Path) -> None:
    built, hits = build(SOFTMAX, target, [ROWS], tmp_path)
    assert hits == [False]
    assert built.resources["dry_run"] == 1
    assert built.resources["kernels"] == 1
    assert 8 < built.resources["registers"] < 255
    assert built.resources["shared_bytes"] > 0
    assert built.resources["spill_bytes"] == 0
    assert built.resources["num_warps"] == 4
    assert built.resources["cubin_bytes"] > 1000
    (binary,) = built.artifacts
    assert (tmp_path / "artifacts" / binary).stat().st_size == built.resources["cubin_bytes"]


def test_numbers_are_those_of_the_vendors_tool(tmp_path: Path) -> None:
    text = MATMUL.replace("tl.float32)\n", "tl.float32)\n    tl.static_assert(BN < 128)\n")
    text = text.replace("num_warps=2, num_stages=3", "num_warps=1, num_stages=2, maxnreg=32")
    built, _ = build(text, "cuda:sm_80", [call(tensor(512, 512), tensor(512, 512))], tmp_path)
    tool = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
    assert len(built.artifacts) == 2
    for name in built.artifacts:
        said = subprocess.run([tool, "-res-usage", tmp_path / "artifacts" / name], capture_output=True, text=True)
        numbers = dict(item.split(":") for item in said.stdout.splitlines()[-1].split())
        found = cubin_resources(tmp_path / "artifacts" / name)
        assert found["registers"] == int(numbers["REG"])
        assert found["spill_bytes"] == int(numbers["STACK"])
        assert found["shared_bytes"] == int(numbers["SHARED"])
    assert built.resources["spill_bytes"] > 0


def test_what_is_no_binary_has_a_size_alone() -> None:
    assert image_resources(b"\x7fELF\x02 no more") == {"cubin_bytes": 13.0}
    assert image_resources(b"") == {"cubin_bytes": 0.0}


@pytest.mark.parametrize(("target", "fitting"), [(H200, 2), ("rocm:gfx942", 2)])
def test_every_configuration_is_compiled_and_one_that_needs_too_much_is_left_out(
    target: str, fitting: int, tmp_path: Path
) -> None:
    calls = [call(tensor(128, 64, dtype="float16"), tensor(64, 96, dtype="float16"))]
    built, hits = build(MATMUL, target, calls, tmp_path)
    assert hits == [False] * 3
    assert built.resources["kernels"] == fitting
    assert built.resources["dry_run"] == 1


def test_each_call_compiles_what_it_specialises(tmp_path: Path) -> None:
    calls = [ROWS, call(tensor(64, 1024)), call(tensor(64, 1000)), call(tensor(64, 1001))]
    built, _ = build(SOFTMAX, H200, calls, tmp_path)
    assert built.resources["kernels"] == 2, "16 divides 1024 alone"


def test_inputs_and_the_module_are_cast_as_a_run_will_cast_them(tmp_path: Path) -> None:
    text = SOFTMAX.replace("x.is_cuda\n", "x.is_cuda and x.dtype == self.scale.weight.dtype == torch.bfloat16\n")
    text = text.replace("x = x.to(", "y = x.to(").replace(
        "y = torch.empty(x.shape, device", "y = torch.empty_like(x, device"
    )
    rows = tensor(128, 1024, dtype="bfloat16")
    narrow, _ = build(text, H200, [call(rows, cast="bfloat16")], tmp_path)
    assert narrow.resources["dry_run"] == 1
    name, _ = build(text, H200, [call(rows)], tmp_path)
    assert name == "AssertionError"


@pytest.mark.parametrize("text", [SOFTMAX, GENERATED], ids=["softmax", "generated"])
def test_what_was_built_is_found_wherever_it_is_moved(text: str, tmp_path: Path) -> None:
    calls = [call(tensor(1024, 1024))]
    first, hits = build(text, H200, calls, tmp_path / "first")
    assert hits
    assert not any(hits)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "first" / "artifacts").rename(tmp_path / "elsewhere" / "artifacts")
    second, hits = build(text, H200, calls, tmp_path / "elsewhere")
    assert hits == [True] * int(first.resources["kernels"])
    assert second.resources == first.resources
    assert second.artifacts == first.artifacts


def test_code_by_inductor_is_compiled_in_every_configuration(tmp_path: Path) -> None:
    built, hits = build(GENERATED, H200, [call(tensor(1024, 1024))], tmp_path)
    assert built.resources["dry_run"] == 1
    assert built.resources["kernels"] == len(hits) == 2


BAD: dict[str, tuple[str, str, str, str]] = {
    "unknown name": (
        "tl.max(x, 0)",
        "tl.maxx(x, 0)",
        "DoesNotCompile",
        "no attribute 'maxx'\") (candidate.py, line 12)\nat 5:",
    ),
    "wrong types": ("e = tl.exp(", "e = x_ptr + tl.exp(", "DoesNotCompile", "^\nIncompatibleTypeErrorImpl"),
    "assertion": (
        "row = tl",
        "tl.static_assert(BLOCK < 9, 'small')\n    row = tl",
        "DoesNotCompile",
        "small (candidate.py, line 9)",
    ),
    "no power of two": ("triton.next_power_of_2(x.shape[1])", "1000", "DoesNotCompile", "power of 2"),
    "missing argument": ("x.shape[1], block,", "block,", "TypeError", "BLOCK"),
    "on the processor": ('device="cuda")', 'device="cpu")', "ValueError", "at 1) cannot be accessed"),
    "too many warps": ("num_warps=4", "num_warps=64", "OutOfResources", "Hardware limit: 1024"),
    "too many blocks": ("[(x.shape[0],)]", "[(1, 70000)]", "RuntimeError", "invalid argument"),
    "no Python": ("def forward(self, x):", "def forward(self, x)", "SyntaxError", "expected ':'"),
    "no such module": ("import torch\n", "import torch, nothing_here\n", "ModuleNotFoundError", "nothing_here"),
    "bad assembly": (
        "e = tl.exp(x - tl.max(x, 0))",
        'e = tl.inline_asm_elementwise("nonsense $0, $1;", "=r,r", [x], tl.float32, is_pure=True, pack=1)',
        "PTXASError",
        "nonsense",
    ),
}


@pytest.mark.parametrize(("old", "new", "kind", "message"), BAD.values(), ids=list(BAD))
def test_a_kernel_that_does_not_compile_or_launch_fails_its_build(
    old: str, new: str, kind: str, message: str, tmp_path: Path
) -> None:
    assert old in SOFTMAX
    name, said = build(SOFTMAX.replace(old, new), H200, [ROWS], tmp_path)
    assert name.startswith(kind), said
    assert message in said


def test_each_address_compiles_what_it_specialises(tmp_path: Path) -> None:
    again = "softmax_kernel[(1,)](x.view(-1)[{}:], y, 1024, 1024, block)\n        return y"
    aligned, _ = build(SOFTMAX.replace("return y", again.format(4)), H200, [ROWS], tmp_path / "aligned")
    assert aligned.resources["kernels"] == 1
    odd, _ = build(SOFTMAX.replace("return y", again.format(3)), H200, [ROWS], tmp_path / "odd")
    assert odd.resources["kernels"] == 2


def test_the_place_is_in_the_file_though_the_mistake_shows_in_a_library(tmp_path: Path) -> None:
    _, said = build(SOFTMAX.replace("tl.sum(e, 0)", "tl.sum(e, 3)"), H200, [ROWS], tmp_path)
    assert said.startswith("invalid axis 3. Expected -1 <= axis < 1 (candidate.py, line 13)\n")
    assert "called from at 6:" in said


def test_what_a_pass_of_the_compiler_says_comes_first(tmp_path: Path) -> None:
    name, said = build(SOFTMAX.replace("num_warps=4", "num_ctas=2"), H200, [ROWS], tmp_path)
    assert name == "DoesNotCompile"
    assert said.startswith("<unknown>:0: error: parent layout must have at least rank >= 2\n")
    assert said.endswith("PassManager::run failed")
    assert len(said) < 3000


def test_a_kernel_that_ends_the_compiler_ends_its_process_alone(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assembly = 'tl.inline_asm_elementwise("mov.b32 $0, $1;", "nonsense", [x], tl.float32, is_pure=True, pack=1)'
    with pytest.raises(EOFError):
        build(SOFTMAX.replace("tl.exp(x - tl.max(x, 0))", assembly), H200, [ROWS], tmp_path)
    assert "inline asm without outputs must return void" in capfd.readouterr().err


def test_generated_code_that_does_not_compile_fails_its_build(tmp_path: Path) -> None:
    name, said = build(GENERATED.replace("tl.full(", "tl.fuller("), H200, [call(tensor(1024, 1024))], tmp_path)
    assert (name, "fuller" in said) == ("DoesNotCompile", True)


def test_too_much_shared_memory_fails_where_no_configuration_fits(tmp_path: Path) -> None:
    text = MATMUL.replace('@triton.autotune(configs=CONFIGS, key=["M", "N", "K"])\n', "")
    text = text.replace("M, N, K)\n    return", "M, N, K, 256, 128, 64, num_stages=9)\n    return")
    text = text.replace('meta["BM"]', "256").replace('meta["BN"]', "128")
    pair = call(tensor(512, 512, dtype="float16"), tensor(512, 512, dtype="float16"))
    name, said = build(text, H200, [pair], tmp_path)
    assert name == "OutOfResources"
    assert "shared memory" in said
    assert "Hardware limit: 232448" in said


@pytest.mark.parametrize(
    "change",
    ["if y.sum() > 0: y.zero_()", "y = y[: int(y[0, 0].item())]", "y.view(7, 11)", "torch.cuda.something_else()"],
)
def test_where_fake_tensors_end_the_build_goes_on_with_what_it_has(change: str, tmp_path: Path) -> None:
    text = SOFTMAX.replace("        return y", f"        {change}\n        return y")
    built, _ = build(text, H200, [ROWS], tmp_path)
    assert built.resources["dry_run"] == 0
    assert built.resources["kernels"] == 1


@pytest.mark.parametrize(
    "given",
    [
        'torch.tensor([0.5, 2.0], device="cuda")',
        "torch.tensor([x.shape[0], 3], dtype=torch.int32, device=x.device)",
        "torch.tensor(2.0, device=x.get_device())",
        'torch.as_tensor([1.0], device=torch.device("cuda", 0))',
        'torch.zeros(2, device="cuda")',
        "torch.zeros(2, device=torch.cuda.current_device())",
        "torch.arange(4, device=x.device)",
        "torch.Tensor([1.0]).cuda()",
        "torch.ones(2).to(0)",
        'torch.nn.Linear(2, 2).to(device="cuda").weight',
    ],
)
def test_a_tensor_may_be_made_where_the_device_would_be(given: str, tmp_path: Path) -> None:
    more = f"z = {given}\n        assert z.is_cuda\n        x = x + z.sum()\n        x = x.to("
    built, _ = build(SOFTMAX.replace("x = x.to(", more), H200, [ROWS], tmp_path)
    assert built.resources["dry_run"] == 1
    assert built.resources["kernels"] == 1


def test_the_machines_own_device_replaces_the_described_one(tmp_path: Path) -> None:
    text = SOFTMAX.replace("row = tl", "tl.static_assert(COUNT == 99)\n    row = tl").replace(
        "\n\n@triton.jit",
        "\nCOUNT = tl.constexpr(torch.cuda.get_device_properties(0).multi_processor_count)\n\n@triton.jit",
    )
    with triton_builds.environment(KERNWRIGHT_DEVICE='{"multi_processor_count": 99}'):
        built, _ = build(text, H200, [ROWS], tmp_path / "told")
    assert built.resources["dry_run"] == 1
    name, _ = build(text, H200, [ROWS], tmp_path / "untold")
    assert name == "DoesNotCompile"


def test_what_ended_the_dry_run_is_said_in_a_sentence(tmp_path: Path) -> None:
    text = SOFTMAX.replace("        return y", "        if y.sum() > 0: y.zero_()\n        return y")
    line = text[: text.index("if y.sum()")].count("\n") + 1
    (note,) = build(text, H200, [ROWS], tmp_path / "value")[0].notes
    assert note.startswith(f"the dry run ended at candidate.py, line {line}, which needs what a tensor holds; ")
    text = SOFTMAX.replace("        return y", "        return y.view(7, 11)")
    (note,) = build(text, H200, [ROWS], tmp_path / "error")[0].notes
    assert f"line {line}, with RuntimeError: shape '[7, 11]' is invalid for input of size 131072; " in note
    assert build(SOFTMAX, H200, [ROWS], tmp_path / "none")[0].notes == ()


def test_the_example_is_built_for_all_its_workloads(tmp_path: Path) -> None:
    path = Path(__file__).parents[2] / "examples" / "candidates" / "softmax_triton.py"
    candidate = Candidate(language="triton", files=(SourceFile(name=path.name, text=path.read_text()),))
    assert [knob.name for knob in knobs_of(candidate)] == ["BLOCK", "WARPS"]
    calls = [call(tensor(*shape)) for shape in ((128, 32768), (32, 131072), (211, 16411), (7, 1003))]
    built, _ = build(path.read_text(), H200, calls, tmp_path)
    assert built.resources["dry_run"] == 1
    assert built.resources["spill_bytes"] == 0


def test_times_that_were_never_measured_are_not_kept(tmp_path: Path) -> None:
    text = MATMUL.replace('"K"])', '"K"], cache_results=True)')
    build(text, H200, [call(tensor(64, 64), tensor(64, 64))], tmp_path)
    assert not list(tmp_path.rglob("*.autotune.json"))


@pytest.mark.parametrize(
    ("target", "ok"),
    [
        (H200, True),
        ("cuda:sm_80", True),
        ("rocm:gfx950", True),
        ("rocm:gfx1100", False),
        ("cpu:x", False),
        ("cuda:sm_70", False),
    ],
)
def test_targets(target: str, ok: bool) -> None:
    support = Triton().supports(target)
    assert support.ok is ok
    assert ok or target in support.reason
    assert Triton().emulates(target).ok is (ok and target.startswith("cuda:"))


def test_files_are_recognised_by_what_they_import() -> None:
    language = Triton()
    assert language.recognises({"a.py": SOFTMAX})
    assert language.recognises({"a.py": "x = 1", "b.py": "    from triton import jit"})
    assert language.recognises({"a.py": GENERATED})
    assert not language.recognises({"a.py": "import torch  # not triton\nimport tritonclient"})


def _warmed() -> Any:
    from triton.runtime.cache import triton_key

    before = dict(os.environ)
    triton_warm.warm(90)
    return triton_key.cache_info().currsize, dict(os.environ) == before


def test_what_is_warmed_is_kept_and_leaves_no_trace() -> None:
    assert triton_builds.forked(_warmed) == (1, True)


def _imported_by_a_launch() -> Any:
    from triton._C.libtriton import native_specialize_impl
    from triton.backends.nvidia.compiler import CUDABackend

    triton_warm.warm()
    before = set(sys.modules)
    native_specialize_impl(CUDABackend, torch.zeros(4), False, True, True)
    return {name for name in set(sys.modules) - before if name.startswith("triton")}


def test_a_launch_imports_nothing_that_was_not_warmed() -> None:
    assert triton_builds.forked(_imported_by_a_launch) == set()


STUB = "".join(
    f"int cu{name}() {{ return 100; }}\n"
    for name in (
        "CtxGetCurrent CtxGetLimit CtxSetCurrent CtxSetLimit DeviceGet DeviceGetAttribute DevicePrimaryCtxRetain "
        "DevicePrimaryCtxRetain_v2 FuncGetAttribute FuncSetAttribute FuncSetCacheConfig GetErrorString LaunchKernelEx "
        "ModuleGetFunction ModuleLoadData OccupancyMaxActiveClusters PointerGetAttribute TensorMapEncodeTiled"
    ).split()
)
"""A driver of a machine without a device: it can be linked with, and every call says that nothing is there."""


def _with_driver(folder: Path) -> Any:
    library = folder / "libcuda.so.1"
    (folder / "stub.c").write_text(STUB)
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", library, folder / "stub.c"], check=True
    )
    ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    os.environ["TRITON_LIBCUDA_PATH"] = str(folder)
    triton_warm.warm(90)
    (folder / "first").mkdir()
    build_here(SOFTMAX, H200, [ROWS], folder / "first")
    (folder / "first").rename(folder / "second")
    made = {path.name.partition(".")[0] for path in (folder / "second" / "artifacts").rglob("*.so")}
    os.environ["CC"] = "/no/compiler/any/more"
    _, hits = build_here(SOFTMAX, H200, [ROWS], folder / "second")
    return made, hits


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
def test_launchers_are_built_where_the_vendors_driver_is(tmp_path: Path) -> None:
    assert triton_builds.forked(_with_driver, tmp_path) == ({"__triton_launcher"}, [True])
