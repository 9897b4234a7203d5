"""Stands for a profiler that runs a program: `watching_tool.py MODE REPORT COMMAND ...`, started inside a runner.

Like the real ones it talks to the program that it starts over TCP on this machine, and writes a report at its end.
"""

import socket
import subprocess
import sys
from pathlib import Path

MODE, REPORT, *COMMAND = sys.argv[1:]


def attempt(family: int, address: object) -> str:
    """`reached`, or what kept it from that."""
    try:
        with socket.socket(family, socket.SOCK_STREAM) as client:
            client.settimeout(2)
            client.connect(address)
        return "reached"
    except OSError as error:
        return type(error).__name__


def written(path: str) -> str:
    """`done`, or what kept it from that."""
    try:
        Path(path).write_text("watched")
    except OSError as error:
        return type(error).__name__
    return "done"


if MODE == "dies":
    print("its lock is taken", flush=True)
    sys.exit(3)
if MODE == "stays":
    COMMAND = [sys.executable, "-c", "import time; time.sleep(600)"]
with socket.create_server(("127.0.0.1", 0)) as server:
    lines = [
        f"loopback {attempt(socket.AF_INET, server.getsockname())}",
        f"outside {attempt(socket.AF_INET, ('192.0.2.1', 80))}",
        f"vsock {attempt(socket.AF_VSOCK, (2, 1))}",
        f"name {written('/proc/self/comm')}",
        f"hostname {written('/proc/sys/kernel/hostname')}",
        f"rights {Path('/proc/self/status').read_text().partition('CapEff:')[2].split()[0]}",
    ]
code = subprocess.run(COMMAND, check=False).returncode
Path(REPORT).write_text("\n".join([*lines, f"code {code}", "instructions 41"]))
