"""How often a judgement waits for its device, by stage and by the place in the judge; needs no GPU.

Beside others a device works for each in turn, and each wait is for a turn. Counted are messages to runners, and in the
judge whatever brings a number from a device to its host, on a processor that stands for a device.
"""

import argparse
import json
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from environment import environment
from rich.console import Console
from rich.table import Table
from torch.utils._python_dispatch import TorchDispatchMode

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.jobs import EvalJob
from kernwright.core.plan import QUICK
from kernwright.core.problem import Problem, Workload
from kernwright.evaluation.judge import Judge
from kernwright.evaluation.participants.participant import Participant
from kernwright.evaluation.stages import Stages
from kernwright.testing.gated import Gated, GatedSession

WAITS = ("_local_scalar_dense", "aten.equal", "aten.nonzero", "masked_select", "unique", "is_nonzero", "bincount")
PROBLEM = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, -1)


def get_inputs():
    return [torch.randn(64, 256)]
"""
CANDIDATE = """\
import torch


def kernel(x):
    e = torch.exp(x - x.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)  # {number}
"""
WARM = 3
"""Judgements before the one that is looked at."""


class _Listener(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.stages: list[str] = [""]
        self.found = Counter[tuple[str, str, str]]()

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(function)
        if any(part in name for part in WAITS) or _takes_a_mask(name, args):
            self.note(name)
        return function(*args, **(kwargs or {}))

    def note(self, what: str) -> None:
        frames = [f for f in traceback.extract_stack() if "kernwright/evaluation" in f.filename]
        place = " > ".join(f"{Path(f.filename).stem}.{f.name}:{f.lineno}" for f in frames[-4:])
        self.found[self.stages[-1], what, place] += 1


def _takes_a_mask(name: str, args: Any) -> bool:
    if "aten.index.Tensor" not in name and "aten.index_put" not in name:
        return False
    return any(isinstance(each, torch.Tensor) and each.dtype == torch.bool for each in args[1])


def _listen(listener: _Listener) -> None:
    entered, ask, settle, tolist = Stages.__call__, Participant.ask, GatedSession.settle, torch.Tensor.tolist

    @contextmanager
    def stage(self: Stages, name: str) -> Iterator[None]:
        listener.stages.append(name)
        try:
            with entered(self, name):
                yield
        finally:
            listener.stages.pop()

    def noted(what: Any, before: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            listener.note(what(args))
            return before(*args, **kwargs)

        return call

    Stages.__call__ = stage  # type: ignore[method-assign]
    Participant.ask = noted(lambda args: f"message: {args[2]['op']}", ask)  # type: ignore[method-assign]
    GatedSession.settle = noted(lambda args: "settle", settle)  # type: ignore[method-assign]
    torch.Tensor.tolist = noted(lambda args: "tolist", tolist)  # type: ignore[method-assign]


def main() -> None:
    arguments = _arguments()
    source = arguments.problem.read_text() if arguments.problem else PROBLEM
    text = arguments.candidate.read_text() if arguments.candidate else CANDIDATE
    listener = _Listener()
    with tempfile.TemporaryDirectory() as home:
        judge = Judge(home)
        for number in range(WARM):
            judge.evaluate(_job(home, source, f"{text}# {number}\n"))
        _listen(listener)
        with listener:
            seen = judge.evaluate(_job(home, source, f"{text}# {WARM}\n"))
        judge.close()
    stages, kinds = Counter[str](), Counter[str]()
    for (stage, what, _), count in listener.found.items():
        stages[stage] += count
        kinds[f"{stage}: {what}"] += count
    if arguments.json:
        print(
            json.dumps({"stages": stages, "kinds": kinds, "outcome": seen.outcome.kind, "environment": environment()})
        )
        return
    table = Table("times", "stage", "what", "where", title=f"{seen.outcome.kind}; {dict(stages)}")
    rows = [row for row in listener.found.most_common() if not arguments.stage or row[0][0] == arguments.stage]
    for (stage, what, place), count in rows[: arguments.rows]:
        table.add_row(str(count), stage, what, place)
    console = Console(width=200)
    console.print(dict(kinds.most_common()))
    console.print(table)


def _job(home: str, source: str, text: str) -> EvalJob:
    return EvalJob(
        problem=Problem(name="waits", source=source, workloads=(Workload(name="default"),)),
        candidate=Candidate(language="torch", files=(SourceFile(name="main.py", text=text),)),
        target=Gated().targets()[0],
        plan=replace(QUICK, baselines=("eager",)),
        language="kernwright.languages.torch:Torch",
        platform="kernwright.testing.gated:Gated",
        home=home,
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problem", type=Path, help="a problem with one workload (default: a softmax)")
    parser.add_argument("--candidate", type=Path, help="a kernel in PyTorch for it")
    parser.add_argument("--stage", default="", help="show places of this stage alone")
    parser.add_argument("--rows", type=int, default=40)
    parser.add_argument("--json", action="store_true", help="one object with counts by stage and kind")
    return parser.parse_args()


if __name__ == "__main__":
    main()
