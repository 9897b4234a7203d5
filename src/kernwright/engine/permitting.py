"""What is to be done where a machine does not permit namespaces, by the reason that it gave."""

import errno
import re
from collections.abc import Sequence
from pathlib import Path

LIMITS = tuple(f"max_{kind}_namespaces" for kind in ("user", "pid", "mnt", "net", "ipc", "uts"))
ENOUGH = 15000
CONTAINER = "--security-opt seccomp=unconfined --security-opt apparmor=unconfined --cap-add SYS_ADMIN"
"""Docker's filter permits namespaces to who has that right, and pivot_root to nobody; its AppArmor profile no mount."""
_UNPRIVILEGED = (("unprivileged_userns_clone", 0), ("apparmor_restrict_unprivileged_userns", 1))
"""Debian's switch and Ubuntu's, since 23.10, with the value that forbids."""
_NUMBER = re.compile(r"\[Errno (\d+)\]")


def remedy(missing: Sequence[str], proc: Path = Path("/proc")) -> str:
    """What to do about what an isolation lacks, as half a sentence that begins with a verb.

    Args:
        missing: what the runner said of it, system errors in Python's words.
        proc: where the system says of itself what it permits.
    """
    reason = next((line for line in missing if line.startswith("namespaces: ")), None)
    if reason is None and any(line.startswith("/proc: ") for line in missing):
        # Where a container hides parts of /proc, no other can be mounted in a user namespace.
        return "start the container with --security-opt systempaths=unconfined (docker) or unmask=ALL (podman)"
    found = _NUMBER.search(reason or "")
    number = int(found[1]) if found else None
    if number == errno.ENOSPC:
        return _limits(proc)
    if number in (errno.EPERM, errno.EACCES):
        return _rights(proc)
    if number in (errno.EINVAL, errno.ENOSYS):
        return "use a kernel that has user, PID, mount, network, IPC and UTS namespaces"
    return "permit user namespaces (or run as root in a container)"


def _limits(proc: Path) -> str:
    """The system counts by user namespace, and says nothing of the limits around one's own."""
    zero = [f"user.{name}" for name in LIMITS if _value(proc / "sys" / "user" / name) == 0]
    if not zero:
        return (
            "raise a limit user.max_*_namespaces outside this container or user namespace (sysctl -w): none here is 0"
        )
    commands = " ".join(f"{name}={ENOUGH}" for name in zero)
    return f"raise {' and '.join(zero)} from 0, as root and on the host of a container: sysctl -w {commands}"


def _rights(proc: Path) -> str:
    container = f"start the container with {CONTAINER} (docker, podman)"
    if _filtered(proc):
        return container
    forbidding = [(name, value) for name, value in _UNPRIVILEGED if _value(proc / "sys" / "kernel" / name) == value]
    if not forbidding:
        return f"run it with the right to make namespaces (CAP_SYS_ADMIN), or {container}"
    commands = " ".join(f"kernel.{name}={1 - value}" for name, value in forbidding)
    return f"permit user namespaces to ordinary users, as root: sysctl -w {commands}"


def _filtered(proc: Path) -> bool:
    """Whether a filter of system calls is upon this process, as container runtimes put one."""
    try:
        return "\nSeccomp:\t2" in (proc / "self" / "status").read_text()
    except OSError:
        return False


def _value(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None
