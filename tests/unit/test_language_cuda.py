"""CUDA C++ is compiled without a GPU, for each architecture, and only in the build stage."""

import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.engine.exporting import stand_alone
from kernwright.languages.cuda import Cuda, ptxas_resources
from kernwright.languages.cuda_loader import load
from kernwright.languages.cuda_parameters import as_parameters, declared_kinds

CANDIDATES = Path(__file__).parents[2] / "examples" / "candidates"
PLUS = (
    'extern "C" __global__ void plus(const float* x, float* y, int n) {\n  y[threadIdx.x] = x[threadIdx.x] + STEP;\n}\n'
)


INCLUDING = """\
extern "C" __global__ void k(float* x, int64_t n, uint8_t b) {
  x[n] = -INFINITY + FLT_MAX + NAN + INT_MAX;
}
"""


@pytest.fixture
def building(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The artefacts' folder of a build stage for an H100."""
    artifacts = tmp_path / "artifacts"
    artifacts.mkdir()
    monkeypatch.setenv("KERNWRIGHT_ARTIFACTS", str(artifacts))
    monkeypatch.setenv("KERNWRIGHT_BUILDING", "1")
    monkeypatch.setenv("KERNWRIGHT_TARGET", "cuda:sm_90a")
    monkeypatch.delenv("KERNWRIGHT_EMULATE", raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return artifacts


def candidate(folder: Path, *names: str) -> Candidate:
    files = tuple(SourceFile(name=name, text=(CANDIDATES / name).read_text()) for name in names)
    for file in files:
        (folder / file.name).write_text(file.text)
    return Candidate(language="cuda", files=files)


@pytest.mark.parametrize("target", ["cuda:sm_80", "cuda:sm_90a", "cuda:sm_100a"])
def test_examples_build_for_each_architecture(
    building: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    monkeypatch.setenv("KERNWRIGHT_TARGET", target)
    built = Cuda().build(candidate(tmp_path, "softmax_cuda.py", "softmax_cuda.cu"), target, tmp_path, ())
    (cubin,) = built.artifacts
    assert (building / cubin).read_bytes()[:4] == b"\x7fELF"
    assert f"for '{target.partition(':')[2]}'" in next(building.glob("*.ptxas")).read_text()
    assert 16 <= built.resources["registers"] <= 255
    assert built.resources["shared_bytes"] >= 64
    assert built.resources["spill_bytes"] == 0
    assert built.resources["kernels"] == 1
    assert built.resources["cubin_bytes"] == (building / cubin).stat().st_size


def test_spills_are_seen(building: Path) -> None:
    body = "  float a[64];\n  for (int i = 0; i < 64; ++i) a[i] = x[i * n];\n  __syncthreads();\n"
    body += "  float s = 0;\n  for (int i = 0; i < 64; ++i) s += a[i] * a[63 - i] * x[i];\n  y[0] = s;\n"
    load('extern "C" __global__ void k(const float* x, float* y, int n) {\n' + body + "}\n", flags=["-maxrregcount=24"])
    resources = ptxas_resources(next(building.glob("*.ptxas")).read_text())
    assert resources["spill_bytes"] > 0
    assert resources["registers"] <= 24


def test_what_kernels_include_is_there(building: Path) -> None:
    names = "cuda_runtime.h cuda_fp16.h cuda_bf16.h mma.h math.h stdint.h cstdint cfloat climits cuda/std/limits"
    load("".join(f"#include <{name}>\n" for name in names.split()) + INCLUDING)
    load("#include <cooperative_groups.h>\n" + PLUS, defines={"STEP": 1})
    assert len(list(building.glob("*.cubin"))) == 2


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc")
def test_host_code_goes_to_nvcc(building: Path) -> None:
    load("#include <vector>\n" + PLUS, defines={"STEP": 2})
    load(PLUS, defines={"STEP": 2}, flags=["--nvcc"])
    reports = [path.read_text() for path in building.glob("*.ptxas")]
    assert [ptxas_resources(report)["kernels"] for report in reports] == [1, 1]


def test_compile_errors_name_the_line(building: Path) -> None:
    with pytest.raises(RuntimeError, match=r'kernel\.cu\(2\): error: identifier "STEP" is undefined'):
        load(PLUS)
    with pytest.raises(RuntimeError, match="--nonsense"):
        load(PLUS, defines={"STEP": 2}, flags=["--nonsense"])
    assert not list(building.glob("*.cubin"))


def test_a_runner_finds_what_was_built_and_compiles_nothing(building: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load(PLUS, defines={"STEP": 2})
    monkeypatch.delenv("KERNWRIGHT_BUILDING")
    library = load(PLUS, defines={"STEP": 2})
    assert callable(library.plus)  # nothing is loaded before a launch, so this needs no GPU
    with pytest.raises(RuntimeError, match="did not run in the build stage"):
        load(PLUS, defines={"STEP": 3})


def test_a_file_without_kernels_is_no_candidate(building: Path, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("def kernel(x):\n    return x\n")
    files = (SourceFile(name="main.py", text=(tmp_path / "main.py").read_text()),)
    with pytest.raises(RuntimeError, match="calls no load"):
        Cuda().build(Candidate(language="cuda", files=files), "cuda:sm_90a", tmp_path, ())


def test_targets() -> None:
    assert Cuda().supports("cuda:sm_90a").ok
    assert "not on 'rocm:gfx942'" in Cuda().supports("rocm:gfx942").reason
    assert Cuda().emulates("cuda:sm_90a").ok
    assert not Cuda().emulates("rocm:gfx942").ok


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from kernwright.languages.cuda_loader import load", True),
        ("from torch.utils.cpp_extension import load_inline\nload_inline(name='k', cuda_sources=[s])", True),
        ("from torch.utils.cpp_extension import load_inline\nload_inline(name='k', cpp_sources=[s])", False),
        ("import torch", False),
    ],
)
def test_recognises(text: str, expected: bool) -> None:
    assert Cuda().recognises({"main.py": text}) is expected


DECLARED = """
// __global__ void k(int wrong)
template <int N> __global__ void other(int a);
extern "C" __global__ void __launch_bounds__(64, 2)
k(const float* __restrict__ x, /* rows, and columns */ int64_t n, const float eps, unsigned int m, float4 v, bool b) {}
"""


def test_kinds_are_read_from_the_declaration() -> None:
    assert declared_kinds(DECLARED, "k", 6) == "pifi?i"
    assert declared_kinds(DECLARED, "k", 5) == "?????"
    assert declared_kinds(DECLARED, "missing", 2) == "??"


def _given(value: Any, size: int, kind: str = "?") -> Any:
    (result,) = as_parameters("k", [value], [size], kind, "cpu")
    return result


def test_arguments_take_the_parameters_width() -> None:
    x = torch.zeros(3)
    assert _given(x, 8, "p") == x.data_ptr()
    assert _given(None, 8, "p") == 0
    for value, size, kind, expected in [
        (-5, 4, "?", ctypes.c_int32), (2**32 - 1, 4, "i", ctypes.c_int32), (2**40, 8, "i", ctypes.c_int64),
        (True, 1, "i", ctypes.c_int8), (1.5, 4, "?", ctypes.c_float), (1.5, 8, "f", ctypes.c_double),
        (2, 4, "f", ctypes.c_float),
    ]:  # fmt: skip
        assert type(_given(value, size, kind)) is expected
    assert _given(2, 4, "f").value == 2.0
    assert _given(np.int64(3), 8) == 3
    assert _given(ctypes.c_uint16(3), 2).value == 3


@pytest.mark.parametrize(
    ("value", "size", "kind"),
    [
        (2**32, 4, "i"), (-(2**31) - 1, 4, "?"), (1.5, 4, "i"), (1.5, 8, "p"), (1.5, 2, "?"), (np.int64(3), 4, "?"),
        (ctypes.c_double(1), 4, "f"), ("text", 8, "?"), (None, 4, "i"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(value: Any, size: int, kind: str) -> None:
    with pytest.raises(TypeError, match=r"^k: .* does not fit"):
        _given(value, size, kind)


def test_tensors_must_be_pointers_on_the_device() -> None:
    with pytest.raises(TypeError, match="a tensor on cpu does not fit a pointer"):
        as_parameters("k", [torch.zeros(1)], [8], "p", "cuda")
    with pytest.raises(TypeError, match="does not fit an integer of 8 bytes"):
        _given(torch.zeros(1), 8, "i")
    with pytest.raises(TypeError, match="takes 1 arguments after grid and block, not 2"):
        as_parameters("k", [1, 2], [4], "i", "cpu")


def test_an_export_compiles_without_kernwright(tmp_path: Path) -> None:
    names = ("softmax_cuda.py", "softmax_cuda.cu")
    path = tmp_path / "exported.py"
    path.write_text(stand_alone(candidate(tmp_path, *names)))
    (tmp_path / names[1]).unlink()
    use = "import sys, runpy; sys.modules['kernwright'] = None; print(runpy.run_path(sys.argv[1])['library']._cubin)"
    environment = {"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path), "KERNWRIGHT_TARGET": "cuda:sm_90a"}
    done = subprocess.run(
        [sys.executable, "-c", use, str(path)], capture_output=True, text=True, check=False, env=environment
    )
    assert Path(done.stdout.strip()).read_bytes()[:4] == b"\x7fELF", done.stderr


EXTENSION = """\
#define PY_SSIZE_T_CLEAN
#include <Python.h>
static PyObject* answer(PyObject*, PyObject*) { return PyLong_FromLong(42); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, ""}, {nullptr, nullptr, 0, nullptr}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "answering", "", -1, methods};
PyMODINIT_FUNC PyInit_answering() { return PyModule_Create(&module); }
"""
USE_EXTENSION = """\
import os, runpy, sys
from pathlib import Path
from kernwright.languages import cuda_extension
artifacts = Path(sys.argv[2])
if sys.argv[1] == "build":
    cuda_extension.keep_builds(artifacts, "cuda:sm_90a", artifacts.parent)
else:
    runpy.run_path(str(artifacts / "before.py"))
from torch.utils.cpp_extension import load
module = load("answering", [str(artifacts.parent / "answering.cpp")], verbose=sys.argv[1] == "build")
print(os.environ.get("TORCH_CUDA_ARCH_LIST"), module.answer())
"""


def test_pytorchs_extensions_are_built_once(tmp_path: Path) -> None:
    def use(stage: str, folder: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-W", "ignore", "-c", USE_EXTENSION, stage, str(folder / "artifacts")]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

    first, second = tmp_path / "1", tmp_path / "2"
    for folder in (first, second):
        (folder / "artifacts").mkdir(parents=True)
        (folder / "answering.cpp").write_text(EXTENSION)
    done = use("build", first, PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    assert "9.0a 42" in done.stdout, done.stderr
    for path in (first / "artifacts").rglob("*"):
        target = second / "artifacts" / path.relative_to(first / "artifacts")
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file():
            target.write_bytes(path.read_bytes())
    done = use("run", second, PATH="/nothing")  # no compiler and no ninja
    assert done.stdout == "None 42\n", done.stderr
    (second / "answering.cpp").write_text(EXTENSION.replace("42", "43"))
    assert re.search("load.. did not run in the build stage", use("run", second, PATH="/nothing").stderr)
