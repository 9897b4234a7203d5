"""How long a process takes to stop that is its own doing: on a busy machine its threads wait for a processor."""

import time
from collections.abc import Iterable

from kernwright.evaluation.runner import tree


class Waiting:
    """For some processes to stop, from now on."""

    def __init__(self, pids: Iterable[int], cpu_ns: int) -> None:
        """`cpu_ns`: the processor time that they have had."""
        self._pids = tuple(pids)
        self._began_ns, self._cpu_ns = time.monotonic_ns(), cpu_ns
        self._delays_ns = self._delays()

    def charged_ns(self, cpu_ns: int) -> int:
        """The time that went by without what a thread waited for a processor; their work, where that is more."""
        waited = (now - self._delays_ns.get(thread, 0) for thread, now in self._delays().items())
        passed = time.monotonic_ns() - self._began_ns
        return max(passed - max(waited, default=0), cpu_ns - self._cpu_ns, 0)

    def _delays(self) -> dict[int, int]:
        """What each thread has waited on a run queue, where this kernel counts that."""
        found = {}
        for pid in self._pids:
            for thread in tree.threads(pid):
                fields = tree.read(f"/proc/{pid}/task/{thread}/schedstat").split()
                found[thread] = int(fields[1]) if len(fields) == 3 else 0
        return found
