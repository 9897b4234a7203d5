"""The compiler operator: its files are right at every workload, and what cannot be compiled is a reason."""

import asyncio
import contextlib
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kernwright.core.brief import Brief, Draft, Exhausted, Proposed, Unusable
from kernwright.core.candidate import Candidate, entry_of
from kernwright.core.errors import UserError
from kernwright.core.inbox import Told
from kernwright.core.outcome import Evaluation
from kernwright.core.ports import OperatorContext
from kernwright.core.problem import Problem, Rules, Workload
from kernwright.core.resolve import resolve
from kernwright.search.operators import TABLE
from kernwright.search.operators.compiler import Compiler
from kernwright.search.operators.inductor_cpp import render
from kernwright.search.operators.inductor_file import Graph, Refused, TensorInput
from kernwright.search.operators.inductor_settings import FAMILIES

HERE = Path(__file__).parent
EXAMPLES = sorted((HERE.parents[1] / "examples").glob("*.py"))
NAMES = [*(path.stem for path in EXAMPLES), "odd_module"]
TINY = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return BODY
def get_inputs():
    return [torch.ones(8)]
"""


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    arguments = [f"{path.stem}={path}" for path in (*EXAMPLES, HERE / "odd_module.py")]
    command = [sys.executable, str(HERE / "compiled_modules.py"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("name", NAMES)
def test_file_computes_what_the_module_computes(found: dict[str, Any], name: str) -> None:
    assert found[name]["differences"] == []
    assert not found[name]["holds_reference"]


class Desk:
    """An operator's context that counts how often it asked for quiet."""

    def __init__(self, *used: str) -> None:
        self.kept: dict[str, Candidate] = {}
        self.quiet_times = 0
        self.context = OperatorContext(
            home=Path(),
            run="run",
            used=frozenset(("compiler", item) for item in used),
            start=(),
            put=self._put,
            get=self.kept.__getitem__,
            trial=self._trial,
            quiet=self._quiet,
            answers=self._answers,
        )

    def _put(self, candidate: Candidate) -> str:
        self.kept[candidate.id] = candidate
        return candidate.id

    async def _trial(self, node: int, candidate: Candidate) -> Evaluation | None:
        raise NotImplementedError

    async def _answers(self, node: int) -> Told:
        raise NotImplementedError

    @contextlib.asynccontextmanager
    async def _quiet(self) -> AsyncIterator[None]:
        self.quiet_times += 1
        yield


def brief(body: str = "torch.exp(x) + 1", *, target: str = "cpu:any", backward: bool = False) -> Brief:
    problem = Problem(
        name="tiny",
        source=TINY.replace("BODY", body),
        workloads=(Workload(name="default"),),
        backward=backward,
    )
    return Brief(run="run", node=0, intent="start", problem=problem, target=target, parents=(), seed=0)


def propose(operator: Compiler, *briefs: Brief) -> list[Draft]:
    async def ask() -> list[Draft]:
        return [await operator.propose(one) for one in briefs]

    return asyncio.run(ask())


def test_table_names_the_operator() -> None:
    assert resolve(TABLE["compiler"]) is Compiler


def test_a_problem_that_inductor_runs_finds_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it raises is a reason in the journal."""
    monkeypatch.setenv("SOME_API_KEY", "planted-0123456789")
    plain = brief()
    raising = "import os\nraise ValueError(f'{os.environ.get(\"SOME_API_KEY\")} among {len(os.environ)} variables')\n"
    problem = replace(plain.problem, source=raising + plain.problem.source)
    (draft,) = propose(Compiler(Desk().context), replace(plain, problem=problem))
    assert isinstance(draft, Unusable)
    assert "variables" in draft.reason
    assert "planted" not in draft.reason


def test_each_setting_once_then_exhausted() -> None:
    desk = Desk(
        *(
            setting.name
            for setting in FAMILIES["cpu"].settings
            if setting.name not in ("default", "contract", "recompute")
        )
    )
    drafts = propose(Compiler(desk.context), *[brief()] * 4)
    assert [getattr(draft, "item", None) for draft in drafts] == ["default", "recompute", "contract", None]
    first, second, third, last = drafts
    assert isinstance(first, Proposed)
    assert isinstance(second, Unusable)
    assert "same as under 'default'" in second.reason
    assert isinstance(third, Proposed)
    assert third.candidate != first.candidate
    assert last == Exhausted(operator="compiler", intent="start")
    assert desk.quiet_times == 2, "all settings but the first share a process"
    candidate = desk.kept[first.candidate]
    assert (candidate.language, entry_of(candidate)) == ("torch", "ModelNew")
    assert "exp()" in candidate.main.text


def test_code_is_for_the_type_that_the_rules_name() -> None:
    desk, plain = Desk(), brief()
    narrow = replace(plain, problem=replace(plain.problem, rules=Rules(precision="bfloat16")))
    [draft] = propose(Compiler(desk.context), narrow)
    assert isinstance(draft, Proposed), draft
    assert "torch.bfloat16" in desk.kept[draft.candidate].main.text
    assert "torch.float32" not in desk.kept[draft.candidate].main.text


def test_what_cannot_be_a_graph_is_said_once() -> None:
    desk = Desk()
    drafts = propose(Compiler(desk.context), *[brief("x * 2 if float(x.sum()) > 0 else x")] * 2)
    assert isinstance(drafts[0], Unusable)
    assert "cannot be captured as a graph" in drafts[0].reason
    assert isinstance(drafts[1], Exhausted)
    assert not desk.kept


def test_a_problem_that_kills_the_process_is_a_reason() -> None:
    (draft,) = propose(Compiler(Desk().context, only="default"), brief("__import__('os')._exit(9)"))
    assert isinstance(draft, Unusable)
    assert "ended with 9" in draft.reason


def test_deadline_and_cancelling_leave_no_process(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    body = f"open({str(note)!r}, 'w').write(str(__import__('os').getpid())) and __import__('time').sleep(600)"

    async def cancelled() -> None:
        task = asyncio.create_task(Compiler(Desk().context).propose(brief(body)))
        while not (note.exists() and note.read_text()):
            await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert not Path(f"/proc/{note.read_text()}").exists()
    started = time.monotonic()
    (draft,) = propose(Compiler(Desk().context, deadline_s=0.2), brief(body))
    assert isinstance(draft, Unusable)
    assert "no code within 0.2 s" in draft.reason
    assert time.monotonic() - started < 30


def test_other_targets_and_gradients() -> None:
    assert isinstance(propose(Compiler(Desk().context), brief(target="other:x"))[0], Exhausted)
    (draft,) = propose(Compiler(Desk().context), brief(backward=True))
    assert isinstance(draft, Unusable)
    assert "gradients" in draft.reason


def test_only_names_settings() -> None:
    with pytest.raises(UserError, match="Did you mean 'default'"):
        Compiler(Desk().context, only="defaults")


def graph(code: str, sizes: tuple[str, ...] = ("4",)) -> Graph:
    wanted = TensorInput(dtype="torch.float32", sizes=sizes, strides=("1",) * len(sizes))
    return Graph(key="[]", code=code, operands=(0,), inputs=(wanted,), guards=(), result="r[0]")


@pytest.mark.parametrize(
    ("code", "sizes", "reason"),
    [
        ("x = 1", ("4",), "no call"),
        ("k = async_compile.triton('k', '')\ndef call(args):\n    k()", ("4",), "not C\\+\\+ for the processor"),
        ("t = None\ndef call(args):\n    return (t, )", ("4",), "needs the tensor t"),
        ("k = async_compile.cpp_pybinding(['half'], '')\ndef call(args):\n    k()", ("4",), "no counterpart"),
        ("k = async_compile.cpp_pybinding([], 'f')\ndef call(args):\n    k()", ("4",), "form that is not known"),
        ("def call(args):\n    return args", ("2*s0",), "depend on s0"),
    ],
)
def test_code_that_cannot_stand_alone_is_refused(code: str, sizes: tuple[str, ...], reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        render(graphs=[graph(code, sizes)], states={"[]": []}, constants=[], patches={}, lanes=0, origin="test")
