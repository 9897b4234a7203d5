"""Evaluations in worker processes, kept warm; each with everything that it starts in a group of its own."""

import asyncio
import contextlib
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable

from kernwright.core.errors import MachineFault, UserError
from kernwright.core.jobs import REFERENCE_STAGE, EvalJob
from kernwright.core.lease import holders
from kernwright.core.outcome import Evaluation
from kernwright.core.plan import PATIENCE, Plan
from kernwright.core.secrets import without_secrets
from kernwright.store.codec import decode

from .wire import Begin, Done, Failed, Progress, Reply, Waiting, framed

TAIL_BYTES = 4000
STOP_S = 10.0
"""For a worker's guard to end everything below it, before its group is killed unasked."""
LONGEST_WAIT_S = 6 * 3600.0
"""In all, for other processes of the machine, beside the deadline. A queue of evaluations may last hours; past this,
whoever holds the device will never let go of it, and the user has to hear of that."""
SHOWN_WAIT_S, MOST_NAMED = 2.0, 3
"""A wait that lasts longer is shown to the user; and processes that are named as those it is for."""


class Processes:
    """`slots` workers at most, started when they are first needed."""

    name = "processes"

    def __init__(self, evaluator: str, home: str, slots: int, progress: Callable[[str], None]) -> None:
        self.slots = slots
        self._begin = Begin(evaluator=evaluator, home=home)
        self._progress = progress
        self._free = asyncio.Semaphore(slots)
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()

    async def submit(self, job: EvalJob) -> Evaluation:
        """Raises what the evaluator raised; MachineFault too where the worker died or passed its deadline."""
        async with self._free:
            worker = self._chosen(job.problem.id) if self._idle else await self._started()
            worker.problem, limit_s = job.problem.id, deadline_s(job.plan, len(job.problem.timed))
            try:
                async with asyncio.timeout(limit_s) as timeout:
                    patience = _Patience(timeout, self._progress)
                    evaluation = await worker.evaluate(job, patience)
            except TimeoutError:
                await self._drop(worker)
                raise MachineFault(patience.sentence(limit_s)) from None
            except UserError:
                self._idle.append(worker)
                raise
            except BaseException:
                await self._drop(worker)
                raise
            self._idle.append(worker)
            return evaluation

    def _chosen(self, problem: str) -> "_Worker":
        """An idle worker: the one that has this problem set up, else that which was idle longest."""
        known = [worker for worker in self._idle if worker.problem == problem]
        worker = known[-1] if known else self._idle[0]
        self._idle.remove(worker)
        return worker

    async def close(self) -> None:
        await asyncio.gather(*(self._drop(worker) for worker in tuple(self._all)))

    async def _started(self) -> "_Worker":
        worker = await _Worker.started(self._begin)
        self._all.add(worker)
        return worker

    async def _drop(self, worker: "_Worker") -> None:
        self._all.discard(worker)
        if worker in self._idle:
            self._idle.remove(worker)
        # Shielded: a second cancellation must not leave a process behind.
        await asyncio.shield(worker.stop())


def deadline_s(plan: Plan, timed: int) -> float:
    """Longer than all that the judge allows itself, of so many workloads that are timed; past it, the judge hangs."""
    limits = plan.limits
    sets = 2 * (max(plan.process_sets, plan.short_sets) + 1) * (limits.load_s + limits.reference_s)
    # A baseline is compiled for each workload once; what process sets need of that is kept.
    first_calls = timed * len(plan.baselines) * (PATIENCE * limits.load_s + limits.call_s)
    return limits.build_s + sets + first_calls


class _Patience:
    """The deadline of one evaluation, which stands still while that waits; and what the user sees of it."""

    def __init__(self, timeout: asyncio.Timeout, show: Callable[[str], None]) -> None:
        self._timeout = timeout
        self._show = show
        self._left_s = LONGEST_WAIT_S
        self._since: float | None = None
        self._hint: asyncio.TimerHandle | None = None
        self.stage = ""

    def enter(self, stage: str) -> None:
        """A stage of the evaluation."""
        self.stage = stage
        self._show(stage)

    def wait(self, begins: bool) -> None:
        """The evaluation waits for others, or goes on."""
        loop, end = asyncio.get_running_loop(), self._timeout.when()
        assert end is not None
        if begins and self._since is None:
            self._since = loop.time()
            self._timeout.reschedule(end + self._left_s)
            self._hint = loop.call_later(SHOWN_WAIT_S, lambda: self._show(_waiting_for()))
        elif not begins and self._since is not None:
            waited, self._since = loop.time() - self._since, None
            self._timeout.reschedule(end - self._left_s + waited)
            self._left_s = max(0.0, self._left_s - waited)
            self.close()
            if waited > SHOWN_WAIT_S:
                self._show(self.stage)

    def sentence(self, limit_s: float) -> str:
        """Why it was ended."""
        if self._since is None:
            return (
                f"an evaluation took longer than {limit_s:g} s and was ended in its stage {self.stage or 'begin'!r}; "
                "nothing of it counts. Make the problem's workloads smaller."
            )
        return (
            f"an evaluation waited longer than {LONGEST_WAIT_S / 3600:g} h for other programs' evaluations on this "
            "machine; it was ended. See which of them hangs, and end it."
        )

    def close(self) -> None:
        """Show nothing more."""
        if self._hint is not None:
            self._hint.cancel()


def _waiting_for() -> str:
    pids = ", ".join(map(str, holders()[:MOST_NAMED]))
    return f"waiting for other evaluations on this machine{pids and f' (process {pids})'}"


class _Worker:
    def __init__(self, process: Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._jobs = process.stdin
        self._replies = process.stdout
        self._tail = b""
        self.problem = ""
        """Id of the problem that it judged last, whose reference and baselines it keeps."""
        self._listening = asyncio.get_running_loop().create_task(self._listen())

    @classmethod
    async def started(cls, begin: Begin) -> "_Worker":
        # Not the current folder: a user's file there that has a library's name would take its place.
        command = (sys.executable, "-P", "-m", "kernwright.engine.executors.worker", str(os.getpid()))
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True, env=without_secrets(os.environ)
        )
        worker = cls(process)
        worker._jobs.write(framed(begin))
        return worker

    async def evaluate(self, job: EvalJob, patience: _Patience) -> Evaluation:
        try:
            self._jobs.write(framed(job))
            await self._jobs.drain()
            while True:
                match (await self._reply()).said:
                    case Progress(text=text):
                        patience.enter(text)
                    case Waiting(begins=begins):
                        patience.wait(begins)
                    case Done(evaluation=evaluation):
                        return evaluation
                    case Failed(blame="user", text=text):
                        raise UserError(text)
                    case Failed(text=text):
                        raise MachineFault(text)
        except (asyncio.IncompleteReadError, ConnectionError):
            await self.stop()
            tail = self._tail.decode(errors="replace").strip() or "nothing"
            status = self._process.returncode
            if patience.stage == REFERENCE_STAGE:
                raise UserError(
                    f"problem {job.problem.name!r} ended its process (status {status}); it last said: {tail}"
                ) from None
            raise MachineFault(f"an evaluation worker died (exit status {status}); it last said: {tail}") from None
        finally:
            patience.close()

    async def stop(self) -> None:
        """End the worker and everything below it."""
        self._jobs.close()
        try:
            async with asyncio.timeout(STOP_S):
                await self._process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.wait()
        with contextlib.suppress(ConnectionError):
            await self._jobs.wait_closed()
        await self._listening

    async def _reply(self) -> Reply:
        length = int.from_bytes(await self._replies.readexactly(4), "big")
        return decode(Reply, await self._replies.readexactly(length))

    async def _listen(self) -> None:
        assert self._process.stderr is not None
        while data := await self._process.stderr.read(TAIL_BYTES):
            self._tail = (self._tail + data)[-TAIL_BYTES:]
