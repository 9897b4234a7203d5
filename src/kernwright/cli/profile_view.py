"""Profiles, diagnoses and what was expected, on a screen of 80 columns and as JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kernwright.core.counters import COUNTERS, shown
from kernwright.core.diagnosis import Diagnosis
from kernwright.core.graph import Graph
from kernwright.core.node import Node
from kernwright.core.profile import Change, Profile, changes
from kernwright.search.diagnosis import alike, figures_of, ledger, tallied

from .verdict_view import plain_table

if TYPE_CHECKING:
    from rich.console import RenderableType

COLOURS = {"came": "green", "partly": "yellow", "not": "red", "opposite": "red", "unseen": "dim"}
MOST_CHANGES, MOST_ROWS, MOST_KERNELS = 12, 20, 8


def profile_view(profile: Profile, diagnosis: Diagnosis | None) -> "Iterator[RenderableType]":
    """What limits it, then the figures, then what was not seen and why."""
    from rich.text import Text

    if diagnosis is not None:
        yield Text("what limits it", style="bold")
        yield Text(diagnosis.text)
        yield Text("")
    yield Text(f"profile{f' of workload {profile.workload}' if profile.workload else ''}", style="bold")
    if profile.counters:
        yield counters_table(profile)
    if profile.kernels:
        yield kernels_table(profile)
    if profile.opcodes:
        largest = sorted(profile.opcodes.items(), key=lambda item: -item[1])
        yield Text("instructions: " + " · ".join(f"{kind} {count:g}" for kind, count in largest), style="dim")
    for text in profile.missing:
        yield Text(f"not seen: {text}", style="dim")
    yield Text(f"by {', '.join(profile.tools) or 'nothing'} in {profile.seconds:.1f} s", style="dim")


def counters_table(profile: Profile) -> "RenderableType":
    """Known figures in the order of their table."""
    table = plain_table("figure", "", right=(1,))
    for name in COUNTERS:
        if name in profile.counters:
            table.add_row(COUNTERS[name].label, shown(name, profile.counters[name]))
    return table


def kernels_table(profile: Profile) -> "RenderableType":
    """A row for each kernel or function."""
    columns = ("time_ns", "registers", "spill_bytes", "shared_bytes", "occupancy_limit", "vector_share")
    there = [name for name in columns if any(name in kernel.counters for kernel in profile.kernels)]
    table = plain_table("kernel", *(COUNTERS[name].label for name in there), right=range(1, 9))
    for kernel in profile.kernels[:MOST_KERNELS]:
        known = kernel.counters
        table.add_row(kernel.name, *(shown(name, known[name]) if name in known else "-" for name in there))
    return table


def changes_view(found: Sequence[Change], before: str) -> "Iterator[RenderableType]":
    """What differs, the largest first."""
    from rich.text import Text

    if not found:
        return
    yield Text(f"against {before}", style="bold")
    table = plain_table("figure", "before", "after", "", right=(1, 2, 3))
    for change in found[:MOST_CHANGES]:
        name, relative = change.name, change.relative
        label = COUNTERS[name].label if name in COUNTERS else name
        part = f"{relative:+.0%}" if relative is not None else ""
        table.add_row(label, shown(name, change.before), shown(name, change.after), part)
    yield table


def changes_of(graph: Graph, node: Node) -> tuple[Change, ...]:
    """Of a node against its first parent: resources of the build, figures of the profile, kinds of instructions."""
    parent = graph.nodes[node.pick.parents[0]] if node.pick.parents else None
    return between(parent, node) if parent is not None else ()


def between(before: Node, after: Node) -> tuple[Change, ...]:
    """The same of any two."""
    old, new = alike(before, after)
    figures = changes(figures_of(before.profile, old), figures_of(after.profile, new))
    return (*figures, *changes(_opcodes(before.profile), _opcodes(after.profile)))


def ledger_view(graph: Graph) -> "Iterator[RenderableType]":
    """What writers expected and what was seen; nothing where nobody expected anything."""
    from rich.text import Text

    rows = ledger(graph.nodes)
    if not rows:
        return
    yield Text("expected and seen", style="bold")
    table = plain_table("node", "expected", "before", "after", "", "idea", right=(2, 3))
    for row in rows[-MOST_ROWS:]:
        name, seen = row.seen.expectation.counter, row.seen
        before, after = ("-" if n is None else shown(name, n) for n in (seen.before, seen.after))
        verdict = Text(seen.verdict, style=COLOURS[seen.verdict])
        table.add_row(str(row.node), seen.expectation.text, before, after, verdict, row.idea)
    yield table
    for row in rows[-MOST_ROWS:]:
        if row.seen.why:
            yield Text(f"node {row.node}: {row.seen.expectation.text}: {row.seen.why}", style="dim")
    counts = tallied(rows)
    yield Text(" · ".join(f"{verdict} {count}" for verdict, count in counts.items() if count), style="dim")


def missing_view(graph: Graph) -> "Iterator[RenderableType]":
    """Each tool that said nothing, once for the whole run."""
    from rich.text import Text

    said = dict.fromkeys(text for node in graph.nodes if node.profile for text in node.profile.missing)
    for text in said:
        yield Text(f"not seen: {text}", style="dim")


def node_profile_json(graph: Graph, node: Node) -> dict[str, Any]:
    """What `show RUN NODE --json` has of it."""
    return {
        "profile": asdict(node.profile) if node.profile else None,
        "diagnosis": asdict(node.diagnosis) if node.diagnosis else None,
        "changes": [{**asdict(change), "relative": change.relative} for change in changes_of(graph, node)],
    }


def ledger_json(graph: Graph) -> list[dict[str, Any]]:
    """The ledger for programs."""
    return [asdict(row) for row in ledger(graph.nodes)]


def _opcodes(profile: Profile | None) -> dict[str, float]:
    return dict(profile.opcodes) if profile is not None else {}
