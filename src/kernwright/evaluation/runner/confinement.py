"""What a runner may touch. Written by the judge, read by the runner before anything hostile is loaded."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Level = Literal["namespaces", "landlock", "rlimits"]
LEVELS: tuple[Level, ...] = ("namespaces", "landlock", "rlimits")


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """The limits of one runner."""

    scratch: Path
    """The only writable folder; given to the runner's user where the judge is root, and kept by the next
    runner that uses it."""
    readable: tuple[Path, ...] = ()
    """Files and folders it may read beside the interpreter, the installed packages and the system's libraries."""
    executables: bool = False
    """Whether it may start programs: compilers, for a build or `torch.compile`."""
    cores: tuple[int, ...] = ()
    """Pinned to these, unable to leave them; empty: the cores of the launcher."""
    nice: int = 0
    """By how much it stands behind others where cores are few, so that what is timed beside it is not kept waiting."""
    memory_bytes: int = 4 << 30
    """Private and shared memory beyond what a fresh runner holds and what was handed to it."""
    disk_bytes: int = 8 << 30
    """How much less free space its disk may have than when it started."""
    processes: int = 64
    """Processes and threads at a time."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Set over the scrubbed environment."""
    network: bool = False
    loopback: bool = False
    """Whether its own empty network has a way to itself, for programs whose parts talk so to each other; needs
    namespaces."""
    counters: bool = False
    """Whether it keeps the right to performance counters (CAP_PERFMON) where the judge is root and has it. The system
    calls that it would open stay closed; a device's driver asks for it too."""
    devices: tuple[Path, ...] = ()
    """Device nodes of accelerators that it may use; their drivers need unix sockets of their own and /proc/self."""

    def to_json(self) -> dict[str, Any]:
        """A form that `from_json` reads back."""
        return {
            "scratch": str(self.scratch),
            "readable": [str(path) for path in self.readable],
            "executables": self.executables,
            "cores": list(self.cores),
            "nice": self.nice,
            "memory_bytes": self.memory_bytes,
            "disk_bytes": self.disk_bytes,
            "processes": self.processes,
            "environment": dict(self.environment),
            "network": self.network,
            "loopback": self.loopback,
            "counters": self.counters,
            "devices": [str(path) for path in self.devices],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Confinement":
        """The inverse of `to_json`."""
        return cls(
            scratch=Path(data["scratch"]),
            readable=tuple(Path(path) for path in data["readable"]),
            executables=data["executables"],
            cores=tuple(data["cores"]),
            nice=data["nice"],
            memory_bytes=data["memory_bytes"],
            disk_bytes=data["disk_bytes"],
            processes=data["processes"],
            environment=data["environment"],
            network=data["network"],
            loopback=data["loopback"],
            counters=data["counters"],
            devices=tuple(Path(path) for path in data["devices"]),
        )
