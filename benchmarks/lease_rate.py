"""Timings a minute that a device's lease lets through: processes that share it for their checks, then have it alone.

They only sleep, for as long as checks and timing of a softmax took beside seven others on an H200; so what is left is
who waits for whom. `--least`: how long checks have the device before they give way to whoever waits to time.
"""

import argparse
import math
import multiprocessing
import tempfile
import time
from typing import Any

from environment import environment

from kernwright.core.lease import Share
from kernwright.platforms.cuda_lease import DeviceLease

ELSEWHERE_S, CHECKS_S, TIMING_S, COMPARING_S = 1.0, 0.42, 0.29, 0.08
"""What a candidate takes without a lease, sharing it, alone, and sharing it once more."""
STEPS = 14
"""Of its checks, between which they may give way."""


def main() -> None:
    arguments = _arguments()
    for least_s in (float(number) for number in arguments.least.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            said: Any = multiprocessing.Queue()
            given = (folder, least_s, time.monotonic() + arguments.seconds, said)
            workers = [multiprocessing.Process(target=_work, args=given) for _ in range(arguments.workers)]
            begun = time.monotonic()
            for worker in workers:
                worker.start()
            found = [said.get() for _ in workers]
            for worker in workers:
                worker.join()
        rate = 60 * sum(timed for timed, _ in found) / (time.monotonic() - begun)
        waited = max(longest for _, longest in found)
        how = f"after {least_s:g} s" if least_s < math.inf else "never"
        print(f"checks give way {how}: {rate:.0f} a minute; they took {waited:.2f} s at the most")
    print(environment())


def _work(folder: str, least_s: float, end: float, said: Any) -> None:
    tempfile.tempdir = folder
    lease, timed, longest = DeviceLease("device"), 0, 0.0
    while time.monotonic() < end:
        time.sleep(ELSEWHERE_S)
        before = time.monotonic()
        with lease.held(alone=False) as share:
            _check(share, least_s)
        longest = max(longest, time.monotonic() - before)
        with lease.held(alone=True):
            time.sleep(TIMING_S)
        with lease.held(alone=False):
            time.sleep(COMPARING_S)
        timed += 1
    said.put((timed, longest))


def _check(share: Share, least_s: float) -> None:
    since = time.monotonic()
    for _ in range(STEPS):
        time.sleep(CHECKS_S / STEPS)
        if time.monotonic() - since >= least_s and share.wanted():
            share.lend()
            since = time.monotonic()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--least", default="inf,0.2,0.1,0.05,0.02", help="several, with commas: each in turn")
    parser.add_argument("--seconds", type=float, default=25.0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
