"""The machine-wide lease, as operators hold it: a share, which keeps timing away while heavy work runs.

It is that of the run's own platform. Where the processor is what is timed, timing takes the same lease alone. Other
platforms time under leases of single devices, which the processor's work does not disturb: nobody takes the one that
is held here, so that operators never wait.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from kernwright.core.lease import offered

LOOK_S = 0.05


@contextlib.asynccontextmanager
async def share(platform: str) -> AsyncIterator[None]:
    """Hold a share of the platform's lease; whoever times holds the same lease alone."""
    while True:
        with offered(platform) as held:
            if held:
                yield
                return
        await asyncio.sleep(LOOK_S)
