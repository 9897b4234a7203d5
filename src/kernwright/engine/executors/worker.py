"""A worker process: one evaluator, one job after another. Started as `python -m` with the engine's pid."""

import os
import select
import sys
from collections.abc import Callable
from contextlib import suppress
from io import FileIO
from typing import Any, BinaryIO

from kernwright.engine.executors.guard import claim_pipes, fork_guarded

REST_S = 1.0


def main() -> None:
    """Serve until the engine closes the pipe."""
    fork_guarded(int(sys.argv[1]))
    jobs, replies = claim_pipes()
    with jobs, replies:
        _serve(jobs, replies)
    sys.stderr.flush()
    os._exit(0)  # whoever started it waits for its end, and to take PyTorch apart takes a second


def _serve(jobs: BinaryIO, replies: FileIO) -> None:
    # Imported after the fork, so that the guard stays small.
    from kernwright.core.errors import MachineFault, UserError, unforeseen
    from kernwright.core.jobs import EvalJob
    from kernwright.core.lease import on_waiting
    from kernwright.core.resolve import resolve
    from kernwright.core.spec import JUDGE
    from kernwright.engine.executors.wire import Begin, Done, Failed, Progress, Reply, Waiting, read_frame, write_frame
    from kernwright.evaluation.memory import hold_to_available
    from kernwright.evaluation.participants import launch
    from kernwright.store.codec import decode

    def say(said: Progress | Waiting | Done | Failed) -> None:
        write_frame(replies, Reply(said=said))

    first = read_frame(jobs)
    if first is None:
        return
    begin = decode(Begin, first)
    if begin.evaluator == JUDGE:  # which is about to import PyTorch
        with suppress(OSError):  # it is started when it is needed then, and what is wrong is said
            launch.begin()
    hold_to_available()
    on_waiting.set(lambda begins: say(Waiting(begins=begins)))
    evaluator: Any = None
    while (frame := _next(jobs, evaluator and evaluator.rest)) is not None:
        job = decode(EvalJob, frame)
        try:
            evaluator = evaluator or resolve(begin.evaluator)(begin.home)
            say(Done(evaluation=evaluator.evaluate(job, lambda text: say(Progress(text=text)))))
        except UserError as error:
            say(Failed(blame="user", text=str(error)))
        except MachineFault as error:
            say(Failed(blame="machine", text=str(error)))
        except OSError as error:
            place = error.filename2 or error.filename
            where = f" ({place})" if place else ""
            text = f"The judge cannot go on: {error.strerror or error}{where}; mend that and try again."
            say(Failed(blame="machine", text=text))
        except Exception as error:
            say(Failed(blame="machine", text=unforeseen(f"evaluator {begin.evaluator!r}", error)))
    if evaluator is not None:
        evaluator.close()


def _next(jobs: BinaryIO, rest: Callable[[], None] | None) -> bytes | None:
    """The next message. Nothing of it is buffered where there is an evaluator to rest: it follows on a reply."""
    from kernwright.engine.executors.wire import read_frame

    while rest is not None and not select.select([jobs], [], [], REST_S)[0]:
        rest()
    return read_frame(jobs)


if __name__ == "__main__":
    main()
