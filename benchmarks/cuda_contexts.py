"""What a CUDA context costs, by how many hardware queues it opens: `cuda_contexts.py [--out FILE]`, on a GPU.

Every process is forked from one that has imported PyTorch and not touched the device, as runners are. Alone: driver
start, context, first kernel, and the process's end after it is killed, in ms, medians. Six at once: lives a second.
"""

import argparse
import json
import os
import signal
import time
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from statistics import median

import torch
from environment import environment

COPY, KERNELS, SIZE = "CUDA_DEVICE_MAX_COPY_CONNECTIONS", "CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_SCALE_LAUNCH_QUEUES"
SETTINGS: dict[str, dict[str, str]] = {
    "8 for copies, 8 for kernels (default)": {},
    "1, 8": {COPY: "1"},
    "1, 4": {COPY: "1", KERNELS: "4"},
    "1, 1": {COPY: "1", KERNELS: "1"},
    "8, 8, of a quarter of the size": {SIZE: "0.25x"},
    "1, 1, of a quarter of the size": {COPY: "1", KERNELS: "1", SIZE: "0.25x"},
}
PARTS = ("driver start", "context", "first kernel", "end")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passes", type=int, default=2)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    if not Path("/dev/nvidiactl").exists():
        raise SystemExit("There is no NVIDIA GPU here; run it where one is.")
    rows = []
    for number in range(arguments.passes):
        for name, variables in SETTINGS.items():
            alone = zip(*(life(variables) for _ in range(5)), strict=True)
            parts = dict(zip(PARTS, (round(median(part), 1) for part in alone), strict=True))
            at_once = round(several(variables, 6, 3), 2)
            rows.append({"pass": number, "queues": name, "ms": parts, "six_at_once_a_second": at_once})
            print(rows[-1], flush=True)
    if arguments.out:
        arguments.out.write_text(json.dumps({"rows": rows, "environment": environment()}, indent=1) + "\n")


def life(variables: Mapping[str, str]) -> tuple[float, ...]:
    """Of one process: the parts, in ms."""
    inlet, outlet = os.pipe()
    child = os.fork()
    if child == 0:
        _live(variables, outlet)
    os.close(outlet)
    with os.fdopen(inlet) as said:
        *parts, killed = json.loads(said.read())
    os.waitpid(child, 0)
    return tuple(1e3 * part for part in (*parts, time.monotonic() - killed))


def _live(variables: Mapping[str, str], outlet: int) -> None:
    """Never returns: a process that is killed leaves its context to the driver, as a runner does."""
    os.environ.update(variables)
    from cuda.bindings import driver

    times = [time.monotonic()]
    driver.cuInit(0)
    times.append(time.monotonic())
    _, context = driver.cuDevicePrimaryCtxRetain(driver.cuDeviceGet(0)[1])
    driver.cuCtxSetCurrent(context)
    times.append(time.monotonic())
    torch.zeros(1, device="cuda")
    torch.cuda.synchronize()
    times.append(time.monotonic())
    parts = [after - before for before, after in pairwise(times)]
    os.write(outlet, json.dumps([*parts, times[-1]]).encode())
    os.kill(os.getpid(), signal.SIGKILL)


def several(variables: Mapping[str, str], processes: int, lives: int) -> float:
    """Lives a second, where so many processes each start so many of them one after the other."""
    began, children = time.monotonic(), []
    for _ in range(processes):
        child = os.fork()
        if child == 0:
            for _ in range(lives):
                life(variables)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    return processes * lives / (time.monotonic() - began)


if __name__ == "__main__":
    main()
