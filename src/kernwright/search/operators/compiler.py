"""Inductor's own code as candidates: what PyTorch's compiler makes of the problem, under several settings."""

import asyncio
import json
import os
import re
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from kernwright.core.brief import Brief, Draft, Exhausted, Intent, Proposed, Unusable
from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.errors import missing_extra, unknown_name
from kernwright.core.ports import OperatorContext
from kernwright.core.secrets import without_secrets
from kernwright.search.operators.inductor_settings import FAMILIES, Family, Setting

EMITTER = "kernwright.search.operators.inductor_emit"
FILE = "inductor.py"
LARGEST_LINE = 1 << 26
FLOATS = ("float16", "bfloat16", "float32", "float64")
Answer = tuple[str | None, str]
"""The text, or None and why there is none."""
_HINT = re.compile(r""",\s*eviction_policy\s*=\s*(['"])\w*\1""")
"""Inductor writes them into most of its loads; nothing turns that off."""


class Compiler:
    """Asks Inductor under one setting after the other, and is exhausted after the last.

    The first setting has a process of its own, all others share one: most of what a process costs is its start. The
    first setting that is refused ends the operator where it is the first of all: the others would be refused for the
    same reason.
    """

    name = "compiler"
    intents: frozenset[Intent] = frozenset({"start"})
    reads = False
    at_target = True

    def __init__(
        self, context: OperatorContext, *, only: str = "", deadline_s: float = 240.0, threads: int = 1
    ) -> None:
        """`only` names the settings to use, separated by commas; `threads` is what the code is generated for.

        Settings that a kind of target does not have are passed over. `deadline_s` is for each setting.

        Raises:
            UserError: PyTorch is not installed, or `only` names no setting.
        """
        if find_spec("torch") is None:
            raise missing_extra("The operator 'compiler'", "torch")
        table = {setting.name: setting for family in FAMILIES.values() for setting in family.settings}
        self._only = [name.strip() for name in only.split(",") if name.strip()]
        for name in self._only:
            if name not in table:
                raise unknown_name("compiler setting", name, table)
        self._context = context
        self._deadline_s = deadline_s
        self._threads = threads
        self._taken = {item for operator, item in context.used if operator == self.name}
        self._seen: dict[str, str] = {}
        self._answers: dict[str, Answer] = {}

    async def propose(self, brief: Brief) -> Draft:
        """The next setting's code."""
        family = FAMILIES.get(brief.target.partition(":")[0])
        settings = self._chosen(family) if family is not None else []
        left = [s for s in settings if s.name not in self._taken]
        if family is None or not left:
            return Exhausted(operator=self.name, intent=brief.intent)
        setting = left[0]
        self._taken.add(setting.name)
        try:
            text, reason = await self._answer(brief, family, left, first=setting is settings[0])
        except BaseException:
            self._taken.discard(setting.name)
            raise
        if text is None:
            if setting is settings[0]:
                self._taken.update(s.name for s in settings)
            return Unusable(operator=self.name, item=setting.name, reason=reason)
        candidate = Candidate(language=family.language, files=(SourceFile(name=FILE, text=text),))
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

    def _chosen(self, family: Family) -> list[Setting]:
        table = {setting.name: setting for setting in family.settings}
        return [table[name] for name in self._only if name in table] if self._only else list(table.values())

    async def _answer(self, brief: Brief, family: Family, left: Sequence[Setting], *, first: bool) -> Answer:
        """What Inductor says under the first of the settings left."""
        name = left[0].name
        if brief.problem.backward:
            return None, "the problem asks for gradients, which this code does not compute"
        if name not in self._answers:
            asked = left[:1] if first else left
            async with self._context.quiet():
                answers = await self._emit(brief, family, asked)
            self._answers.update(zip((s.name for s in asked), answers, strict=False))
        text, reason = self._answers.pop(name)
        if text is not None and not brief.problem.rules.l2_hints:
            text = _HINT.sub("", text)
        return text, reason

    async def _emit(self, brief: Brief, family: Family, settings: Sequence[Setting]) -> list[Answer]:
        """Answers to the settings in order; fewer, but one, where the process did not get to the last."""
        problem = brief.problem
        precision = problem.rules.precision
        order = {
            "source": problem.source,
            "entry": problem.entry,
            "target": brief.target,
            "tf32": precision == "tf32",
            "dtype": precision if precision in FLOATS else None,
            "workloads": [{"params": load.params, "held_out": load.held_out} for load in problem.workloads],
            "settings": [{"patches": dict(s.patches), "any_shape": s.any_shape} for s in settings],
            "threads": self._threads,
        }
        with tempfile.TemporaryDirectory(prefix="kernwright-inductor-") as folder:
            environment = {
                **without_secrets(os.environ),
                **family.environment,
                "TORCHINDUCTOR_CACHE_DIR": folder,
                "OMP_NUM_THREADS": str(self._threads),
            }
            return await self._ask(json.dumps(order), len(settings), environment, Path(folder) / "stderr")

    async def _ask(self, order: str, count: int, environment: Mapping[str, str], stderr: Path) -> list[Answer]:
        """Up to `count` answers of a process of its own, which is gone afterwards."""
        answers: list[Answer] = []
        with stderr.open("wb") as errors:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",
                "-m",
                EMITTER,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                env=environment,
                start_new_session=True,
                limit=LARGEST_LINE,
            )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(order.encode())
            process.stdin.close()
            while len(answers) < count:
                async with asyncio.timeout(self._deadline_s):
                    line = await process.stdout.readline()
                if not line:
                    break
                reply = json.loads(line)
                answers.append((reply.get("text"), str(reply.get("reason", ""))))
        except TimeoutError:
            return [*answers, (None, f"Inductor gave no code within {self._deadline_s:g} s")]
        except ValueError:
            pass  # the line was cut off, so the process ended within it
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        if len(answers) == count:
            return answers
        last = (stderr.read_text(errors="replace").strip().splitlines() or ["it said nothing"])[-1]
        return [*answers, (None, f"the process that asks Inductor ended with {process.returncode}: {last[:300]}")]
