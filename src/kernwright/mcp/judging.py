"""Tools that judge without a run."""

from typing import Annotated, Any, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from pydantic import Field

from .commands import Commands
from .handed import Handed, as_path
from .told import given, progress, sentences

Problem = Annotated[str, Field(description="Path of a file with Model and get_inputs, or kernelbench:PATH#level1/19.")]
Candidate = Annotated[
    Handed, Field(description='Path of a candidate, or its files by name: {"kernel.py": "...", "kernel.cu": "..."}.')
]
Plan = Annotated[
    Literal["quick", "full"], Field(description="quick: half a minute; full: fresh processes, ends in verified.")
]
Rules = Annotated[list[str] | None, Field(description="own-kernels, or KEY=VALUE.")]
Target = Annotated[str | None, Field(description="Such as cpu:x86-64-v4 or cuda:sm_90a; this machine by default.")]


def add(server: MCPServer[Any], commands: Commands) -> None:
    """Register them."""

    @server.tool()
    @sentences
    async def check_problem(
        ctx: Context[Any, Any], problem: Problem, target: Target = None, threads: int = 1
    ) -> dict[str, Any]:
        """Say whether a problem file can be judged and how much there is to win. Call it first, before you write
        anything: it loads the file, runs it, measures eager PyTorch, torch.compile and a plain copy, and names
        outputs that no input moves. Takes about a minute."""
        options = given(target=target, threads=threads)
        return await commands.done(progress(ctx), "check", problem, options=options)

    @server.tool()
    @sentences
    async def judge_candidate(
        ctx: Context[Any, Any],
        problem: Problem,
        candidate: Candidate,
        plan: Plan = "quick",
        rules: Rules = None,
        target: Target = None,
        language: str | None = None,
        threads: int = 1,
    ) -> dict[str, Any]:
        """Build, check and time one candidate, outside any run; nothing is kept. Use it while you work on a kernel of
        your own; use ask_brief and tell_answer instead where the answer is to count in a run. `verdict` says how it
        ended, `reason` why, `log` what the compiler said; a speedup counts only where verdict is measured or
        verified, and is real where `faster` is true. Cancel the call to stop it."""
        options = given(plan=plan, rules=rules, target=target, language=language, threads=threads)
        with as_path(candidate) as path:
            return await commands.done(progress(ctx), "judge", problem, path, options=options)

    @server.tool()
    @sentences
    async def examine_machine(ctx: Context[Any, Any]) -> dict[str, Any]:
        """List what this machine can do: compilers, devices, isolation, memory, what is missing and how to get it.
        Call it when something does not work."""
        return await commands.done(progress(ctx), "doctor")
