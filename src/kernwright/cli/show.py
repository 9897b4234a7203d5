"""`kernwright show RUN [NODE]`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options, screen

LONGEST_REPLY = 4000
"""Characters that are shown of a reply that held no candidate; --json has all of it."""

if TYPE_CHECKING:
    from kernwright.core.node import Node
    from kernwright.engine.reading import RunView


def show(
    run: options.Run,
    node: Annotated[int | None, typer.Argument(metavar="[NODE]", help="One node in full.", show_default=False)] = None,
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """Show a run's graph, or one node with its source and evaluation."""
    from kernwright.engine.intake import home_of
    from kernwright.engine.reading import reading

    from .profile_view import ledger_view, missing_view
    from .run_view import baselines_view, header, nodes_view, run_json

    with reading(home_of(home), run) as view:
        if node is not None:
            _node(view, node, as_json=as_json)
        elif as_json:
            screen.emit(run_json(view))
        else:
            champion = view.graph.champion()
            mark = "* the champion" if champion else "nothing is verified yet"
            screen.show(*header(view), "", *nodes_view(view.graph), "", mark, *baselines_view(view.graph))
            if told := [*ledger_view(view.graph), *missing_view(view.graph)]:
                screen.show("", *told)


def _node(view: "RunView", number: int, *, as_json: bool) -> None:
    from rich.text import Text

    from .contract import judged
    from .profile_view import changes_of, changes_view, node_profile_json, profile_view
    from .run_view import node_json, who
    from .verdict_view import evaluation_view

    node = view.node(number)
    candidate = view.candidate(node) if node.candidate else None
    if as_json:
        files = [{"name": f.name, "text": f.text} for f in candidate.files] if candidate else None
        evaluation = judged(node.evaluation) if node.evaluation else None
        language = candidate.language if candidate else None
        screen.emit(
            {
                "run": view.id,
                **node_json(node, elsewhere=view.spec.elsewhere),
                "language": language,
                "told": view.graph.told.get(number, ()),
                "files": files,
                "reply": view.reply(node) or None,
                "evaluation": evaluation,
                **node_profile_json(view.graph, node),
                "remarks": [node_json(each) for each in _remarks(view, number)],
            }
        )
        return
    parents = f" from {', '.join(map(str, node.pick.parents))}" if node.pick.parents else ""
    screen.show(Text.assemble((f"node {number}", "bold"), f" of {view.id}: {node.pick.intent}{parents}, {who(node)}"))
    details = node_json(node, elsewhere=view.spec.elsewhere)
    for text in (details["summary"], details["approach"], *_said(details)):
        if text:
            screen.show(Text(str(text)))
    if told := view.graph.told.get(number):
        screen.show(Text(f"Told: {', '.join(told)}"))
    if details["text"]:
        print(f"\n{details['text']}")
        return
    for file in candidate.files if candidate else ():
        # Source is printed raw: it is for copying, so no line may be folded.
        screen.show(Text(f"\n--- {file.name}", style="bold"))
        print(file.text.rstrip())
    screen.show("")
    for remark in _remarks(view, number):
        screen.show(Text(f"{remark.pick.intent} by {who(remark)} (node {remark.id})", style="bold"))
        print(f"{node_json(remark)['text']}\n")
    if node.evaluation:
        screen.show(*evaluation_view(node.evaluation))
        if node.profile is not None:
            screen.show("", *profile_view(node.profile, node.diagnosis))
        screen.show(*changes_view(changes_of(view.graph, node), f"node {node.pick.parents[0]}" if parents else ""))
    else:
        screen.show(Text(f"{details['state']}: {details['reason'] or 'no evaluation yet'}"))
        if candidate is None and (said := view.reply(node)):
            screen.show(Text("\nThe reply:" if len(said) <= LONGEST_REPLY else "\nThe reply ended with:", style="bold"))
            print(said[-LONGEST_REPLY:].strip())


def _said(details: "dict[str, Any]") -> "list[str]":
    """What its writer learnt and expected."""
    learnt = [f"Insight: {text}" for text in details["insights"]]
    return learnt + [f"Expected: {text}" for text in details["expects"]]


def _remarks(view: "RunView", number: int) -> "list[Node]":
    """What was said of a node."""
    from kernwright.core.brief import Remarked

    return [node for node in view.graph.nodes if number in node.pick.parents and isinstance(node.draft, Remarked)]
