"""A coding agent's own command line, in a scratch folder with the brief as a file; what it leaves there counts."""

import asyncio
import contextlib
import os
import re
import shlex
import shutil
import signal
import tempfile
import time
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from kernwright.core.brief import Brief, Draft, Exhausted, Intent, Proposed, Unusable
from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.errors import UserError, missing_extra
from kernwright.core.expectation import MOST
from kernwright.core.model import AGENT, ModelOver, Prompt, Reply, Session
from kernwright.core.ports import OperatorContext
from kernwright.search.knobs import knob_names

from .agent_box import box_works, boxed, environment_of, without
from .rendering import agent_prompt_of, base_of
from .replies import LARGEST, NoCandidate, labels

NAME = "agent"
MAIN, BRIEF = "candidate.py", "BRIEF.md"
ORDER = f"Read {BRIEF} in this folder and do what it asks."
TAIL_BYTES = 20_000
STOP_S = 15.0
IN_VAIN = 3
"""Sessions in a row that end with an error and leave nothing, after which no more are begun."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a session ended."""

    output: str
    seconds: float
    error: str = ""


class Agent:
    """One session for each brief."""

    name = NAME
    intents: frozenset[Intent] = frozenset({"start", "improve", "repair", "combine", "simplify", "port"})

    def __init__(
        self,
        context: OperatorContext,
        *,
        command: str,
        timeout_s: float = 1200.0,
        label: str = "",
        env: str = "",
        starts: int = 0,
        writable: str = "",
        box: bool | str = "auto",
        sessions: int = 0,
        usd: float = 0.0,
    ) -> None:
        """`command` may hold `{brief}`, a sentence that names the brief's file, and `{file}`, that file's path.

        `env` and `writable` name variables, and folders that a box leaves writable, with `+` between; `label` is who
        writes, for the record; `sessions` is how many there are and `starts` how many fresh
        beginnings, 0 for as many as are asked for; `usd` is what one is
        taken to cost. `box`: bubblewrap must be there (True), is not used (False), or is used where it works.

        Raises:
            UserError: the command, a variable or a folder is not there, or Jinja2 is not installed.
        """
        if find_spec("jinja2") is None:
            raise missing_extra(f"The operator {NAME!r}", "models")
        self._words = _words(command)
        if timeout_s <= 0 or sessions < 0 or usd < 0:
            raise UserError(f"An agent's timeout_s is {timeout_s}, its sessions {sessions}, usd {usd}; give 0 or more.")
        self._context = context
        self._names = tuple(filter(None, re.split(r"[+ ]", env)))
        environment_of(self._names, Path())
        self._writable = tuple(Path(each).expanduser() for each in writable.split("+") if each)
        for path in self._writable:
            if not path.exists():
                raise UserError(f"There is no {path} for the agent to write; make it, or leave it out.")
        self._timeout_s, self._usd, self._sessions, self._starts = timeout_s, usd, sessions, starts
        self._label = AGENT + (label or Path(self._words[0]).name)
        self._items = {item for operator, item in context.used if operator == NAME}
        self._in_vain = 0
        if box not in (True, False, "auto"):
            raise UserError(f"An agent's box is {box!r}; give yes, no or auto.")
        self._box = bool(box) and box_works()
        if box is True and not self._box:
            raise UserError("The agent is to be boxed, but bubblewrap (bwrap) does not work here; install it.")

    async def propose(self, brief: Brief) -> Draft:
        """Proposed, or Unusable with the reason; Exhausted at the limit, or where sessions keep failing."""
        item = f"{brief.intent}:{brief.node}"
        if self._sessions and item not in self._items and len(self._items) >= self._sessions:
            return Exhausted(operator=NAME, intent=brief.intent, reason=f"the agent had its {self._sessions} sessions")
        begun = [each for each in self._items if each.startswith("start:")]
        if self._starts and brief.intent == "start" and item not in begun and len(begun) >= self._starts:
            return Exhausted(operator=NAME, intent=brief.intent)
        if self._in_vain >= IN_VAIN:
            reason = f"{self._label} failed {IN_VAIN} times in a row; `kernwright show` says how"
            return Exhausted(operator=NAME, intent=brief.intent, reason=reason)
        self._items.add(item)
        prompt = agent_prompt_of(brief)
        base = base_of(brief)
        with tempfile.TemporaryDirectory(prefix="kernwright-agent-", ignore_cleanup_errors=True) as name:
            folder = Path(name).resolve()
            _laid_out(folder, prompt.system + "\n" + prompt.user, base.candidate if base else None)
            try:
                ended = await self._recorded(folder, brief, prompt)
            except ModelOver as over:
                self._items.discard(item)
                return Exhausted(operator=NAME, intent=brief.intent, reason=str(over))
            try:
                files = self._left(folder, base.candidate if base else None)
            except NoCandidate as reason:
                self._in_vain = self._in_vain + 1 if ended.error else 0
                why = f"{ended.error}; {reason}" if ended.error else str(reason)
                return Unusable(operator=NAME, reason=why, item=item)
        self._in_vain = 0
        return self._proposed(files, brief, ended.output, item)

    async def _recorded(self, folder: Path, brief: Brief, prompt: Prompt) -> Ended:
        """A session; what it is taken to cost is journalled whatever becomes of it."""
        async with self._context.room(self._usd):
            began = time.monotonic()
            ended: Ended | None = None
            try:
                ended = await self._session(folder, brief)
            finally:
                seen = ended or Ended("", time.monotonic() - began, "stopped before the agent ended")
                self._context.record(
                    brief,
                    prompt,
                    Session(
                        model=self._label,
                        reply=Reply(text=seen.output, tokens_in=0, tokens_out=0),
                        seconds=seen.seconds,
                        usd=self._usd,
                        error=seen.error,
                    ),
                )
        return ended

    async def _session(self, folder: Path, brief: Brief) -> Ended:
        environment = environment_of(self._names, folder)
        words = [word.replace("{brief}", ORDER).replace("{file}", str(folder / BRIEF)) for word in self._words]
        if self._box:
            words = list(boxed(words, folder, _hidden(self._context, brief), self._writable))
        process = await asyncio.create_subprocess_exec(
            *self._context.guarded(words),
            stdin=PIPE,
            stdout=PIPE,
            stderr=STDOUT,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
        tail = bytearray()
        began, error = time.monotonic(), ""
        try:
            async with asyncio.timeout(self._timeout_s):
                await _followed(process, tail)
                if status := await process.wait():
                    error = f"the agent ended with status {status}"
        except TimeoutError:
            error = f"the agent did not end within {self._timeout_s:g} s"
        finally:
            await asyncio.shield(_stopped(process, tail))
        cut = len(tail) == TAIL_BYTES
        output = without(tail.decode(errors="replace"), self._names, environment, cut=cut)
        return Ended(output, time.monotonic() - began, error)

    def _left(self, folder: Path, base: Candidate | None) -> tuple[SourceFile, ...]:
        """The candidate, and those files beside it that it names; raises NoCandidate."""
        environment = environment_of(self._names, folder)
        main = SourceFile(name=MAIN, text=without(_text(folder / MAIN), self._names, environment))
        names = sorted(path.name for path in folder.iterdir() if path.name not in (MAIN, BRIEF))
        beside = [name for name in names if f'"{name}"' in main.text or f"'{name}'" in main.text]
        files = (main, *(SourceFile(name=n, text=without(_text(folder / n), self._names, environment)) for n in beside))
        if sum(len(file.text) for file in files) > LARGEST:
            raise NoCandidate(f"what the agent left is longer than {LARGEST >> 20} MiB")
        if base is not None and {f.text for f in files} == {f.text for f in base.files}:
            raise NoCandidate(f"the agent left {MAIN} as it was")
        return files

    def _proposed(self, files: tuple[SourceFile, ...], brief: Brief, output: str, item: str) -> Draft:
        recognise = self._context.recognise
        language = recognise({file.name: file.text for file in files}) if recognise else brief.languages[0]
        candidate = Candidate(language=language, files=files)
        said = labels(output)
        return Proposed(
            candidate=self._context.put(candidate),
            operator=NAME,
            item=item,
            summary=next(iter(said["NAME"]), ""),
            approach=next(iter(said["APPROACH"]), ""),
            insights=tuple(said["INSIGHT"][:3]),
            expects=tuple(said["EXPECT"][:MOST]),
            author=self._label.removeprefix(AGENT),
            knobs=knob_names(candidate),
        )


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UserError(f"The agent's command {command!r} cannot be read: {error}; mind its quotes.") from None
    if not words or shutil.which(words[0]) is None:
        raise UserError(
            f"There is no command {words[0] if words else ''!r} to run an agent by; install it, or give its path."
        )
    return words


def _laid_out(folder: Path, text: str, base: Candidate | None) -> None:
    (folder / BRIEF).write_text(text, encoding="utf-8")
    for i, file in enumerate(base.files if base else ()):
        (folder / (MAIN if i == 0 else file.name)).write_text(file.text, encoding="utf-8")


def _hidden(context: OperatorContext, brief: Brief) -> Sequence[Path]:
    """The journal and the problem's file say what is held out."""
    return [context.home, Path(brief.problem.origin or os.devnull)]


async def _followed(process: Process, tail: bytearray) -> None:
    assert process.stdout is not None
    while data := await process.stdout.read(1 << 16):
        tail += data
        del tail[:-TAIL_BYTES]


async def _stopped(process: Process, tail: bytearray) -> None:
    """End it with everything that it started. What it still says is read: a full pipe would keep it from ending."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(STOP_S):
            await asyncio.gather(_followed(process, tail), process.wait())
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await asyncio.gather(_followed(process, tail), process.wait())


def _text(path: Path) -> str:
    if path.is_symlink() or not path.is_file():
        raise NoCandidate(f"the agent left no file {path.name} in its folder")
    if path.stat().st_size > LARGEST:
        raise NoCandidate(f"{path.name}, which the agent left, is longer than {LARGEST >> 20} MiB")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise NoCandidate(f"{path.name}, which the agent left, is not UTF-8 text") from None
