"""The compiler operator for GPUs that are not here: its Triton files are right, compile, and name the chip."""

import ast
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_compiler_operator import Desk, propose

from kernwright.core.brief import Brief, Exhausted, Proposed, Unusable
from kernwright.core.candidate import entry_of
from kernwright.core.problem import Problem, Rules, Workload
from kernwright.problems.file import File
from kernwright.search.operators.compiler import Compiler
from kernwright.search.operators.inductor_file import Refused
from kernwright.search.operators.inductor_settings import FAMILIES
from kernwright.search.operators.inductor_triton import render

pytest.importorskip("triton")

HERE = Path(__file__).parent
PROBLEMS = sorted((HERE / "gpu_problems").glob("*.py"))
HUGE = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(1 << 17, 1 << 17))
    def forward(self, x):
        return torch.relu(x @ self.weight)
def get_inputs():
    return [torch.rand(1 << 17, 1 << 17)]
"""
SETTINGS = [setting.name for setting in FAMILIES["cuda"].settings]


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    command = [sys.executable, str(HERE / "interpreted_modules.py"), *(f"{p.stem}={p}" for p in PROBLEMS)]
    environment = {**os.environ, "TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("name", [*(p.stem for p in PROBLEMS), "softmax-any-shape"])
def test_file_computes_what_the_module_computes(found: dict[str, Any], name: str) -> None:
    assert found[name]["differences"] == []
    assert found[name]["kernels"]
    assert "class Model(" not in found[name]["text"]


def test_what_libraries_do_stays_a_call_and_nothing_global_is_set(found: dict[str, Any]) -> None:
    assert "torch.convolution(" in found["conv"]["text"]
    assert "laid_out_as(buf" in found["conv"]["text"]
    assert "torch.mm(" in found["linear_gelu"]["text"]
    for entry in found.values():
        assert "tf32" not in entry["text"]
        assert "torch.backends" not in entry["text"]


def test_each_shape_has_its_code_and_any_other_one_has_some(found: dict[str, Any]) -> None:
    """The held-out width is served by the last graph; where no width is held out there is no code for others."""
    assert found["softmax"]["text"].count("\ndef graph_") == 3
    assert found["softmax-any-shape"]["text"].count("\ndef graph_") == 2
    assert found["layernorm"]["text"].count("\ndef graph_") == 1


def test_kernels_compile_for_the_chip_without_it(found: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "candidate.py"
    file.write_text(found["conv"]["text"])
    environment = {
        **os.environ,
        "KERNWRIGHT_BUILDING": "1",
        "TRITON_CACHE_DIR": str(tmp_path / "cache"),
        "CUDA_VISIBLE_DEVICES": "",
    }
    environment.pop("TRITON_INTERPRET", None)
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    kernels = {path.stem for path in (tmp_path / "cache").rglob("*.cubin")}
    assert kernels == set(found["conv"]["kernels"])
    listing = next((tmp_path / "cache").rglob("*.ptx")).read_text()
    assert ".target sm_90a" in listing


def brief(path: Path | None = None, *, source: str = "", target: str = "cuda:sm_90a", precision: str = "") -> Brief:
    if path is not None:
        problem = File().load(str(path))
    else:
        rules = Rules(precision=precision or "strict_float32")
        problem = Problem(name="p", source=source, workloads=(Workload(name="default"),), rules=rules)
    return Brief(run="run", node=0, intent="start", problem=problem, target=target, parents=(), seed=0)


def texts(desk: Desk) -> list[str]:
    return [candidate.main.text for candidate in desk.kept.values()]


def test_every_setting_in_two_processes() -> None:
    desk = Desk()
    drafts = propose(Compiler(desk.context), *[brief(HERE / "gpu_problems" / "linear_gelu.py")] * (len(SETTINGS) + 1))
    assert [getattr(draft, "item", None) for draft in drafts] == [*SETTINGS, None]
    assert desk.quiet_times == 2
    assert isinstance(drafts[-1], Exhausted)
    assert all(
        d.reason.startswith(("the code is the same", "strict float32")) for d in drafts if isinstance(d, Unusable)
    )
    assert {d.item for d in drafts if isinstance(d, Proposed)} >= {"default", "choose-blocks", "loops", "any-shape"}
    for candidate in desk.kept.values():
        assert (candidate.language, entry_of(candidate)) == ("triton", "ModelNew")
        ast.parse(candidate.main.text)


def test_hints_to_the_cache_are_left_out_where_the_rules_forbid_them() -> None:
    found = list[str]()
    for rules in (Rules(), Rules(l2_hints=False)):
        desk, one = Desk(), brief(HERE / "gpu_problems" / "layernorm.py")
        propose(Compiler(desk.context, only="default"), replace(one, problem=replace(one.problem, rules=rules)))
        found += texts(desk)
    free, kept = found
    assert "eviction_policy=" in free
    assert "eviction_policy" not in kept
    assert kept.count("tl.load(") == free.count("tl.load(")
    ast.parse(kept)


def test_inputs_and_weights_of_any_size_cost_nothing() -> None:
    desk = Desk()
    (draft,) = propose(Compiler(desk.context, only="default"), brief(source=HUGE))
    assert isinstance(draft, Proposed), draft
    assert "(131072, 131072)" in texts(desk)[0]


@pytest.mark.parametrize(
    ("target", "properties"),
    [("cuda:sm_80", "multi_processor_count=108, cc=80"), ("cuda:sm_100a", "multi_processor_count=148, cc=100")],
)
def test_the_code_is_for_the_chip_that_the_target_names(target: str, properties: str) -> None:
    desk = Desk()
    propose(Compiler(desk.context, only="default"), brief(HERE / "gpu_problems" / "layernorm.py", target=target))
    assert properties in texts(desk)[0]


@pytest.mark.parametrize(
    ("precision", "wanted", "dtype"),
    [
        ("tf32", 'input_precision="tf32"', "torch.float32"),
        ("bfloat16", "tl.dot", "torch.bfloat16"),
    ],
)
def test_the_rule_decides_the_precision(precision: str, wanted: str, dtype: str) -> None:
    desk = Desk()
    source = HUGE.replace("1 << 17", "256")
    propose(Compiler(desk.context, only="matmul-as-kernel"), brief(source=source, precision=precision))
    (text,) = texts(desk)
    assert wanted in text
    assert f"x[0].dtype != {dtype}" in text


def test_strict_float32_has_no_products_on_tensor_cores() -> None:
    (draft,) = propose(Compiler(Desk().context, only="matmul-as-kernel"), brief(source=HUGE))
    assert isinstance(draft, Unusable)
    assert "strict float32 keeps off tensor cores" in draft.reason


def test_a_chip_that_is_not_known_is_said_once() -> None:
    drafts = propose(Compiler(Desk().context), *[brief(source=HUGE, target="cuda:sm_61")] * 2)
    assert isinstance(drafts[0], Unusable)
    assert "'sm_61' are not known; known are sm_80" in drafts[0].reason
    assert isinstance(drafts[1], Exhausted)


def test_settings_of_other_targets_are_passed_over() -> None:
    (draft,) = propose(Compiler(Desk().context, only="contract"), brief(source=HUGE))
    assert isinstance(draft, Exhausted)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("k = async_compile.cpp_pybinding([], '')\ndef call(args):\n    k()", "not in Triton"),
        ("k = async_compile.triton('k', 'def other(): pass')\ndef call(args):\n    k()", "does not define it"),
        ("k = async_compile.triton('k', 'x = 1\\ndef k(): pass')\ndef call(args):\n    k()", "form that is not known"),
    ],
)
def test_code_that_cannot_stand_alone_is_refused(code: str, reason: str) -> None:
    from test_compiler_operator import graph

    with pytest.raises(Refused, match=reason):
        render(graphs=[graph(code)], states={"[]": []}, constants=[], origin="test")
