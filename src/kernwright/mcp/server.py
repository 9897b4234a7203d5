"""The server, over standard input and output."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from mcp.server import MCPServer

from kernwright import __version__

from . import answering, judging, knowing, runs
from .commands import Commands
from .told import Server

INSTRUCTIONS = """\
Kernwright makes faster kernels for PyTorch computations and proves what it says of them. check_problem says whether a \
file can be judged and what there is to win. judge_candidate judges a kernel that you wrote. start_run searches: by \
compilers and tuners (no key), by language models, or by you (operators ['mailbox'], hold=true, then ask_brief and \
tell_answer). export_kernel writes the champion. Believe a speedup only where verdict is measured or verified and \
faster is true. search_knowledge and read_knowledge look up what makes kernels fast. \
`kernwright mcp --skill` prints a longer text."""


def serve(home: Path) -> None:
    """Until standard input ends; then runs that were started end in order, so that they can be resumed."""
    try:
        made(Commands(home)).run("stdio")
    except* (BrokenPipeError, ConnectionResetError):
        pass  # the client went while something was said to it


def made(commands: Commands) -> MCPServer[None]:
    """A server with every tool."""

    @asynccontextmanager
    async def lifespan(server: MCPServer[None]) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await commands.close()

    server = Server(
        "kernwright", instructions=INSTRUCTIONS, version=__version__, lifespan=lifespan, log_level="WARNING"
    )
    for group in (judging, runs, answering, knowing):
        group.add(server, commands)
    return server
