"""Answers from outside, delivered to whoever waits for them."""

import asyncio
from collections.abc import Callable, Sequence

from kernwright.core.events import Asked, Steered
from kernwright.core.graph import Graph
from kernwright.core.inbox import Message, Steer, Told
from kernwright.core.ports import Inbox

PERIOD_S = 0.2
"""How often the inbox is looked at while somebody waits."""


class Answers:
    """The inbox of one run. A message is acknowledged only once its draft is journalled."""

    def __init__(
        self,
        inbox: Inbox,
        run: str,
        graph: Graph,
        write: Callable[[Asked | Steered], None],
        say: Callable[[str], None] | None = None,
    ) -> None:
        """`write` journals which briefs wait, and what a person wants; `say` hears of the former."""
        self._inbox = inbox
        self._run = run
        self._graph = graph
        self._write = write
        self._say = say
        self._waiting: dict[int, asyncio.Future[Told]] = {}
        self._taken: set[int] = set()

    async def of(self, node: int) -> Told:
        """Waits for the answer to this node's brief."""
        future = self._waiting.setdefault(node, asyncio.get_running_loop().create_future())
        self.deliver()
        if not future.done():
            self._write(Asked(node=node))
            if self._say is not None:
                self._say(f"brief {node} waits for an answer: kernwright ask {self._run}")
        try:
            told = await future
        finally:
            self._waiting.pop(node, None)
        self._taken.add(node)
        return told

    async def watch(self) -> None:
        """Deliver for ever."""
        while True:
            self.deliver()
            await asyncio.sleep(PERIOD_S)

    def settled(self, node: int) -> None:
        """Acknowledge what was said of this node, if anything: its draft is in the journal."""
        if node not in self._taken:
            return
        self._taken.discard(node)
        for id, message in self._inbox.inbox(self._run):
            if isinstance(message, Told) and message.node == node:
                self._inbox.acknowledge(self._run, id)

    def deliver(self) -> None:
        """Hand over every message to whoever waits for it, and journal what people want."""
        for id, message in self._inbox.inbox(self._run):
            if isinstance(message, Steer):
                self._write(steered(message))
                self._inbox.acknowledge(self._run, id)
                continue
            future = self._waiting.get(message.node)
            if future is not None and not future.done():
                future.set_result(message)
            elif future is None and answered(self._graph, message.node):
                self._inbox.acknowledge(self._run, id)


def answered(graph: Graph, node: int) -> bool:
    """Whether the node has its draft."""
    return node < len(graph.nodes) and graph.nodes[node].draft is not None


def steered(message: Steer) -> Steered:
    """The event of a message."""
    return Steered(action=message.action, node=message.node, text=message.text, author=message.author)


def answered_nodes(messages: Sequence[tuple[int, Message]]) -> set[int]:
    """The nodes for which answers wait."""
    return {message.node for _, message in messages if isinstance(message, Told)}


def settle(
    inbox: Inbox, run: str, draft: Callable[[Told], None], steer: Callable[[Steered], None], graph: Graph
) -> None:
    """Turn every message that waits into its event, with no engine alive; a second answer is dropped."""
    for id, message in inbox.inbox(run):
        if isinstance(message, Steer):
            steer(steered(message))
        elif message.node < len(graph.nodes) and not answered(graph, message.node):
            draft(message)
        inbox.acknowledge(run, id)
