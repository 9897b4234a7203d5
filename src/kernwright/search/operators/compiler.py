"""Inductor's own code as candidates: what PyTorch's compiler makes of the problem, under several settings."""

import asyncio
import json
import os
import signal
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec

from kernwright.core.brief import Brief, Draft, Exhausted, Intent, Proposed, Unusable
from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.errors import missing_extra, unknown_name
from kernwright.core.ports import OperatorContext
from kernwright.core.problem import Problem, Scalar

EMITTER = "kernwright.search.operators.inductor_emit"
FILE = "inductor.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One way to ask Inductor."""

    name: str
    summary: str
    patches: Mapping[str, Scalar]
    """Names and values in `torch._inductor.config`."""
    any_shape: bool = False
    """Code for symbolic sizes only, instead of code for each workload's sizes first."""


SETTINGS = (
    Setting(name="default", summary="as torch.compile would run it, static shapes", patches={}),
    Setting(
        name="recompute",
        summary="values are computed again rather than stored in between, where that lets loops merge",
        patches={"realize_reads_threshold": 64, "realize_opcount_threshold": 200, "realize_acc_reads_threshold": 64},
    ),
    Setting(
        name="contract",
        summary="multiplications and additions may fuse",
        patches={"cpp.enable_floating_point_contract_flag": "fast"},
    ),
    Setting(name="two-pass", summary="softmax in two passes instead of one online", patches={"online_softmax": False}),
    Setting(
        name="reassociate",
        summary="the C++ compiler may reorder and fuse arithmetic",
        patches={"cpp.enable_floating_point_contract_flag": "fast", "cpp.enable_unsafe_math_opt_flag": True},
    ),
    Setting(name="any-shape", summary="one piece of code for all shapes", patches={}, any_shape=True),
    Setting(name="short-vectors", summary="vectors of 256 bits", patches={"cpp.simdlen": 256}),
)


class Compiler:
    """Asks Inductor once per setting, each time in a process of its own, and is exhausted after the last.

    The first setting that is refused ends the operator where it is the first of all: the others would be refused for
    the same reason.
    """

    name = "compiler"
    intents: frozenset[Intent] = frozenset({"start"})
    at_target = True

    def __init__(
        self, context: OperatorContext, *, only: str = "", deadline_s: float = 240.0, threads: int = 1
    ) -> None:
        """`only` names the settings to use, separated by commas; `threads` is what the code is generated for.

        Raises:
            UserError: PyTorch is not installed, or `only` names no setting.
        """
        if find_spec("torch") is None:
            raise missing_extra("The operator 'compiler'", "torch")
        table = {setting.name: setting for setting in SETTINGS}
        names = [name.strip() for name in only.split(",") if name.strip()] or list(table)
        for name in names:
            if name not in table:
                raise unknown_name("compiler setting", name, table)
        self._context = context
        self._settings = [table[name] for name in names]
        self._deadline_s = deadline_s
        self._threads = threads
        self._taken = {item for operator, item in context.used if operator == self.name}
        self._seen: dict[str, str] = {}

    async def propose(self, brief: Brief) -> Draft:
        """The next setting's code."""
        setting = next((s for s in self._settings if s.name not in self._taken), None)
        if setting is None or not brief.target.startswith("cpu:"):
            return Exhausted(operator=self.name, intent=brief.intent)
        self._taken.add(setting.name)
        try:
            if brief.problem.backward:
                text, reason = None, "the problem asks for gradients, which this code does not compute"
            else:
                async with self._context.quiet():
                    text, reason = await self._emit(brief.problem, setting)
        except BaseException:
            self._taken.discard(setting.name)
            raise
        if text is None:
            if setting is self._settings[0]:
                self._taken.update(s.name for s in self._settings)
            return Unusable(operator=self.name, item=setting.name, reason=reason)
        candidate = Candidate(language="torch", files=(SourceFile(name=FILE, text=text),))
        same = self._seen.setdefault(candidate.id, setting.name)
        if same != setting.name:
            reason = f"the code is the same as under {same!r}"
            return Unusable(operator=self.name, item=setting.name, reason=reason)
        return Proposed(
            candidate=self._context.put(candidate),
            operator=self.name,
            item=setting.name,
            summary=f"Inductor, {setting.name}: {setting.summary}",
            author="Inductor",
        )

    async def _emit(self, problem: Problem, setting: Setting) -> tuple[str | None, str]:
        """The text, or None and why there is none."""
        order = {
            "source": problem.source,
            "entry": problem.entry,
            "workloads": [{"params": load.params, "held_out": load.held_out} for load in problem.workloads],
            "patches": dict(setting.patches),
            "any_shape": setting.any_shape,
            "threads": self._threads,
        }
        with tempfile.TemporaryDirectory(prefix="kernwright-inductor-") as cache:
            environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": cache, "OMP_NUM_THREADS": str(self._threads)}
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                EMITTER,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=environment,
                start_new_session=True,
            )
            try:
                async with asyncio.timeout(self._deadline_s):
                    out, err = await process.communicate(json.dumps(order).encode())
            except TimeoutError:
                return None, f"Inductor gave no code within {self._deadline_s:g} s"
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        try:
            reply = json.loads(out)
        except ValueError:
            last = (err.decode(errors="replace").strip().splitlines() or ["it said nothing"])[-1]
            return None, f"the process that asks Inductor ended with {process.returncode}: {last[:300]}"
        return reply.get("text"), str(reply.get("reason", ""))
