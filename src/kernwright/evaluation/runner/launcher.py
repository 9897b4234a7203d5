"""The warm process that runners are forked from. It parses nothing that belongs to a runner: a runner's whole
description travels in a file descriptor that only the child reads, so that no runner finds in its inherited memory
what another was told.
"""

import contextlib
import gc
import importlib
import importlib.util
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kernwright.core.resolve import resolve

from . import isolate, kernel, namespaces

_ORPHAN_CHECK_MS = 1000
MESSAGE_BYTES = 64 << 10
SPAWN = b"spawn"
"""Asks for a runner; every other message is JSON."""


def main(control_fd: int, first: Sequence[str]) -> None:
    """Serve spawn requests until the judge closes its end or dies. The judge's first message says, as JSON, what to
    `preload` beside what came `first`, what the `runner` is, and where to `search` for it."""
    parent = os.getppid()
    control = socket.socket(fileno=control_fd)
    there = "torch" not in first or importlib.util.find_spec("torch") is not None
    modules = _preload(first) if there else []
    if not _wait(control, parent) or not (said := control.recv(MESSAGE_BYTES)):
        return
    if not there:
        control.send(b"no torch")
        return
    description = json.loads(said)
    sys.path.extend(description["search"])
    modules += _preload(description["preload"])
    entry: Callable[[socket.socket, dict[str, Any]], None] = resolve(description["runner"])
    modules.append(sys.modules[entry.__module__])
    isolate.READABLE.extend(namespaces.readable_paths(map(Path, description["search"]), modules))
    isolate.WAY = namespaces.probe()
    # Children end by themselves; nobody here needs their status.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    kernel.prctl("subreaper", kernel.PR_SET_CHILD_SUBREAPER, 1)
    kernel.prctl("dumpable", kernel.PR_SET_DUMPABLE, 0)
    alive_read, alive_write = os.pipe()
    _settle()
    control.send(b"ready")
    _serve(control, parent, entry, (alive_read, alive_write))


def _serve(
    control: socket.socket,
    parent: int,
    entry: Callable[[socket.socket, dict[str, Any]], None],
    alive: tuple[int, int],
) -> None:
    while _wait(control, parent):
        request, fds, _, _ = socket.recv_fds(control, MESSAGE_BYTES, isolate.DESCRIPTORS)
        if not request:
            return
        if request != SPAWN:
            _import_too(json.loads(request)["import"])
            control.send(b"imported")
            continue
        pid = os.fork()
        if pid == 0:
            control.close()
            os.close(alive[1])
            isolate.run(entry, fds, alive[0])
        for fd in fds:
            os.close(fd)


def _import_too(names: Sequence[str]) -> None:
    missing = [name for name in names if name not in sys.modules]
    for name in missing:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    if missing:
        _settle()


def _settle() -> None:
    """What is there by now is nothing that runners have to go through, and copy, when they look for garbage."""
    gc.collect()
    gc.freeze()


def _wait(control: socket.socket, parent: int) -> bool:
    """Whether there is something to read; False once the judge is gone.

    A parent-death signal would follow the thread that started this process, not the process, hence the check.
    """
    poller = select.poll()
    poller.register(control, select.POLLIN)
    while os.getppid() == parent:
        if poller.poll(_ORPHAN_CHECK_MS):
            return True
    return False


def _preload(names: Sequence[str]) -> list[Any]:
    modules = []
    for wanted in names:
        name, _, call = wanted.partition(":")
        if importlib.util.find_spec(name) is None:
            continue
        module = importlib.import_module(name)
        if call:
            function, *arguments = call.split(":")
            getattr(module, function)(*map(int, arguments))
        if name == "torch":
            module.set_num_threads(1)  # OpenMP's threads would not survive the fork
        modules.append(module)
    return modules
