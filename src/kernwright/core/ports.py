"""Every seam, on one screen. Implementations are plain classes; nothing inherits from these."""

import random
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from .around import Around
from .brief import Brief, Draft, Intent, Pick
from .built import Built, Support
from .calls import CallSpec
from .candidate import Candidate
from .errors import UserError
from .events import Entry, Event, Seed
from .inbox import Message, Told
from .jobs import EvalJob
from .lease import Share
from .model import Answered, Prompt, Reply, Session
from .node import Node
from .note import Note
from .outcome import CheckResult, Evaluation
from .problem import Problem
from .profile import Profile


class ProblemSource(Protocol):
    """Where problems come from."""

    name: str

    def ids(self) -> Iterable[str]: ...
    def load(self, id: str) -> Problem:
        """Raises UserError where there is no such problem or it is not one."""


class Language(Protocol):
    """How source is written and built. Runner-side code: it runs inside the sandbox."""

    name: str
    # A class with `sanitizers(target) -> Sequence[Sanitizer]` names tools that watch its candidates in a full plan.
    # One with `compile_common(text)` makes of what its builds have left (`core.commons`) artefacts for all of them.

    def supports(self, target: str) -> Support: ...
    def recognises(self, files: Mapping[str, str]) -> bool:
        """Whether these files (name -> text) are written in this language."""

    def emulates(self, target: str) -> Support:
        """Whether candidates can be run, slowly, where the target is not; the reason says what runs them."""

    def emulate(self, target: str, text: str) -> None:
        """Make this process one that runs a candidate, whose main file is `text`, without the device.

        Called once, before the file is imported, and only where `emulates` says that it works.
        """

    def build(self, candidate: Candidate, target: str, workdir: Path, calls: Sequence[CallSpec]) -> Built:
        """Compile into `workdir`, for these calls. Any exception is the candidate's build failure.

        No device is there: the process runs on processor cores alone.
        """


class Buffer(Protocol):
    """A dedicated allocation that can be passed to another process. After `close` it may serve again, so that processes
    that map it must be dead; after `discard` it never does."""

    fd: int
    bytes: Any
    """A writable uint8 tensor over it."""

    def close(self) -> None: ...
    def discard(self) -> None: ...


class DeviceSession(Protocol):
    """One device, opened by the judge; or, where `present` is false, a stand-in on which nothing can be timed."""

    runtime: str
    """`module:Class` of the runner-side half."""
    device: str
    """Where the judge keeps tensors, as PyTorch names it."""
    runner_device: str
    """The same device as a runner sees it."""
    present: bool
    clocks: Sequence[Literal["device", "call"]]
    """What one call is timed for. `device`: host work is hidden; `call`: from idle to complete. Where a device's calls
    are synchronous the two are one, and `("call",)` is enough."""
    memory_bytes: int | None
    """Of the device; None where its memory is the operating system's affair."""
    bursts: bool
    """Whether the judge's clock needs many calls in one message to see a short one: its noise is that of a device."""
    apart_bytes: int
    """Two input sets of a workload that hold more together lie over one another, a little apart; 0: none do."""
    modules: Sequence[str]
    """What the launcher imports once for all runners, beside PyTorch; those that are not installed are left out."""
    devices: Sequence[Path]
    """Device nodes that a runner needs."""

    def environment(self) -> Mapping[str, str]: ...
    def condition(self) -> Mapping[str, str]:
        """What changes while it works: clocks, temperature, power, throttling. Empty where nothing is known.

        Names that end in "clock" hold a number of MHz; "throttled" says by what, or "no".
        """

    def variables(self, artifacts: Path, texts: Sequence[str] = ()) -> Mapping[str, str]:
        """Environment variables for a process that builds or runs candidates.

        `texts` are the sources of what it runs, for settings that only some need; none where they are not known.
        """

    def machine(self) -> str:
        """Names machines on which figures can be compared."""

    def building(self) -> AbstractContextManager[object]:
        """Around work on the processor alone: builds. Waits for others' timing only where that would be disturbed."""

    def shared(self) -> AbstractContextManager[Share]:
        """Hold a share of the machine-wide lease: set-up and checks."""

    def starting(self) -> AbstractContextManager[object]:
        """Around the start or end of a process that uses the device. Waits for timing that is to be `undisturbed`."""

    def exclusive(self, *, undisturbed: bool = False) -> AbstractContextManager[None]:
        """Hold it alone: timing, after those who share it. `undisturbed`: no process starts or ends there meanwhile."""

    def reserved(self, nbytes: int, timing: int = 0) -> AbstractContextManager[None]:
        """Wait until the device has room for this much beside what others have reserved, and for `timing` more while it
        has the device alone, as one process at a time has. Raises UserError: it never will."""

    def wanted(self, for_s: float = 0.0) -> bool:
        """Whether another process waits for room on the device, and has for so many seconds."""

    def runner_cores(self, threads: int) -> tuple[int, ...]:
        """Cores that a runner is pinned to."""

    def claim_judge_cores(self) -> None:
        """Keep the calling thread off the runners' cores where there are others."""

    def buffer(self, nbytes: int) -> Buffer: ...
    def stock(self, sizes: Sequence[int]) -> None:
        """Have new buffers of these sizes at hand, where making one takes long, and give up others that nobody had."""

    def flushes(self, asked: bool) -> bool:
        """Whether caches are emptied before each sample: where that is cheap always, else where it is asked for."""

    def copy_ns(self, tensors: Sequence[Any]) -> float:
        """Time of copying all of these once, when many such copies follow each other."""

    flush_ns: float
    """What emptying the caches takes while nobody else uses the device; 0 where that says nothing about others."""

    def flush(self) -> None:
        """Empty the caches before what is asked of the device next; `settle` waits for that."""

    def settle(self) -> None:
        """Wait until what this process asked of the device is done."""

    def distance(self, got: Any, own: Any) -> Any:
        """As `evaluation.errors.distance`; None where there is no kernel for it."""

    def least_ns(self, written: int, threads: int) -> float:
        """No kernel writes so many bytes in less time."""

    def floor_ns(self, moving: float, written: int) -> float | None:
        """What the datasheet's peak leaves for reading so many bytes and writing those; None where no sheet says it."""

    def require_health(self) -> None:
        """After a candidate died: raises MachineFault where the device, or this process's hold on it, is broken."""

    def free(self) -> None:
        """Give unused device memory back."""


class Platform(Protocol):
    """Devices of one kind."""

    name: str

    def targets(self) -> Sequence[str]:
        """Targets that this machine has; empty where it has none."""

    def obstacle(self) -> str:
        """Why devices of this kind that the machine may have cannot be seen, and what to do; empty where nothing is."""

    def known(self) -> Sequence[str]:
        """Targets that another machine may have: candidates for them can be built here, perhaps emulated."""

    def open(self, target: str) -> DeviceSession:
        """A stand-in where the target is known but not here; raises UserError where it is neither."""


class Profiler(Protocol):
    """What looks at candidates on one kind of device, in the judge's process. Each tool that says nothing is a
    sentence in `Profile.missing`, never an exception: the run goes on."""

    name: str
    inside: str
    """`module:Class` of its half that runs where the candidate does."""

    def peaks(self, target: str) -> Mapping[str, float]:
        """`bytes_per_s`, and operations per second by the name of a precision; what is not known is left out."""

    def count(self, threads: Sequence[int], work: Callable[[int], None], calls: int) -> Profile:
        """Counters of one call, read off these threads from outside; `work(n)` has the candidate called n times."""

    def around(self, target: str) -> Around | str:
        """What a runner is to be started under; else why not, or nothing where there is no such program at all."""

    def read(self, report: str) -> Profile:
        """What that program wrote, which came through the runner's hands."""


class ProfilerInside(Protocol):
    """Runner-side code: whatever it says may be the candidate's invention."""

    def look(self, built: Path, target: str, again: Callable[[Mapping[str, str]], Path]) -> Profile:
        """What is compiled in `built`. No device is there. `again` builds once more, in a changed environment, and
        returns the folder of what that made."""

    def trace(self, call: Callable[[], object], folder: Path) -> Profile:
        """Watches calls from within; `folder` may be written to."""

    def marked(self, call: Callable[[], object]) -> None:
        """One call, marked for the program around it."""


class SourceCheck(Protocol):
    """Looks at text. A pattern is a tripwire; it decides alone only where a rule forbids the text itself."""

    name: str

    def inspect(self, candidate: Candidate, problem: Problem) -> CheckResult: ...


class Evaluator(Protocol):
    """Judges. Raises MachineFault only when the machine is at fault, UserError when the problem is."""

    def evaluate(self, job: EvalJob, progress: Callable[[str], None] | None = None) -> Evaluation: ...
    def rest(self) -> None:
        """Called every second or so between evaluations, in their thread: give up what other processes wait for."""

    def close(self) -> None: ...


class Executor(Protocol):
    """Runs evaluations somewhere."""

    slots: int
    """How many at a time; 0 where all of them are done by jobs, on another machine."""

    async def submit(self, job: EvalJob) -> Evaluation: ...
    async def close(self) -> None: ...


class Knowledge(Protocol):
    """Notes, and which of them speak of a situation. What they say is data."""

    def recall(self, tags: Sequence[str], text: str, k: int) -> Sequence[Note]:
        """The k notes that say most to this. Tags are in order of weight: bottlenecks, operator families, the language
        that is written in, the target (it has a colon), other languages. A form feed in the text parts what was seen,
        which weighs more, from what is said of the problem."""

    def read(self, name: str) -> Note | None:
        """The note of this name."""

    def learn(self, note: Note) -> None:
        """Take a note in: one that agrees is counted, and where two contradict each other the newer stands."""


async def _no_model(brief: Brief, prompt: Prompt) -> Answered:
    raise UserError("This run has no model to ask; begin one with --model PROVIDER:NAME.")


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorContext:
    """What an operator may use; it is constructed as `Operator(context, **settings)`."""

    home: Path
    run: str
    used: frozenset[tuple[str, str]]
    """(operator, item) of every draft in the journal when the engine started."""
    start: tuple[str, ...]
    """Blobs of the candidates that the user began with."""
    put: Callable[[Candidate], str]
    """Keeps a candidate and returns its blob."""
    get: Callable[[str], Candidate]
    """The candidate of a blob; raises KeyError where there is none."""
    trial: Callable[[int, Candidate], Awaitable[Evaluation | None]]
    """Evaluates for the tuning of this node: journalled and counted; one that was journalled already
    is returned as it is. None once a budget is spent."""
    quiet: Callable[[], AbstractAsyncContextManager[None]]
    """To be held around heavy work on the processor, which must not overlap timing."""
    answers: Callable[[int], Awaitable[Told]]
    """Waits until someone outside answers the brief of this node."""
    ask: Callable[[Brief, Prompt], Awaitable[Answered]] = _no_model
    """Has one of the run's models answer: capped, tried again, journalled.

    Raises ModelRefused where this prompt gets no answer, ModelOver where no prompt does any more."""
    recognise: Callable[[Mapping[str, str]], str] | None = None
    """The language in which these files (name -> text) are written."""
    guarded: Callable[[Sequence[str]], Sequence[str]] = tuple
    """A command that runs this one, and ends all that it started when it ends, its standard input does or we do."""
    room: Callable[[float], AbstractAsyncContextManager[None]] = lambda usd: nullcontext()
    """To be held around a session that costs this much, until it is recorded; raises ModelOver where a cap forbids."""
    record: Callable[[Brief, Prompt, Session], None] = lambda brief, prompt, session: None
    """Journals a session."""
    seeds: tuple[Seed, ...] = ()
    """The best of earlier runs."""
    knowledge: Knowledge | None = None
    """What the run may be told; None where it is told nothing."""


class Model(Protocol):
    """From a prompt to a reply, in one attempt. Constructed as `Model(spec, used=...)`, `used` its earlier replies."""

    async def complete(self, prompt: Prompt) -> Reply:
        """Raises ModelBusy, ModelRefused, ModelOver; UserError where the model or its key is at fault."""

    async def close(self) -> None: ...


class Operator(Protocol):
    """From a brief to a draft."""

    name: str
    intents: frozenset[Intent]
    """What it can be asked for."""
    # A class with `at_target = True` works only where the target is; a run that is judged elsewhere sends it there.
    # One with `reads = False` makes nothing of what a brief tells of earlier candidates: none is profiled for it.

    async def propose(self, brief: Brief) -> Draft: ...


class GraphView(Protocol):
    """What a policy may see: the graph, read-only, nodes in flight included."""

    @property
    def nodes(self) -> Sequence[Node]: ...
    @property
    def exhausted(self) -> set[Intent]: ...
    @property
    def start(self) -> Sequence[str]: ...
    @property
    def stale(self) -> int: ...
    @property
    def islands(self) -> Mapping[int, Sequence[int]]: ...
    @property
    def pinned(self) -> Mapping[int, int]: ...
    @property
    def banned(self) -> Set[int]: ...
    def children(self, node: int) -> Sequence[int]: ...
    def subtree(self, node: int) -> tuple[int, float]: ...
    def ranked(self, k: int, island: int | None = None) -> Sequence[Node]: ...
    def best(self) -> Node | None: ...
    def in_flight(self) -> Sequence[Node]: ...


class Policy(Protocol):
    """Chooses what to try next. Deterministic given view and rng; keeps no state of its own."""

    name: str

    def pick(self, view: GraphView, n: int, rng: random.Random) -> Sequence[Pick]:
        """Up to n picks; fewer, or none, while it waits for what is in flight or has nothing more to ask."""


class Fitness(Protocol):
    """What an evaluation is worth; higher is better."""

    name: str

    def score(self, evaluation: Evaluation) -> float | None:
        """None for whatever was not measured."""


class Store(Protocol):
    """The journal and the blobs. Synchronous; called from the loop only."""

    def append(self, run: str, event: Event) -> Entry:
        """Durable against a kill of this process once it returns."""

    def events(self, run: str, after: int = 0) -> Iterator[Entry]: ...
    def runs(self) -> Sequence[str]: ...
    def put(self, data: bytes) -> str: ...
    def get(self, id: str) -> bytes:
        """Raises KeyError where there is no such blob."""


class Inbox(Protocol):
    """Messages to a run's engine from other processes, kept until acknowledged."""

    def post(self, run: str, message: Message) -> None: ...
    def inbox(self, run: str) -> Sequence[tuple[int, Message]]:
        """What is not acknowledged, oldest first."""

    def acknowledge(self, run: str, id: int) -> None: ...
