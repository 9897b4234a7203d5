"""Evaluations in a thread of this process."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from kernwright.core.errors import MachineFault, UserError, unforeseen
from kernwright.core.jobs import EvalJob
from kernwright.core.outcome import Evaluation
from kernwright.core.ports import Evaluator
from kernwright.core.resolve import resolve

from .worker import REST_S


class Inline:
    """One evaluation at a time. Closing it closes the evaluator, which has to end what it is doing."""

    name = "inline"

    def __init__(self, evaluator: str, home: str, slots: int, progress: Callable[[str], None]) -> None:
        self.slots = 1
        self._reference = evaluator
        self._home = home
        self._progress = progress
        self._evaluator: Evaluator | None = None
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="kernwright-evaluator")
        self._resting: asyncio.Task[None] | None = None

    async def submit(self, job: EvalJob) -> Evaluation:
        """Raises MachineFault, UserError as the evaluator does; its bugs are the machine's fault."""
        loop = asyncio.get_running_loop()
        self._resting = self._resting or loop.create_task(self._rest())

        def tell(text: str) -> None:
            loop.call_soon_threadsafe(self._progress, text)

        return await loop.run_in_executor(self._pool, self._evaluate, job, tell)

    async def close(self) -> None:
        if self._resting is not None:
            self._resting.cancel()
        if self._evaluator is not None:
            self._evaluator.close()
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _rest(self) -> None:
        while True:
            await asyncio.sleep(REST_S)
            if self._evaluator is not None:
                await asyncio.get_running_loop().run_in_executor(self._pool, self._evaluator.rest)

    def _evaluate(self, job: EvalJob, tell: Callable[[str], None]) -> Evaluation:
        try:
            if self._evaluator is None:
                self._evaluator = resolve(self._reference)(self._home)
            return self._evaluator.evaluate(job, tell)
        except (UserError, MachineFault):
            raise
        except Exception as error:
            raise MachineFault(unforeseen(f"evaluator {self._reference!r}", error)) from error
