"""A process that looks at one problem: the problem's own code, and torch, stay out of the caller's.

Started as `python -m` with the caller's pid; one job comes in, replies go out, as an executor's worker does it.
"""

import sys
from dataclasses import dataclass
from io import FileIO
from typing import BinaryIO, Literal

from kernwright.core.report import ProblemReport
from kernwright.engine.executors.guard import claim_pipes, fork_guarded


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    text: str
    kind: Literal["stage"] = "stage"


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """It begins to wait for other processes of the machine, or has what it waited for."""

    begins: bool
    kind: Literal["waits"] = "waits"


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    report: ProblemReport
    kind: Literal["looked"] = "looked"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotLooked:
    """It could not be done, and whose fault that is."""

    blame: Literal["user", "machine"]
    text: str
    kind: Literal["not_looked"] = "not_looked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    said: Stage | Waits | Looked | NotLooked


def main() -> None:
    """Answer one job."""
    fork_guarded(int(sys.argv[1]))
    jobs, replies = claim_pipes()
    with jobs, replies:
        _answer(jobs, replies)


def _answer(jobs: BinaryIO, replies: FileIO) -> None:
    from kernwright.core.errors import MachineFault, UserError, missing_extra, unforeseen
    from kernwright.core.jobs import EvalJob
    from kernwright.core.lease import on_waiting
    from kernwright.engine.executors.wire import read_frame, write_frame
    from kernwright.evaluation.memory import hold_to_available
    from kernwright.store.codec import decode

    def say(said: Stage | Waits | Looked | NotLooked) -> None:
        write_frame(replies, Answer(said=said))

    frame = read_frame(jobs)
    if frame is None:
        return
    job = decode(EvalJob, frame)
    hold_to_available()
    on_waiting.set(lambda begins: say(Waits(begins=begins)))
    try:
        from kernwright.evaluation.report import report

        say(Looked(report=report(job, lambda text: say(Stage(text=text)))))
    except UserError as error:
        say(NotLooked(blame="user", text=str(error)))
    except MachineFault as error:
        say(NotLooked(blame="machine", text=str(error)))
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "numpy", "scipy"):
            raise
        say(NotLooked(blame="user", text=str(missing_extra("Checking a problem", "torch"))))
    except MemoryError:
        text = f"problem {job.problem.name!r} needs more memory than there is; make its workloads smaller."
        say(NotLooked(blame="user", text=text))
    except Exception as error:
        say(NotLooked(blame="machine", text=unforeseen("looking at the problem", error)))


if __name__ == "__main__":
    main()
