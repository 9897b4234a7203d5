"""The commands under one name."""

from typing import Annotated

import typer

from kernwright import __version__

from .ask import ask
from .bench import bench
from .check import check
from .compare import compare
from .demo import demo
from .diff import diff
from .doctor import doctor
from .evolve import evolve
from .export import export
from .jobs import app as jobs
from .judge import judge
from .knowledge import app as knowledge
from .mcp import mcp
from .methods import methods
from .new import new
from .port import port
from .profile import profile
from .remark import critique, explain
from .resume import resume
from .runs import runs
from .show import show
from .steer import steer
from .tell import tell
from .verify import verify
from .zoo import zoo

app = typer.Typer(
    name="kernwright",
    help="A PyTorch file in, a verified faster kernel out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        print(f"kernwright {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Print the traceback of an error; works everywhere.")] = False,
) -> None:
    pass


COMMANDS = (
    *(doctor, demo, new, check, evolve, judge, profile, bench, runs, show, diff, resume, ask, tell, steer, export),
    *(explain, critique, port, compare, methods, mcp, zoo, verify),
)
for command in COMMANDS:
    app.command(no_args_is_help=False)(command)
app.add_typer(jobs, name="jobs")
app.add_typer(knowledge, name="knowledge")
