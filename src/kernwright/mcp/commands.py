"""Commands as processes of their own: the server's loop stays free, its output clean, and each can be stopped."""

import asyncio
import contextlib
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

Say = Callable[[str], Awaitable[None]]
STOP_S = 30.0
"""For a command to end in order."""
LONGEST_LINE = 1 << 20
TAIL_LINES = 20


class Failed(Exception):
    """The command said why, in a sentence."""


@dataclass(slots=True)
class Command:
    """A command that was started. It ends in order, as by Ctrl-C, when this process ends in whatever way."""

    process: Process
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=TAIL_LINES))
    """The last of what it said on stderr: its progress."""
    count: int = 0
    _out: bytes = b""
    _reading: "asyncio.Task[None] | None" = None
    _heard: asyncio.Event = field(default_factory=asyncio.Event)

    @classmethod
    async def started(cls, arguments: Sequence[str]) -> "Command":
        """Begins to read what it says. Raises Failed where no process can be given these arguments."""
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "kernwright.cli.attached", *arguments),
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                limit=LONGEST_LINE,
                start_new_session=True,  # a client that ends this server's group must not cut it off
            )
        except (OSError, ValueError) as error:
            raise Failed(f"These arguments cannot be handed to a command: {error.args[-1]}.") from None
        command = cls(process)
        command._reading = asyncio.get_running_loop().create_task(command._read())
        return command

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self._reading is not None and not self._reading.done()

    async def heard(self) -> None:
        """Waits for the next line, or the end."""
        if self.running:
            self._heard.clear()
            await self._heard.wait()

    async def result(self) -> dict[str, Any]:
        """Its JSON, once it has ended; raises Failed with its sentence."""
        assert self._reading is not None
        await asyncio.shield(self._reading)
        try:
            plain = json.loads(self._out)
        except ValueError:
            last = " ".join(self.lines) or "nothing"
            raise Failed(f"The command ended with status {self.process.returncode}; it last said: {last}") from None
        if not isinstance(plain, dict):
            raise Failed(f"The command said {plain!r}, which is no object.")
        if set(plain) == {"error"}:
            raise Failed(str(plain["error"]))
        return plain

    async def stop(self) -> None:
        """As by Ctrl-C; waits until it has ended."""
        assert self.process.stdin is not None
        assert self._reading is not None
        self.process.stdin.close()
        try:
            async with asyncio.timeout(STOP_S):
                await asyncio.shield(self._reading)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()
            await self._reading

    async def _read(self) -> None:
        assert self.process.stdout is not None
        self._out, _ = await asyncio.gather(self.process.stdout.read(), self._follow())
        await self.process.wait()
        self._heard.set()

    async def _follow(self) -> None:
        assert self.process.stderr is not None
        while line := await self.process.stderr.readline():
            self.lines.append(line.decode(errors="replace").rstrip())
            self.count += 1
            self._heard.set()


class Commands:
    """The commands of one server."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._runs: dict[str, Command] = {}
        """Engines at work, and those that ended, by the run's id."""

    async def done(self, say: Say | None, name: str, *arguments: str, options: Sequence[str] = ()) -> dict[str, Any]:
        """What a command says (`name` may be two words); it is stopped where the caller is cancelled. Raises Failed."""
        command = await Command.started(self._whole(name, arguments, options))
        return await self._followed(command, say)

    async def begin(self, run: str, name: str, *arguments: str, options: Sequence[str] = ()) -> Command:
        """A command that goes on after the call that started it: the engine of this run."""
        self._runs[run] = await Command.started(self._whole(name, arguments, options))
        return self._runs[run]

    def engine(self, run: str) -> Command | None:
        """The engine of a run that this server started, at work or not."""
        return self._runs.get(run)

    async def followed(self, run: str, say: Say) -> dict[str, Any]:
        """What a run's engine says at its end; it is stopped where the caller is cancelled. Raises Failed."""
        return await self._followed(self._runs[run], say)

    async def close(self) -> None:
        """Stop every engine, and wait until all of them have ended in order."""
        with anyio.CancelScope(shield=True):
            await asyncio.gather(*(engine.stop() for engine in self._runs.values() if engine.running))

    def _whole(self, name: str, arguments: Sequence[str], options: Sequence[str]) -> list[str]:
        # What a client hands in may begin with a dash, and is no option for that.
        return [*name.split(), *options, "--home", str(self._home), "--json", "--", *arguments]

    async def _followed(self, command: Command, say: Say | None) -> dict[str, Any]:
        try:
            if say is not None:
                await follow(command, say)
            return await command.result()
        except asyncio.CancelledError:
            with anyio.CancelScope(shield=True):  # a request's scope cancels again and again
                await command.stop()
            raise


async def follow(command: Command, say: Say) -> None:
    """Pass each line on until the command ends; where several came at once, the last."""
    told = 0
    while command.running or told < command.count:
        if told < command.count:
            told = command.count
            await say(command.lines[-1])
        else:
            await command.heard()
