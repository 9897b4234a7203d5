"""From a fresh fork of the launcher to confined, untrusted code.

Three processes: the fork itself, which enters the namespaces and ends; `init`, which is process 1 of the PID namespace
(elsewhere a subreaper), stays trusted, keeps the tail of the runner's output, reports how the runner ended, and dies
with the judge; and the runner.
"""

import contextlib
import faulthandler
import json
import os
import resource
import select
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from . import kernel, landlock, namespaces, seccomp, tree
from .confinement import Confinement

READABLE: list[str] = []
"""What every runner may read; the launcher fills it, once for all."""
WAY = namespaces.Way(None)
"""How namespaces are entered; the launcher finds out, once for all."""
LOG_BYTES = 8192
DESCRIPTORS = 6
"""Of one spawn: the runner's socket, status socket, description, log, and both ends of the output pipe."""
_REAP_MS = 1000
_DRAIN_READS = 256
_NOBODY = 65534
_UIDS = 2_000_000_000
_FILE_BYTES = 2 << 30
_OPEN_FILES = 1024

Entry = Callable[[socket.socket, dict[str, Any]], None]


def run(entry: Entry, fds: Sequence[int], alive: int) -> NoReturn:
    """Never returns: this process, and those it forks, end here."""
    status = socket.socket(fileno=fds[1])
    try:
        _Birth(entry, fds, status, alive).enter()
        os._exit(0)
    except BaseException:
        with contextlib.suppress(OSError):
            status.send(json.dumps({"fault": traceback.format_exc()[-LOG_BYTES:]}).encode())
    finally:
        os._exit(70)


class _Birth:
    def __init__(self, entry: Entry, fds: Sequence[int], status: socket.socket, alive: int) -> None:
        self.entry = entry
        self.channel_fd, _, description_fd, self.log, self.output_read, self.output_write = fds
        self.status = status
        self.alive = alive
        os.lseek(description_fd, 0, os.SEEK_SET)
        with os.fdopen(description_fd, "rb") as file:
            description = json.load(file)
        self.confinement = Confinement.from_json(description["confinement"])
        self.config: dict[str, Any] = description["config"]
        self.strongest: str = description["strongest"]
        self.folder = str(self.confinement.scratch)
        self.missing: list[str] = []
        self.entered = namespaces.Entered()
        self.root = os.geteuid() == 0
        self.uid = self.choose_user() if self.root else os.geteuid()

    def choose_user(self) -> int:
        """One user per scratch folder where the judge is root, so that no two share limits or files."""
        owner = self.confinement.scratch.stat().st_uid
        return owner if owner >= _UIDS else _UIDS + os.getpid()

    def enter(self) -> None:
        """The first process: becomes nothing, but its child is born inside the namespaces."""
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            with contextlib.suppress(OSError, ValueError):
                signal.signal(number, signal.SIG_DFL)
        os.setsid()
        if self.confinement.nice:
            _give_way(self.confinement.nice)
        kept = {self.channel_fd, self.status.fileno(), self.log, self.output_read, self.output_write, self.alive}
        _close_all_but(kept)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(self.output_write, 1)
        os.dup2(self.output_write, 2)
        os.close(self.output_write)
        if self.strongest == "namespaces":
            wants = self.confinement
            self.entered = namespaces.enter(WAY, wants.network, self.missing, loopback=wants.loopback)
            if self.entered.user:
                self.root, self.uid = False, os.geteuid()
        else:
            self.missing.append("namespaces: not asked for")
        pid = os.fork()
        if pid == 0:
            self.init()
        _report(self.status, {"init": pid}, os.pidfd_open(pid))

    def init(self) -> None:
        """Process 1 of the namespace."""
        kernel.prctl("subreaper", kernel.PR_SET_CHILD_SUBREAPER, 1)
        if self.root:
            with contextlib.suppress(OSError):
                os.chown(self.confinement.scratch, self.uid, self.uid)
        read = namespaces.merge([*READABLE, *map(str, self.confinement.readable)])
        seen = namespaces.Seen(read=read, devices=tuple(map(str, self.confinement.devices)))
        own_proc = namespaces.new_root(self.entered, self.confinement.scratch, seen, self.uid, self.missing)
        if self.entered.mounts and Path(namespaces.SCRATCH).is_dir():
            self.folder = namespaces.SCRATCH
        pid = os.fork()
        if pid == 0:
            self.runner(read, own_proc)
        os.close(self.channel_fd)
        # Its own copy of the write end would keep the pipe open after the runner.
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 1)
        os.dup2(null, 2)
        _attend(pid, self.status, self.alive, self.output_read, self.log, own_pids=self.entered.pid)

    def runner(self, read: Sequence[str], own_proc: bool) -> None:
        """The confined process: what is loaded from here on may be hostile."""
        for fd in (self.alive, self.output_read, self.log):
            os.close(fd)
        kernel.prctl("pdeathsig", kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        confinement = self.confinement
        if confinement.cores:
            os.sched_setaffinity(0, confinement.cores)
        _set_environment(confinement, self.folder)
        os.chdir(self.folder)
        me = os.pidfd_open(os.getpid())
        _set_limits(confinement)
        level = self.lock(read, own_proc)
        _report(self.status, {"level": level, "missing": self.missing}, me)
        os.close(me)
        self.status.close()
        channel = socket.socket(fileno=self.channel_fd)
        sys.stdout = open(1, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
        faulthandler.enable(file=2, all_threads=False)
        code = 0
        try:
            self.entry(channel, self.config)
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        except BaseException:
            traceback.print_exc()
            code = 1
        finally:
            with contextlib.suppress(Exception):
                sys.stdout.flush()
            os._exit(code & 255)

    def lock(self, read: Sequence[str], own_proc: bool) -> str:
        """Give up every right; returns the level that held."""
        kernel.prctl("no_new_privs", kernel.PR_SET_NO_NEW_PRIVS, 1)
        confinement = self.confinement
        landlocked = self.strongest != "rlimits" and self.landlock(read, own_proc)
        if self.strongest == "rlimits":
            self.missing.append("landlock: not asked for")
        kept = self.counters()
        kernel.drop_bounding_set()  # needs a capability that goes with the user
        if self.root:
            self.drop_user()
        try:
            kernel.drop_capabilities(kept)
        except OSError as error:
            self.missing.append(f"capabilities: kept ({error})")
        if self.entered.user and own_proc:
            # The judge, whose user this is, reads results out of its memory; nobody else's process sees this one.
            kernel.prctl("dumpable", kernel.PR_SET_DUMPABLE, 1)
        filtered = True
        try:
            only = None if self.entered.pid else os.getpid()
            seccomp.confine(
                network=confinement.network,
                execute=confinement.executables,
                signal_only=only,
                unix_sockets=bool(confinement.devices),
                loopback=confinement.loopback and self.entered.net,
            )
        except OSError as error:
            filtered = False
            self.missing.append(f"system calls: not filtered ({error})")
        if not (self.entered.net or filtered or confinement.network):
            self.missing.append("network: open")
        if not (landlocked or self.entered.mounts):
            self.missing.append("files: it can read and write whatever its user can")
        if self.entered.pid and own_proc and (landlocked or filtered):
            return "namespaces"
        return "landlock" if landlocked else "rlimits"

    def counters(self) -> int | None:
        """The one capability that is kept, where it was asked for and there is one to keep."""
        if not (self.confinement.counters and self.root):
            return None
        try:
            kernel.make_survive(kernel.CAP_PERFMON)
        except OSError as error:
            self.missing.append(f"counters: the right to them is not there to be kept ({error})")
            return None
        return kernel.CAP_PERFMON

    def landlock(self, read: Sequence[str], own_proc: bool) -> bool:
        """Whether Landlock holds. Without a /proc of its own the runner sees itself there, and no one else."""
        mine = ["/proc"] if own_proc else [f"/proc/{os.getpid()}", "/proc/meminfo", "/proc/cpuinfo", "/proc/stat"]
        try:
            accelerators = tuple(map(str, self.confinement.devices))
            # A GPU's driver names its threads through /proc/self, and does not start where it cannot.
            named = ("/proc/self",) if accelerators else ()
            if self.confinement.loopback and own_proc:  # those of a program that it starts, too
                named = ("/proc",)
            paths = landlock.Paths(
                read=(*read, *mine, "/etc/passwd", "/etc/group"),
                write=(self.folder, *named),
                devices=namespaces.DEVICES,
                accelerators=accelerators,
            )
            reach = self.confinement.network or (self.confinement.loopback and self.entered.net)
            abi = landlock.restrict(paths, execute=self.confinement.executables, network=reach)
        except OSError as error:
            self.missing.append(f"landlock: not available ({error})")
            return False
        if abi < 6 and not self.entered.pid:
            self.missing.append(f"landlock: version {abi} does not keep signals and abstract sockets inside")
        return True

    def drop_user(self) -> None:
        """Become an unprivileged user, where the interpreter stays readable to one."""
        reason = "the interpreter or the scratch folder is closed to other users"
        for uid in (self.uid, _NOBODY):
            try:
                os.setgroups([])
                os.setegid(uid)
                os.seteuid(uid)
                usable = _can_read(os.__file__) and os.access(self.folder, os.W_OK, effective_ids=True)
                os.seteuid(0)
                os.setegid(0)
                if usable:
                    os.setresgid(uid, uid, uid)
                    os.setresuid(uid, uid, uid)
                    return
            except OSError as error:
                reason = str(error)
        with contextlib.suppress(OSError):
            os.chown(self.folder, 0, 0)
        self.missing.append(f"user: root without capabilities, not an unprivileged one ({reason})")


def _can_read(path: str) -> bool:
    try:
        os.close(os.open(path, os.O_RDONLY))
    except OSError:
        return False
    return True


def _attend(pid: int, status: socket.socket, alive: int, output: int, log: int, *, own_pids: bool) -> NoReturn:
    """What process 1 does: drain output, reap orphans, report the end of `pid`, die with the judge or launcher."""
    os.set_blocking(output, False)
    watched = os.pidfd_open(pid)
    poller = select.poll()
    for fd in (watched, output):
        poller.register(fd, select.POLLIN)
    poller.register(status, 0)  # hang-up only
    poller.register(alive, 0)
    tail = b""
    ended = False
    while True:
        # No SIGCHLD handler: it would also run whenever the judge freezes or thaws the runner, in mid-measurement.
        ready = dict(poller.poll(_REAP_MS))
        if output in ready:
            tail, open_ = _drain(output, log, tail, 1)
            if not open_:
                poller.unregister(output)
        if watched in ready and not ended:
            ended = True
            poller.unregister(watched)
            result = os.waitpid(pid, 0)[1]
            tail, _ = _drain(output, log, tail, _DRAIN_READS)
            with contextlib.suppress(OSError):
                status.send(json.dumps({"ended": result}).encode())
            if own_pids:
                os._exit(0)  # and the kernel kills whatever is left in the namespace
        if status.fileno() in ready or alive in ready:
            if not own_pids:
                tree.kill_below(os.getpid())
            _drain(output, log, tail, _DRAIN_READS)
            os._exit(0)
        _reap(pid, ended)


def _reap(runner: int, ended: bool) -> None:
    """Wait for orphans that ended, leaving the runner's own status in place."""
    for child in tree.children(os.getpid()):
        if (child != runner or ended) and not tree.is_alive(child):
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, os.WNOHANG)


def _drain(output: int, log: int, tail: bytes, reads: int) -> tuple[bytes, bool]:
    """Keep the last bytes of the output in `log`, which the judge holds too. False once every writer is gone."""
    open_ = True
    before = tail
    for _ in range(reads):
        try:
            data = os.read(output, 65536)
        except BlockingIOError:
            break
        if not data:
            open_ = False
            break
        tail = (tail + data)[-LOG_BYTES:]
    if tail is not before:
        os.pwrite(log, len(tail).to_bytes(8, "little") + tail, 0)
    return tail, open_


def _give_way(nice: int) -> None:
    """Stand behind others, with all that is started from here. Who may not stands where it stood."""
    with contextlib.suppress(OSError):
        os.nice(nice)
    # Where sessions share the cores by groups of their own, priorities count inside each alone.
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(nice))


def _report(status: socket.socket, message: dict[str, Any], fd: int) -> None:
    socket.send_fds(status, [json.dumps(message).encode()], [fd])


def _close_all_but(kept: set[int]) -> None:
    with os.scandir("/proc/self/fd") as listing:
        opened = [int(entry.name) for entry in listing]
    for fd in opened:
        if fd > 2 and fd not in kept:
            with contextlib.suppress(OSError):  # the listing's own
                os.close(fd)


def _set_environment(confinement: Confinement, scratch: str) -> None:
    os.environ.update(HOME=scratch, TMPDIR=scratch, USER="runner", LOGNAME="runner")
    tempfile.tempdir = None  # whatever the launcher imported may have asked for it
    for name in ("XDG_CACHE_HOME", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "NUMBA_CACHE_DIR"):
        os.environ[name] = f"{scratch}/.cache/{name.lower()}"
    outside = str(confinement.scratch)
    os.environ.update({name: value.replace(outside, scratch) for name, value in confinement.environment.items()})


def _set_limits(confinement: Confinement) -> None:
    """Hard stops behind the judge's watchdog, which strikes first at `memory_bytes` and `processes`."""
    pages = int(Path("/proc/self/statm").read_text().split()[5]) if Path("/proc/self/statm").exists() else 1 << 18
    data = pages * resource.getpagesize() + confinement.memory_bytes * 3 // 2
    for kind, limit in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, _FILE_BYTES),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_DATA, data),
        (resource.RLIMIT_NPROC, confinement.processes * 2 + 32),
        (resource.RLIMIT_MEMLOCK, 64 << 20),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (limit, limit))
