"""What every benchmark on a GPU records beside its figures."""

from environment import environment

from kernwright.engine.targets import target_of
from kernwright.platforms.cuda import Cuda


def device_environment() -> dict[str, str]:
    """The host in one line, the device, driver, clocks and versions."""
    session = Cuda().open(target_of("cuda"))
    return {"host": environment(), **session.environment(), **session.condition()}
