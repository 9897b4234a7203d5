"""The warm process that runners are forked from. It parses nothing that belongs to a runner: a runner's whole
description travels in a file descriptor that only the child reads, so that no runner finds in its inherited memory
what another was told.
"""

import gc
import importlib
import importlib.util
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


def main(control_fd: int, preload: Sequence[str], runner: str, search: Sequence[str]) -> None:
    """Serve spawn requests until the judge closes its end or dies."""
    parent = os.getppid()
    control = socket.socket(fileno=control_fd)
    if "torch" in preload and importlib.util.find_spec("torch") is None:
        control.send(b"no torch")
        return
    modules = _preload(preload)
    entry: Callable[[socket.socket, dict[str, Any]], None] = resolve(runner)
    modules.append(sys.modules[entry.__module__])
    isolate.READABLE.extend(namespaces.readable_paths(map(Path, search), modules))
    isolate.WAY = namespaces.probe()
    # Children end by themselves; nobody here needs their status.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    kernel.prctl("subreaper", kernel.PR_SET_CHILD_SUBREAPER, 1)
    kernel.prctl("dumpable", kernel.PR_SET_DUMPABLE, 0)
    alive_read, alive_write = os.pipe()
    gc.collect()
    gc.freeze()
    control.send(b"ready")
    while _wait(control, parent):
        request, fds, _, _ = socket.recv_fds(control, 16, isolate.DESCRIPTORS)
        if not request:
            break
        pid = os.fork()
        if pid == 0:
            control.close()
            os.close(alive_write)
            isolate.run(entry, fds, alive_read)
        for fd in fds:
            os.close(fd)


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
