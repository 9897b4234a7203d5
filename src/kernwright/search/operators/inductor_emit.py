"""Inductor's code for a problem, as text: the child process of the compiler operator.

Reads one JSON object on standard input (`source`, `entry`, `target`, `tf32`, `dtype`, `threads`, `workloads`,
`settings`) and writes one line of JSON per setting on standard output, in their order: `{"text": ...}`, or
`{"reason": ...}` where the problem cannot be had this way.
"""

import ctypes
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import torch
from torch.utils import _pytree as pytree

from kernwright.core.errors import first_line

from .inductor_file import Graph, Refused, State
from .inductor_gpu import Gpu
from .inductor_graph import graph_of, is_setting
from .inductor_models import Model
from .inductor_processor import Processor

ALWAYS = {
    "fx_graph_cache": False,
    "fx_graph_remote_cache": False,
    "graph_partition": False,
    "compile_threads": 1,
    "alignment_asserts": False,
}
PR_SET_PDEATHSIG = 1


def emit(order: Mapping[str, Any], setting: Mapping[str, Any]) -> str:
    """The candidate's text under one setting (`patches`, `any_shape`).

    Raises:
        Refused: the computation cannot be had as a graph, or the graph as text that stands alone.
    """
    patches = setting["patches"]
    if missing := [name for name in patches if not is_setting(name)]:
        raise Refused(f"this PyTorch has no setting {missing[0]}")
    on_processor = order["target"].startswith("cpu:")
    device: Processor | Gpu = (Processor if on_processor else Gpu)(order, {**ALWAYS, **patches})
    with device.there() if isinstance(device, Gpu) else nullcontext():
        models = [(device.make(load["params"]), load["held_out"]) for load in order["workloads"]]
        graphs = _graphs(models, device, any_shape=setting["any_shape"])
        states: dict[str, list[State]] = {}
        for (model, _), load in zip(models, order["workloads"], strict=True):
            if model.key not in states:
                states[model.key] = device.states(model, load["params"])
        return device.text(graphs, states)


def _graphs(models: Sequence[tuple[Model, bool]], device: Processor | Gpu, *, any_shape: bool) -> list[Graph]:
    """One graph for each timed workload's shapes, and as few as serve any other shape after them.

    A graph for any shape is made for every set of constructor arguments, since these change parameters and constants,
    and for a held-out workload that none of those serves. Where there is but one workload and kernels are slow to
    compile it is left out, unless it was asked for.
    """

    def graph(model: Model, *, any_shape: bool) -> Graph:
        constant = partial(device.constant, model)
        return graph_of(model, device.patches, constant, any_shape=any_shape, device=device.name)

    exact: list[Graph] = []
    general: list[Graph] = []
    for model, held_out in models:
        if not (any_shape or held_out or _served(model, exact)):
            exact.append(graph(model, any_shape=False))
    if device.slow_to_compile and len(models) == 1 and exact:
        return exact
    for model, held_out in models:
        needed = any_shape or held_out or model.key not in {graph.key for graph in general}
        if not needed or _served(model, general):
            continue
        try:
            found = graph(model, any_shape=True)
            found.condition("serves")
        except Refused:
            if _served(model, exact):
                continue
            found = graph(model, any_shape=False)
        general.append(found)
    return list(dict.fromkeys([*exact, *general]))


def _served(model: Model, graphs: Sequence[Graph]) -> bool:
    for graph in graphs:
        if graph.key == model.key:
            scope: dict[str, Any] = {"torch": torch}
            exec(graph.condition("serves"), scope)
            if scope["serves"](pytree.tree_leaves(model.inputs)) is not None:
                return True
    return False


def main() -> None:
    """Answer one order. What the problem's code prints goes to standard error."""
    # With its engine killed there is nobody left to answer.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    reply, order = os.fdopen(os.dup(1), "w"), json.load(sys.stdin)
    os.dup2(2, 1)
    for setting in order["settings"]:
        try:
            answer = {"text": emit(order, setting)}
        except Exception as error:
            kind = "" if isinstance(error, Refused) else f"{type(error).__name__}: "
            answer = {"reason": kind + first_line(error)}
        print(json.dumps(answer), file=reply, flush=True)
        torch._dynamo.reset()


if __name__ == "__main__":
    main()
