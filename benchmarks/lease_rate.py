"""Timings a minute that a device's lease lets through: processes that share it for their checks, then have it alone.

They only sleep, for as long as checks and timing of a softmax took on an H100; so what is left is who waits for whom.
"""

import argparse
import multiprocessing
import tempfile
import time
from typing import Any

from environment import environment

from kernwright.platforms import cuda_lease

ELSEWHERE_S, CHECKS_S, TIMING_S, COMPARING_S = 0.6, 0.12, 0.30, 0.02
"""What a candidate takes without a lease, sharing it, alone, and sharing it once more."""


def main() -> None:
    arguments = _arguments()
    for in_a_row in (int(number) for number in arguments.in_a_row.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            said: Any = multiprocessing.Queue()
            given = (folder, in_a_row, time.monotonic() + arguments.seconds, said)
            workers = [multiprocessing.Process(target=_work, args=given) for _ in range(arguments.workers)]
            begun = time.monotonic()
            for worker in workers:
                worker.start()
            found = [said.get() for _ in workers]
            for worker in workers:
                worker.join()
        rate = 60 * sum(timed for timed, _ in found) / (time.monotonic() - begun)
        waited = max(longest for _, longest in found)
        print(f"{in_a_row} in a row: {rate:.0f} a minute; checks waited for {waited:.2f} s at the most")
    print(environment())


def _work(folder: str, in_a_row: int, end: float, said: Any) -> None:
    tempfile.tempdir = folder
    cuda_lease.IN_A_ROW = in_a_row
    lease, timed, longest = cuda_lease.DeviceLease("device"), 0, 0.0
    while time.monotonic() < end:
        time.sleep(ELSEWHERE_S)
        before = time.monotonic()
        with lease.held(alone=False):
            longest = max(longest, time.monotonic() - before)
            time.sleep(CHECKS_S)
        with lease.held(alone=True):
            time.sleep(TIMING_S)
        with lease.held(alone=False):
            time.sleep(COMPARING_S)
        timed += 1
    said.put((timed, longest))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--in-a-row", default="1,2,3,4,6", help="several numbers with commas: each in turn")
    parser.add_argument("--seconds", type=float, default=25.0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
