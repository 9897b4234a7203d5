"""A run while it goes on, on stderr: a live block on a terminal, otherwise a line for each event."""

import time
from types import TracebackType
from typing import TYPE_CHECKING

from kernwright.core.brief import Exhausted, Proposed, Remarked, Unusable
from kernwright.core.diagnosis import Diagnosis
from kernwright.core.events import (
    Drafted,
    Entry,
    Evaluated,
    Faulted,
    ModelCalled,
    NoteLearned,
    Profiled,
    RunFinished,
    Steered,
)
from kernwright.core.graph import Graph

from . import figures, screen
from .run_view import spending, who, wish

if TYPE_CHECKING:
    from rich.text import Text


class Progress:
    """To be given to the engine: `observe` gets its events, `say` what the judge says of itself, `announce` what a
    person should know."""

    def __init__(self, run: str) -> None:
        self._run = run
        self._graph = Graph()
        self._phase = "proposing"
        self._console = screen.err()
        self._began = self._drawn = time.monotonic()
        self._seconds = 0.0
        self._told: set[str] = set()
        self._live = None
        if self._console.is_terminal:
            from rich.live import Live

            self._live = Live(console=self._console, get_renderable=self._block, refresh_per_second=4, transient=True)

    def observe(self, entry: Entry, graph: Graph) -> None:
        """One event."""
        self._graph = graph
        self._seconds, self._drawn = graph.spent.seconds, time.monotonic()
        if isinstance(entry.event, Evaluated):
            self._phase = "proposing"
        if isinstance(entry.event, Profiled):
            self._tell_once(*(f"not seen: {text}" for text in entry.event.profile.missing))
        if isinstance(entry.event, Evaluated):
            failed = entry.event.evaluation.failed_baselines.items()
            self._tell_once(*(f"the baseline {name} does not work here: {why}" for name, why in failed))
        if isinstance(entry.event, ModelCalled) and entry.event.barred and graph.spec and len(graph.spec.models) > 1:
            self._tell_once(f"left out from here on: {entry.event.error}")
        if (line := _line(entry, graph)) is not None:
            self._tell(line)

    def _tell_once(self, *texts: str) -> None:
        """What holds of this machine, not of one node."""
        for text in texts:
            if text not in self._told:
                self._told.add(text)
                self._tell(text)

    def _tell(self, line: str) -> None:
        if self._live is not None:
            self._console.print(line)
        else:
            screen.say(f"{figures.seconds(self._seconds):>7}  {line}")

    def say(self, text: str) -> None:
        """The judge's stage."""
        self._phase = text

    def announce(self, text: str) -> None:
        """What a person should know or do; a line of its own, terminal or not."""
        self._phase = text
        self._tell(text)

    def __enter__(self) -> "Progress":
        if self._live is not None:
            self._live.start()
        else:
            screen.say(f"run {self._run}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def _block(self) -> "Text":
        from rich.text import Text

        graph = self._graph
        best = graph.best()
        busy = [node.id for node in graph.in_flight()]
        nodes = f" · nodes {', '.join(map(str, busy))}" if busy else ""
        shown = f"{figures.result(best.evaluation)}  node {best.id}, {who(best)}" if best else "nothing measured yet"
        elapsed = self._seconds + time.monotonic() - self._drawn
        return Text.assemble(
            (f"{self._run}\n", "bold"),
            ("phase  ", "dim"),
            f"{self._phase}{nodes}\n",
            ("best   ", "dim"),
            f"{shown}\n",
            ("spent  ", "dim"),
            spending(graph, elapsed),
        )


def _line(entry: Entry, graph: Graph) -> str | None:
    match entry.event:
        case ModelCalled(node=node, error=error, barred=False) if error:
            return f"node {node}: {error}"
        case Drafted(draft=Exhausted()):
            return None
        case Drafted(node=node, draft=Remarked(text=text)):
            return f"node {node}: {' '.join(text.split())[:100]}"
        case Drafted(node=node, draft=Unusable(reason=reason)):
            return f"node {node}: unusable: {reason}"
        case Drafted(node=node, draft=Proposed() as draft):
            return f"node {node}: {who(graph.nodes[node])} proposes {draft.summary}".rstrip()
        case Evaluated(purpose="tune", node=node, evaluation=evaluation):
            return f"node {node}: trial {evaluation.outcome.kind} {figures.result(evaluation)}"
        case Evaluated(node=node, evaluation=evaluation, reused=reused):
            again = " (known already)" if reused else ""
            return f"node {node}: {evaluation.outcome.kind.upper()} {evaluation.outcome.reason}{again}"
        case Profiled(node=node, diagnosis=Diagnosis(bottlenecks=(first, *others))):
            return f"node {node}: limited by {', '.join((first, *others))}"
        case NoteLearned(note=note):
            return f"kept for other runs: {note.title}"
        case Steered() as event:
            return f"steered: {wish(event)}"
        case Faulted(reason=reason):
            return f"the machine failed, trying again: {reason}"
        case RunFinished(reason=reason):
            return f"ended: {reason}"
    return None
