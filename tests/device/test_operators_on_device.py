"""On the device: every file that the compiler operator writes computes what the module computes, and stays so."""

import asyncio
import contextlib
import importlib.util
import inspect
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch.utils._pytree import tree_leaves, tree_map_only

from kernwright.core.brief import Brief, Draft, Exhausted, Proposed, Unusable
from kernwright.core.candidate import Candidate
from kernwright.core.inbox import Told
from kernwright.core.outcome import Evaluation
from kernwright.core.ports import OperatorContext
from kernwright.problems.file import File
from kernwright.search.operators.compiler import Compiler

pytestmark = [
    pytest.mark.device,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU that PyTorch can use"),
]

ROOT = Path(__file__).parents[2]
PROBLEMS = [*sorted((ROOT / "tests" / "unit" / "gpu_problems").glob("*.py")), *sorted((ROOT / "examples").glob("*.py"))]
CHIPS = {(8, 0): "sm_80", (9, 0): "sm_90a", (10, 0): "sm_100a"}


@contextlib.asynccontextmanager
async def quiet() -> AsyncIterator[None]:
    yield


async def answers(node: int) -> Told:
    raise NotImplementedError


async def trial(node: int, candidate: Candidate) -> Evaluation | None:
    raise NotImplementedError


def drafts_for(path: Path, kept: dict[str, Candidate]) -> list[Draft]:
    """Everything that the operator has to say on a problem."""

    def put(candidate: Candidate) -> str:
        kept[candidate.id] = candidate
        return candidate.id

    context = OperatorContext(
        home=Path(),
        run="run",
        used=frozenset(),
        start=(),
        put=put,
        get=kept.__getitem__,
        trial=trial,
        quiet=quiet,
        answers=answers,
    )
    chip = CHIPS.get(torch.cuda.get_device_capability())
    if chip is None:
        pytest.skip(f"no code is written for {torch.cuda.get_device_name()}")
    brief = Brief(
        run="run",
        node=0,
        intent="start",
        problem=File().load(str(path)),
        target=f"cuda:{chip}",
        parents=(),
        seed=0,
    )

    async def ask() -> list[Draft]:
        operator, found = Compiler(context), list[Draft]()
        while not isinstance(draft := await operator.propose(brief), Exhausted):
            found.append(draft)
        return found

    return asyncio.run(ask())


def imported(text: str, file: Path) -> ModuleType:
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def given(function: Any, params: dict[str, Any]) -> Any:
    accepted = inspect.signature(function).parameters
    return function(**{name: value for name, value in params.items() if name in accepted})


def on_device(values: Any) -> Any:
    return tree_map_only(torch.Tensor, lambda x: x.cuda(), values)


@pytest.mark.parametrize("path", PROBLEMS, ids=lambda path: path.stem)
def test_every_setting_computes_what_the_module_computes(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    kept: dict[str, Candidate] = {}
    drafts = drafts_for(path, kept)
    usual = ("the code is the same", "strict float32")
    assert all(d.reason.startswith(usual) for d in drafts if isinstance(d, Unusable)), drafts
    proposed = [draft for draft in drafts if isinstance(draft, Proposed)]
    assert len(proposed) >= 2
    scope: dict[str, Any] = {}
    problem = File().load(str(path))
    exec(compile(problem.source, str(path), "exec"), scope)
    for draft in proposed:
        file = tmp_path / f"candidate_{draft.item.replace('-', '_')}.py"
        module = imported(kept[draft.candidate].main.text, file)
        for load in problem.workloads:
            compare(scope, module, load.params, f"{draft.item}, {load.name}")


def compare(scope: dict[str, Any], module: ModuleType, params: dict[str, Any], where: str) -> None:
    init = given(scope["get_init_inputs"], params) if "get_init_inputs" in scope else []
    torch.manual_seed(1)
    model = on_device_module(scope["Model"](*init).eval())
    with torch.device("cuda"):
        other = module.ModelNew(*init)
    other.load_state_dict(model.state_dict())
    with torch.no_grad():
        for _ in range(2):
            inputs = on_device(given(scope["get_inputs"], params))
            wanted, got = tree_leaves(model(*inputs)), tree_leaves(other(*inputs))
            for a, b in zip(wanted, got, strict=True):
                torch.testing.assert_close(b, a, rtol=1e-4, atol=1e-4, msg=lambda text: f"{where}: {text}")
                assert not isinstance(a, torch.Tensor) or a.stride() == b.stride(), where


def on_device_module(module: torch.nn.Module) -> torch.nn.Module:
    """The module with its plain tensors on the device too, which PyTorch leaves where they are."""
    for part in module.modules():
        for name, value in vars(part).items():
            if isinstance(value, torch.Tensor):
                setattr(part, name, value.cuda())
    return module.cuda()
