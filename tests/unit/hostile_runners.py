"""What hostile kernels do, as runner entry functions. Run confined only: some of these take a machine down."""

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Config = dict[str, Any]


def act(sock: socket.socket, config: Config) -> None:
    """Answer one message, then do as the config says; what is returned goes back."""
    sock.recv(65536)
    answer = ACTS[config["act"]](sock, config)
    sock.send(json.dumps({"answer": answer}).encode())
    while sock.recv(65536):
        sock.send(b'{"answer": "still here"}')


def attempt(action: Callable[[], object]) -> str:
    """`done`, or the name of what was raised."""
    try:
        action()
    except OSError as error:
        return type(error).__name__
    return "done"


def fork_bomb(sock: socket.socket, config: Config) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        try:
            os.fork()
        except OSError:
            time.sleep(0.001)


def thread_bomb(sock: socket.socket, config: Config) -> None:
    while True:
        try:
            threading.Thread(target=time.sleep, args=(60,)).start()
        except RuntimeError:
            time.sleep(0.001)


def memory_hog(sock: socket.socket, config: Config) -> None:
    kept = []
    while True:
        kept.append(b"x" * (8 << 20))
        time.sleep(0.001)


def shared_memory_hog(sock: socket.socket, config: Config) -> None:
    import mmap

    area = mmap.mmap(-1, 4 << 30)
    for start in range(0, 4 << 30, 8 << 20):
        area[start : start + (8 << 20)] = b"x" * (8 << 20)
        time.sleep(0.001)


def disk_hog(sock: socket.socket, config: Config) -> None:
    """Files that no listing shows."""
    kept = []
    while True:
        file = Path("gone").open("wb")  # noqa: SIM115
        Path("gone").unlink()
        kept.append(file)
        file.write(os.urandom(1 << 20) * 32)
        file.flush()
        time.sleep(0.01)


def endless_loop(sock: socket.socket, config: Config) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    while True:
        pass


def escape(sock: socket.socket, config: Config) -> str:
    """A session of its own, two forks, and no parent any more."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            sock.close()
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            while True:
                time.sleep(0.01)
        os._exit(0)
    os.wait()
    return "escaped"


def exit_quietly(sock: socket.socket, config: Config) -> None:
    print("passed: speedup 1000x")
    sys.stdout.flush()
    os._exit(0)


def segfault(sock: socket.socket, config: Config) -> None:
    ctypes.string_at(8)


def print_endlessly(sock: socket.socket, config: Config) -> None:
    line = b"x" * 65535 + b"\n"
    while True:
        os.write(1, line)


def print_much(sock: socket.socket, config: Config) -> str:
    for number in range(200_000):
        print(f"line {number}")
    return "printed"


def close_socket(sock: socket.socket, config: Config) -> None:
    sock.close()
    time.sleep(60)


def garble(sock: socket.socket, config: Config) -> None:
    sock.send(config["bytes"].encode("latin-1"))
    time.sleep(60)


def oversize(sock: socket.socket, config: Config) -> None:
    sock.send(b'{"x": "' + b"y" * 100_000 + b'"}')
    time.sleep(60)


def speak_early(sock: socket.socket, config: Config) -> None:
    for _ in range(5):
        sock.send(b'{"answer": "early"}')
    time.sleep(60)


def reach(sock: socket.socket, config: Config) -> dict[str, str]:
    """Every way out that a kernel has no business with."""
    loopback = ("127.0.0.1", config["port"])
    results = {
        "loopback": attempt(lambda: socket.create_connection(loopback, timeout=1)),
        "abstract socket": attempt(lambda: socket.socket(socket.AF_UNIX).connect("\0" + config["abstract"])),
        "secret": attempt(lambda: Path(config["secret"]).read_text()),
        "overwrite": attempt(lambda: Path(config["secret"]).write_text("mine")),
        "neighbour": attempt(lambda: Path(config["secret"]).with_name("new").write_text("mine")),
        "home": attempt(lambda: os.scandir("/root")),
        "shared folder": attempt(lambda: Path("/tmp/kernwright-escaped").write_text("mine")),
        "packages": attempt(lambda: Path(json.__file__).with_name("planted.py").write_text("")),
        "signal": attempt(lambda: os.kill(config["judge"], signal.SIGURG)),
        "parent": attempt(lambda: os.kill(config["launcher"], signal.SIGURG)),
        "cores": attempt(lambda: os.sched_setaffinity(0, range(os.cpu_count() or 1))),
        "priority": attempt(lambda: os.setpriority(os.PRIO_PROCESS, 0, 19)),
        "scheduler": attempt(lambda: os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))),
        "memory": attempt(lambda: os.close(os.open(f"/proc/{config['judge']}/mem", os.O_RDONLY))),
        "program": attempt(lambda: subprocess.run(["/bin/true"], check=True)),
    }
    libc = ctypes.CDLL(None, use_errno=True)
    pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    results["stream pair"] = "PermissionError" if len(pair) == 2 else "done"
    results["datagram pair"] = attempt(lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
    results["ptrace"] = "done" if libc.ptrace(16, config["judge"], 0, 0) == 0 else "PermissionError"
    results["namespace"] = "done" if libc.unshare(0x10000000) == 0 else "PermissionError"
    results["setuid"] = "done" if libc.setuid(0) == 0 and os.getuid() != config["uid"] else "PermissionError"
    return results


def listen(sock: socket.socket, config: Config) -> dict[str, str]:
    """What the driver of a GPU does when it starts, and a little more than it may."""
    held: list[socket.socket] = []

    def serve() -> None:
        held.append(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
        held[0].bind("\0kernwright-driver")
        held[0].listen()

    return {
        "listen": attempt(serve),
        "device": attempt(lambda: os.close(os.open("/dev/full", os.O_RDWR))),
        "connect": attempt(lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).connect("\0kernwright-driver")),
        "datagrams": attempt(lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)),
        "internet": attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM)),
    }


def look(sock: socket.socket, config: Config) -> dict[str, Any]:
    """What it finds around itself."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"scratch works")
    processes = [path.name for path in Path("/proc").iterdir() if path.name.isdigit()] if config["list"] else []
    fds = sorted(int(path.name) for path in Path("/proc/self/fd").iterdir())
    return {"environment": dict(os.environ), "processes": processes, "fds": fds, "config": config}


def compute(sock: socket.socket, config: Config) -> dict[str, Any]:
    """What honest kernels do."""
    import torch

    torch.set_num_threads(2)
    x = torch.randn(512, 512)
    results: dict[str, Any] = {"matmul": bool(torch.isfinite(x @ x).all())}
    try:
        import numba
        import numpy
    except ImportError:
        return results

    @numba.njit(parallel=True)  # type: ignore[untyped-decorator]
    def total(values: Any) -> float:
        result = 0.0
        for i in numba.prange(len(values)):
            result += values[i]
        return result

    results["numba"] = float(total(numpy.ones(1000)))
    return results


def compile_program(sock: socket.socket, config: Config) -> float:
    """A C++ compiler, OpenMP and a library of one's own."""
    Path("k.cpp").write_text(
        'extern "C" double f(int n) { double s = 0;\n#pragma omp parallel for reduction(+:s)\n'
        "for (int i = 0; i < n; ++i) s += 1; return s; }"
    )
    subprocess.run(["g++", "-O2", "-fopenmp", "-shared", "-fPIC", "k.cpp", "-o", "k.so"], check=True)
    function = ctypes.CDLL(str(Path("k.so").absolute())).f
    function.restype = ctypes.c_double
    return float(function(1000))


def torch_compile(sock: socket.socket, config: Config) -> bool:
    import torch

    x = torch.randn(64, 64)
    y = torch.compile(lambda t: torch.nn.functional.gelu(t + 1) * 2)(x)
    return bool(torch.allclose(y, torch.nn.functional.gelu(x + 1) * 2, atol=1e-5))


def count(sock: socket.socket, config: Config) -> str:
    """A counter in a file, advanced by itself and by a child, until killed."""
    if os.fork() == 0:
        sock.close()
        advance("child")
    threading.Thread(target=advance, args=("own",), daemon=True).start()
    return "counting"


def advance(name: str) -> None:
    value = 0
    while True:
        value += 1
        Path(name).write_text(str(value).zfill(12))
        time.sleep(0.001)


def append(sock: socket.socket, config: Config) -> str:
    """Write to a file that an earlier runner made."""
    return attempt(lambda: Path("own").write_text("more"))


def echo(sock: socket.socket, config: Config) -> str:
    return "ready"


def has(sock: socket.socket, config: Config) -> list[bool]:
    """Which modules were imported before it began."""
    return [name in sys.modules for name in config["modules"]]


ACTS: dict[str, Callable[[socket.socket, Config], Any]] = {
    action.__name__: action
    for action in (
        fork_bomb, thread_bomb, memory_hog, shared_memory_hog, disk_hog, endless_loop, escape, exit_quietly, segfault,
        print_endlessly, print_much, close_socket, garble, oversize, speak_early, reach, listen, look, compute,
        compile_program, torch_compile, count, append, echo, has,
    )
}  # fmt: skip
