"""What the judge made of the zoo, on a screen of 80 columns."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kernwright.engine.proportion import Proportion, shown
from kernwright.engine.zoo_trial import CONFINED, HONEST, Row, ZooReport

from . import figures
from .verdict_view import plain_table

if TYPE_CHECKING:
    from rich.console import RenderableType

TITLES = {
    "A": "A  the answer is wrong or was not computed",
    "B": "B  caching and replay",
    "C": "C  the clock",
    "D": "D  the harness and the machine",
    HONEST: "odd but honest kernels",
}
WORDS = {"got_through": "GOT THROUGH", "refused": "FALSE ALARM", "not_judged": "not judged"}


def view(report: ZooReport) -> "Iterator[RenderableType]":
    """Rates by family, then whoever did not end as it should."""
    from rich.padding import Padding
    from rich.text import Text

    table = plain_table("family", "as it should be", "share", "95 % (Wilson)", right=(1, 2))
    for family in report.families:
        table.add_row(TITLES[family.name], *_cells(family.as_expected))
    yield table
    yield Text("")
    yield Text(f"detection     {shown(report.detection)}", style="bold")
    yield Text(f"false alarms  {shown(report.false_alarms)}", style="bold")
    for row in report.rows:
        if row.state != "as_expected":
            yield Text.assemble("\n", (WORDS[row.state], "bold red"), f"  {row.name}: {row.summary}")
            yield Padding(Text(sentence(row), style="dim"), (0, 0, 0, 2), expand=False)
    if report.elsewhere:
        names = ", ".join(report.elsewhere)
        yield Text(f"\n{len(report.elsewhere)} for other kinds of device were left out: {names}", style="dim")
    yield Text("")
    weak = report.isolation != CONFINED
    yield Text(f"isolation: {report.isolation}", style="bold red" if weak else "dim")
    yield Text(f"{report.target} · {report.machine} · judge {report.judge_version} · plan quick", style="dim")


def sentence(row: Row) -> str:
    """The verdict on one member and why."""
    words = [word for word in (WORDS.get(row.state, ""), row.verdict) if word]
    speedup = f" {figures.speedup(row.speedup)}" if row.speedup is not None else ""
    took = f" ({figures.seconds(row.seconds)})" if row.seconds else ""  # a member that was left out took nothing
    reason = " ".join(row.reason.split())[:240]
    return f"{', '.join(words)}{speedup}{took}{'' if row.verdict else ':'} {reason}"


def _cells(share: Proportion) -> tuple[str, str, str]:
    if share.share is None or share.low is None or share.high is None:
        return f"{share.count} of {share.of}", "-", "-"
    return f"{share.count} of {share.of}", f"{share.share:.1%}", f"[{share.low:.1%}, {share.high:.1%}]"
