"""What all tools share: options for commands, sentences for errors, progress for clients."""

import functools
from collections.abc import Awaitable, Callable
from typing import Any, ParamSpec

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import ValidationError

from kernwright.core.secrets import scrubbed

from .commands import Failed, Say

P = ParamSpec("P")
LONGEST_VALUE = 80


class Server(MCPServer[None]):
    """A server that says what is wrong with a tool's arguments in a sentence."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None) -> Any:
        """As the SDK's; raises ToolError."""
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            raise ToolError(refusal(name, error.__cause__)) from None


def refusal(tool: str, error: ValidationError) -> str:
    """What is wrong with the first argument that is none."""
    first = min(error.errors(include_url=False), key=lambda each: len(each["loc"]))
    names = [part for part in first["loc"][:1] if isinstance(part, str)]
    at = "".join(f"[{part}]" for part in first["loc"][1:2] if isinstance(part, int))
    if first["type"] == "missing":
        return f"{tool} needs the argument {names[0] if names else ''!r}; its description says what that is."
    value = scrubbed(repr(first["input"]))
    shown = value if len(value) <= LONGEST_VALUE else value[: LONGEST_VALUE - 1] + "…"
    said = first["msg"].removeprefix("Value error, ").replace("Input should be", "it should be")
    return f"The argument {'.'.join(names)}{at} of {tool} is {shown}; {said}."


def sentences(tool: Callable[P, Awaitable[dict[str, Any]]]) -> Callable[P, Awaitable[dict[str, Any]]]:
    """The tool, whose failures reach the client as a sentence."""

    @functools.wraps(tool)
    async def told(*args: P.args, **kwargs: P.kwargs) -> dict[str, Any]:
        try:
            return await tool(*args, **kwargs)
        except Failed as failed:
            raise ToolError(str(failed)) from None

    return told


def given(**options: Any) -> list[str]:
    """`--name value` for each that was given; a list repeats its option, True is a flag."""
    found: list[str] = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            found.append(option)
        elif value is not None and value is not False and value != "":
            for each in value if isinstance(value, list) else [value]:
                found += [f"{option}={each}"]  # one word, so that a value may begin with a dash
    return found


def progress(ctx: Context[Any, Any]) -> Say:
    """Each line becomes a progress notification, where the client asked for them."""
    told = 0

    async def say(line: str) -> None:
        nonlocal told
        told += 1
        await ctx.report_progress(told, message=line)

    return say
