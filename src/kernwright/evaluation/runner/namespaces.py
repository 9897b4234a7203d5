"""User, PID, mount, network and IPC namespaces, and a root folder that holds only what a runner may see."""

import contextlib
import fcntl
import os
import site
import socket
import struct
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import kernel, tree

_SYSTEM = (
    "/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin",
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime",
    "/sys/devices/system/cpu", "/sys/devices/system/node", "/sys/fs/cgroup",
)  # fmt: skip
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_FLAGS = kernel.CLONE_NEWPID | kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1
SCRATCH = "/scratch"
"""Where a runner with a root folder of its own finds its scratch folder."""
_BASES = ("/tmp", "/mnt", "/run", "/var")


@dataclass(frozen=True, slots=True)
class Entered:
    """Which namespaces this process is in, or its children will be."""

    user: bool = False
    pid: bool = False
    mounts: bool = False
    net: bool = False


@dataclass(frozen=True, slots=True)
class Way:
    """How namespaces are entered here: `user` says whether through one of users; None, with a reason, where not."""

    user: bool | None
    reason: str = ""


def probe() -> Way:
    """Try in a child that ends at once.

    Some systems let a process into a user namespace and refuse everything there; one cannot get out again.
    """
    way = Way(None)
    for user in (False, True) if os.geteuid() == 0 else (True,):
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                _unshare(_FLAGS | kernel.CLONE_NEWNET, user)
                kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
            except BaseException as error:
                os.write(writer, str(error).encode()[:1000] or b"unknown")
            finally:
                os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            reason = pipe.read().decode(errors="replace")
        os.waitpid(pid, 0)
        if not reason:
            return Way(user)
        way = Way(None, reason)
    return way


def enter(way: Way, network: bool, missing: list[str], *, loopback: bool = False) -> Entered:
    """Leave the machine's namespaces; children of this process, not itself, enter the new PID namespace.

    Root keeps its user namespace where it can, to bind paths that the unprivileged user cannot reach.
    """
    if way.user is None:
        missing.append(f"namespaces: this machine does not permit them ({way.reason})")
        return Entered()
    _unshare(_FLAGS | (0 if network else kernel.CLONE_NEWNET), way.user)
    if loopback and not network:
        try:
            _raise_loopback()
        except OSError as error:
            missing.append(f"loopback: not up ({error})")
    return Entered(user=way.user, pid=True, mounts=True, net=not network)


def _raise_loopback() -> None:
    """In the network namespace that this process has just entered, where nothing else is."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        fcntl.ioctl(handle, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))


def _unshare(flags: int, user: bool) -> None:
    uid, gid = os.geteuid(), os.getegid()
    kernel.unshare(flags | (kernel.CLONE_NEWUSER if user else 0))
    if not user:
        return
    # The files under /proc/self of a process that is not dumpable belong to root, who is not mapped here yet.
    kernel.prctl("dumpable", kernel.PR_SET_DUMPABLE, 1)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    kernel.prctl("dumpable", kernel.PR_SET_DUMPABLE, 0)


def readable_paths(extra: Iterable[Path], modules: Iterable[Any]) -> list[str]:
    """What every runner may read and load from: the interpreter, packages, system libraries, and `extra`.

    Of a package that is installed in place, its own folder and not the project around it.
    """
    paths = [*_SYSTEM, sys.prefix, sys.base_prefix, sys.exec_prefix, *site.getsitepackages()]
    paths += [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    paths += libraries()
    folders = [tree.folder_of(module) for module in (sys.modules["kernwright"], *modules)]
    paths += [str(folder) for folder in folders if folder is not None]
    paths += [str(path) for path in extra]
    return merge(paths)


def libraries() -> list[str]:
    """Folders of installed packages that the interpreter searches beside its own: the user's, those on `PYTHONPATH`.

    A folder on that path that nothing was installed into is a project, and may hold what is nobody's business.
    """
    own = {*site.getsitepackages(), ""}
    folders = [Path(entry).absolute() for entry in sys.path if entry not in own]
    return [str(folder) for folder in folders if next(folder.glob("*.dist-info"), None) is not None]


def merge(paths: Iterable[str]) -> list[str]:
    """Those that exist, without what lies inside another."""
    kept: list[str] = []
    for path in sorted({str(Path(path).absolute()) for path in paths if path}):
        inside = any(path == other or path.startswith(f"{other}/") for other in kept)
        if path != "/" and not inside and Path(path).exists():
            kept.append(path)
    return kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a runner finds under its root folder beside its scratch folder."""

    read: Sequence[str]
    devices: Sequence[str] = ()
    """Beside the plain ones, which every runner has."""


def new_root(entered: Entered, scratch: Path, seen: Seen, uid: int, missing: list[str]) -> bool:
    """Replace the root folder by one that holds what is `seen`, the scratch folder and this namespace's own /proc.

    Returns whether /proc is the namespace's own. To be called by process 1 of the PID namespace. The scratch folder
    lies at `SCRATCH`, the same for every runner: what compilers wrote there may hold its path.
    """
    if not entered.mounts:
        return False
    try:
        kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
        base = next(path for path in _BASES if Path(path).is_dir())
        devices = (*DEVICES, *seen.devices)
        real = {path: os.path.realpath(path) for path in (*seen.read, *devices, str(scratch))}
        kernel.mount("tmpfs", base, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "size=4m,mode=755")
    except (OSError, StopIteration) as error:
        missing.append(f"file system: not hidden ({error})")
        return _mount_proc("/proc", missing)
    old = os.umask(0o022)
    try:
        Path(base, ".old").mkdir()
        kernel.pivot_root(base, f"{base}/.old")
    except OSError as error:
        kernel.detach(base)
        missing.append(f"file system: not hidden ({error})")
        return _mount_proc("/proc", missing)
    os.chdir("/")
    for path in seen.read:
        _show(path, real[path], missing)
    for path in devices:
        _show(path, real[path], missing, writable=True)
    _show(SCRATCH, real[str(scratch)], missing, writable=True)
    _furnish(uid)
    own = _mount_proc("/proc", missing)
    kernel.detach("/.old")
    Path("/.old").rmdir()
    kernel.mount("none", "/", None, kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY | kernel.MS_NOSUID)
    os.umask(old)
    return own


def _show(path: str, real: str, missing: list[str], *, writable: bool = False) -> None:
    """Bind what was at `real` before the pivot to `path`, under both names where a link led there."""
    source = f"/.old{real}"
    try:
        for target in {path} if path == SCRATCH else {path, real}:
            if Path(source).is_dir():
                Path(target).mkdir(parents=True, exist_ok=True)
            else:
                Path(target).parent.mkdir(parents=True, exist_ok=True)
                Path(target).touch()
            kernel.mount(source, target, None, kernel.MS_BIND | kernel.MS_REC)
            if not writable:
                with contextlib.suppress(OSError):  # Landlock refuses writing too
                    kernel.read_only(target)
    except OSError as error:
        missing.append(f"{path}: not shown to the runner ({error})")


def _furnish(uid: int) -> None:
    """What programs expect of any machine."""
    Path("/etc").mkdir(exist_ok=True)
    Path("/etc/passwd").write_text(f"runner:x:{uid}:{uid}::{SCRATCH}:/bin/sh\n")
    Path("/etc/group").write_text(f"runner:x:{uid}:\n")
    Path("/dev/fd").symlink_to("/proc/self/fd")
    Path("/tmp").mkdir(exist_ok=True)
    Path("/proc").mkdir(exist_ok=True)


def _mount_proc(where: str, missing: list[str]) -> bool:
    try:
        kernel.mount("proc", where, "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    except OSError as error:
        missing.append(f"/proc: the machine's own stays hidden or visible as it was ({error})")
        return False
    return True
