"""A runner under a program that watches it: the program is started inside the same confinement, and starts the process
that the candidate is loaded into. Whatever it reports has been within the candidate's reach.
"""

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CHANNEL = "channel"
"""Of the scratch folder: where the process asks for the judge's socket."""
REPORT = "report.txt"
REPORT_BYTES = 48 << 10
"""A message holds no more."""
LOG_BYTES = 6000
FINISHED = b"finished"
_CONNECT_S = 1.0
_START = """\
import importlib.util, json, sys
folder, paths, config = sys.argv[1:]
sys.path[:] = json.loads(paths)
spec = importlib.util.spec_from_file_location(
    "kernwright", folder + "/__init__.py", submodule_search_locations=[folder]
)
sys.modules["kernwright"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["kernwright"])
from kernwright.evaluation.runner.watched import inside
inside(json.loads(config))
"""
"""The package is loaded by its folder: the one around an installation in place is not for runners to list."""


def serve(sock: socket.socket, config: Mapping[str, Any]) -> None:
    """Start the program, let what it starts answer the judge, and say at the end what it wrote."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(CHANNEL)
    listener.listen(1)
    report = Path.cwd() / REPORT
    package = Path(__file__).resolve().parents[2]
    rest = {name: value for name, value in config.items() if name != "around"}
    process = subprocess.Popen(
        [
            *(part.replace("{report}", str(report)) for part in config["around"]),
            *(sys.executable, "-I", "-c", _START, str(package), json.dumps(sys.path), json.dumps(rest)),
        ],
        stdin=subprocess.DEVNULL,
    )
    connection = _connected(listener, process)
    if connection is not None:
        socket.send_fds(connection, [b"yours"], [sock.fileno()])
    code = process.wait()
    said = _rest(connection) if connection is not None else b""
    text = report.read_text(errors="replace") if report.is_file() else ""
    text = text.encode("ascii", "replace").decode()
    if said == FINISHED:
        sock.send(json.dumps({"ok": True, "report": text[:REPORT_BYTES]}).encode())
    else:
        _take_what_nobody_read(sock, wait=connection is None)
        error = f"the program around it ended with status {code}"
        sock.send(json.dumps({"error": error, "log": text[-LOG_BYTES:]}).encode())


def inside(config: Mapping[str, Any]) -> None:
    """The process that the program started: the harness as ever, until it is told to finish."""
    from . import harness

    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(CHANNEL)
    _, fds, _, _ = socket.recv_fds(connection, 16, 1)
    harness.main(socket.socket(fileno=fds[0]), config)
    connection.send(FINISHED)


def _take_what_nobody_read(sock: socket.socket, *, wait: bool) -> None:
    """So that what follows is an answer: a socket closed upon an unread message takes its last answer with it.

    `wait`: nobody has read any, and the judge speaks first.
    """
    with contextlib.suppress(OSError):
        sock.setblocking(wait)
        sock.recv(1)
    sock.setblocking(True)


def _connected(listener: socket.socket, process: "subprocess.Popen[bytes]") -> socket.socket | None:
    """Until the process asks, or the program has ended without."""
    while process.poll() is None:
        if select.select([listener], [], [], _CONNECT_S)[0]:
            return listener.accept()[0]
    return None


def _rest(connection: socket.socket) -> bytes:
    os.set_blocking(connection.fileno(), False)
    try:
        return connection.recv(64)
    except OSError:
        return b""
