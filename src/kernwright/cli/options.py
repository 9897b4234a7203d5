"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Home = Annotated[
    Path | None,
    typer.Option(
        envvar="KERNWRIGHT_HOME", help="Folder of runs and caches; ./.kernwright by default.", show_default=False
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout; progress goes to stderr.")]
ProblemFile = Annotated[
    str,
    typer.Argument(metavar="PROBLEM", help="A file with Model and get_inputs, or kernelbench:PATH#level1/19."),
]
Run = Annotated[str, typer.Argument(metavar="RUN", help="A run's id, a part of it that no other has, or 'latest'.")]
RuleTexts = Annotated[
    list[str] | None,
    typer.Option("--rules", metavar="RULE", help="own-kernels, or key=value; may be repeated."),
]
Target = Annotated[str | None, typer.Option(help="Where it is to run; this machine by default.", show_default=False)]
Language = Annotated[str | None, typer.Option(help="How the candidate is written; seen from a file by default.")]
Threads = Annotated[int, typer.Option(help="Threads that kernels and baselines get.")]
Budgets = Annotated[
    list[str] | None,
    typer.Option("--budget", metavar="KEY=VALUE,...", help="Limits together, such as proposals=50,seconds=600."),
]
Proposals = Annotated[int | None, typer.Option(min=0, help="Stop after this many proposals.")]
Evaluations = Annotated[int | None, typer.Option(min=0, help="Stop after this many evaluations.")]
Seconds = Annotated[float | None, typer.Option(min=0, help="Stop after this time.")]
Usd = Annotated[float | None, typer.Option(min=0, help="Stop after spending this much on models.")]
Tokens = Annotated[int | None, typer.Option(min=0, help="Stop before models read and write more than this.")]
Operators = Annotated[
    list[str] | None,
    typer.Option(
        "--operator",
        "--operators",
        metavar="NAME[:KEY=VALUE,...]",
        help="Who proposes; may be repeated; compiler and tuner by default.",
        show_default=False,
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", metavar="PROVIDER:NAME", help="A model that writes; may be repeated.", show_default=False),
]
InFlight = Annotated[int | None, typer.Option(min=1, help="Proposals at a time; else as the method says, or 4.")]
BaseUrl = Annotated[
    str | None, typer.Option(help="An OpenAI-compatible server; its key is in $KERNWRIGHT_API_KEY.", show_default=False)
]
Prices = Annotated[
    list[str] | None,
    typer.Option("--price", metavar="IN,OUT", help="Dollars per million tokens, for each model in turn."),
]
MaxTokens = Annotated[int | None, typer.Option(min=16, help="Of one reply; 16384 by default.", show_default=False)]
BuiltIn = Annotated[
    bool,
    typer.Option("--built-in/--no-built-in", help="Whether the notes that come with Kernwright count."),
]
Knowledge = Annotated[
    list[Path] | None,
    typer.Option(
        "--knowledge",
        metavar="FOLDER",
        help="Notes to be told beside those that come with Kernwright; may be repeated.",
        show_default=False,
    ),
]
OwnMemory = Annotated[
    str, typer.Option(metavar="run|off", help="run: each search remembers itself alone; off: nothing.")
]
Until = Annotated[float | None, typer.Option(help="Stop once a verified speedup's lower bound reaches this.")]
Patience = Annotated[int | None, typer.Option(min=1, help="Stop after this many proposals without a better one.")]
