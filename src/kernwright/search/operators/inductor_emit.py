"""Inductor's code for a problem, as text: the child process of the compiler operator.

Reads one JSON object on standard input (`source`, `entry`, `workloads`, `patches`, `any_shape`, `threads`) and writes
one on standard output: `{"text": ...}`, or `{"reason": ...}` where this problem cannot be had this way. The C++ is
generated here and compiled by whoever imports the text.
"""

import ctypes
import inspect
import json
import os
import random
import signal
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch._functorch.config
import torch._inductor.config as inductor_config
from torch._inductor.compile_fx import compile_fx, compile_fx_inner
from torch._inductor.cpu_vec_isa import pick_vec_isa
from torch._inductor.graph import GraphLowering
from torch.export.graph_signature import InputKind
from torch.utils import _pytree as pytree
from torch.utils._sympy.printers import PythonPrinter

from kernwright.search.operators.inductor_file import Graph, Refused, State, TensorInput, expression_of, render

EMBEDDED_BYTES = 8 << 10
"""Constants up to this size are written into the text."""
ALWAYS = {
    "cpp.vec_isa_ok": True,  # the processor's flags decide; trying each one out costs seconds in every fresh cache
    "cpp.descriptive_names": False,
    "fx_graph_cache": False,
    "fx_graph_remote_cache": False,
    "graph_partition": False,
    "compile_threads": 1,
    "size_asserts": False,  # shapes and strides are looked at before a graph is chosen
    "alignment_asserts": False,
}
PR_SET_PDEATHSIG = 1
AT_BUILD = ("cpp.simdlen", "cpp.enable_floating_point_contract_flag", "cpp.enable_unsafe_math_opt_flag")
"""Settings that also decide how the C++ is compiled, so the text sets them."""


class _Written(Exception):
    """Ends a compilation once its text is known."""


@dataclass(slots=True)
class _Model:
    """The reference, made for one workload."""

    key: str
    module: torch.nn.Module
    inputs: list[Any]


def emit(order: Mapping[str, Any]) -> str:
    """The candidate's text.

    Raises:
        Refused: the computation cannot be had as a graph, or the graph as text that stands alone.
    """
    torch.set_num_threads(order["threads"])
    patches = order["patches"]
    if missing := [name for name in patches if not _is_setting(name)]:
        raise Refused(f"this PyTorch has no setting {missing[0]}")
    with _patched(ALWAYS):
        widest = pick_vec_isa().bit_width()
    if patches.get("cpp.simdlen", 0) >= widest > 0:
        raise Refused(f"vectors have {widest} bits here anyway")
    models = [(_make(order, load["params"]), load["held_out"]) for load in order["workloads"]]
    constants: dict[str, torch.Tensor] = {}
    graphs = _graphs(models, order, constants)
    states = {}
    for (model, _), load in zip(models, order["workloads"], strict=True):
        if model.key not in states:
            states[model.key] = _states(model.module, _make(order, load["params"], seed=1).module)
    with _patched({**ALWAYS, **patches}):
        isa = pick_vec_isa()
    return render(
        graphs=graphs,
        states=states,
        constants=[_state(name, tensor, "buffer", value=tensor) for name, tensor in constants.items()],
        patches={
            "cpp.vec_isa_ok": True,
            "cpp.simdlen": isa.bit_width() or 1,
            **{name: value for name, value in patches.items() if name in AT_BUILD},
        },
        lanes=isa.nelements(torch.float32) if isa else 0,
        origin=f"torch {torch.__version__}",
    )


def _graphs(
    models: Sequence[tuple[_Model, bool]], order: Mapping[str, Any], constants: dict[str, torch.Tensor]
) -> list[Graph]:
    """One graph for each timed workload's shapes, and as few as serve any other shape after them.

    A graph for any shape is made for every set of constructor arguments, since these change parameters and constants,
    and for a held-out workload that none of those serves.
    """
    exact: list[Graph] = []
    general: list[Graph] = []
    for model, held_out in models:
        if not (order["any_shape"] or held_out or _served(model, exact)):
            exact.append(_graph(model, order, constants, any_shape=False))
    for model, held_out in models:
        if _served(model, general) or not (held_out or model.key not in {graph.key for graph in general}):
            continue
        try:
            graph = _graph(model, order, constants, any_shape=True)
            graph.condition("serves")
        except Refused:
            if _served(model, exact):
                continue
            graph = _graph(model, order, constants, any_shape=False)
        general.append(graph)
    return list(dict.fromkeys([*exact, *general]))


def _served(model: _Model, graphs: Sequence[Graph]) -> bool:
    for graph in graphs:
        if graph.key == model.key:
            scope: dict[str, Any] = {"torch": torch}
            exec(graph.condition("serves"), scope)
            if scope["serves"](pytree.tree_leaves(model.inputs)) is not None:
                return True
    return False


def _make(order: Mapping[str, Any], params: Mapping[str, Any], seed: int = 0) -> _Model:
    module = types.ModuleType("kernwright_problem")
    sys.modules[module.__name__] = module
    torch.manual_seed(seed)
    random.seed(seed)
    exec(compile(order["source"], "<problem>", "exec"), module.__dict__)
    init = list(_given(getattr(module, "get_init_inputs", list), params))
    model = getattr(module, order["entry"])(*init).eval()
    if not isinstance(model, torch.nn.Module):
        raise Refused(f"{order['entry']} is no torch.nn.Module")
    return _Model(key=repr(init), module=model, inputs=list(_given(module.get_inputs, params)))


def _given(function: Callable[..., Any], params: Mapping[str, Any]) -> Any:
    if function is list:
        return []
    accepted = inspect.signature(function).parameters
    if any(p.kind is p.VAR_KEYWORD for p in accepted.values()):
        return function(**params)
    return function(**{name: value for name, value in params.items() if name in accepted})


def _graph(model: _Model, order: Mapping[str, Any], constants: dict[str, torch.Tensor], *, any_shape: bool) -> Graph:
    program = _export(model, any_shape)
    module = program.graph_module
    placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
    operands, values, inputs = [], [], []
    given = iter(pytree.tree_leaves(model.inputs))
    for node, name in zip(placeholders, _operands(program, constants), strict=True):
        value = node.meta.get("val")
        if isinstance(name, int):
            inputs.append(_wanted(value, next(given)))
        if isinstance(value, torch.Tensor):
            operands.append(name)
            values.append(value)
        elif node.users:
            raise Refused(f"the input {node.name} is no tensor and the graph depends on it")
        else:
            module.graph.erase_node(node)
    results = _results(module)
    code = _inductor_code(module, values, {**ALWAYS, **order["patches"]})
    return Graph(
        key=model.key,
        code=code,
        operands=tuple(operands),
        inputs=tuple(inputs),
        guards=_guards(values),
        result=expression_of(pytree.tree_unflatten(results, program.call_spec.out_spec)),
    )


def _results(module: Any) -> list[str]:
    """An expression for each output; those that are no tensors leave the graph and become literals."""
    last = list(module.graph.nodes)[-1]
    texts: list[str] = []
    kept: list[torch.fx.Node] = []
    for item in last.args[0]:
        if isinstance(item, torch.fx.Node):
            texts.append(f"r[{len(kept)}]")
            kept.append(item)
        else:
            texts.append(repr(item))
    last.args = (tuple(kept),)
    module.graph.lint()
    module.recompile()
    return texts


def _export(model: _Model, any_shape: bool) -> Any:
    dynamic = _any_shape(model) if any_shape else None
    try:
        with torch.no_grad():
            return torch.export.export(model.module, tuple(model.inputs), dynamic_shapes=dynamic, strict=False)
    except Exception as error:
        raise Refused(f"the computation cannot be captured as a graph: {_first_line(error)}") from error


def _any_shape(model: _Model) -> tuple[Any, ...]:
    """All sizes free, nested as forward's signature has it: what `*inputs` takes is one tuple."""
    auto = torch.export.Dim.AUTO
    dynamic = tuple(
        pytree.tree_map(lambda x: {i: auto for i in range(x.dim())} if isinstance(x, torch.Tensor) else None, x)
        for x in model.inputs
    )
    kinds = [p.kind for p in inspect.signature(model.module.forward).parameters.values()]
    star = kinds.index(inspect.Parameter.VAR_POSITIONAL) if inspect.Parameter.VAR_POSITIONAL in kinds else None
    return dynamic if star is None else (*dynamic[:star], dynamic[star:])


def _operands(program: Any, constants: dict[str, torch.Tensor]) -> list[str | int]:
    """For each placeholder the dotted name of a tensor of the module, or the place of an input."""
    signature = program.graph_signature
    if signature.buffers_to_mutate or signature.user_inputs_to_mutate:
        raise Refused("the computation changes its inputs or buffers")
    names: list[str | int] = []
    place = 0
    for spec in signature.input_specs:
        match spec.kind:
            case InputKind.USER_INPUT:
                names.append(place)
                place += 1
            case InputKind.PARAMETER | InputKind.BUFFER:
                names.append(spec.target)
            case InputKind.CONSTANT_TENSOR:
                names.append(_constant(program.constants[spec.target], constants))
            case _:
                raise Refused(f"the graph takes a {spec.kind.name.lower()}, which has no text")
    return names


def _constant(tensor: torch.Tensor, constants: dict[str, torch.Tensor]) -> str:
    if tensor.nbytes > EMBEDDED_BYTES:
        raise Refused(f"the module holds a tensor of {tensor.numel()} elements that is neither parameter nor buffer")
    for name, known in constants.items():
        if known.dtype == tensor.dtype and torch.equal(known, tensor):
            return name
    name = f"constant.{len(constants)}"
    constants[name] = tensor.detach().clone()
    return name


def _inductor_code(module: Any, values: Sequence[Any], patches: Mapping[str, Any]) -> str:
    written: list[str] = []
    outputs = len(list(module.graph.nodes)[-1].args[0])

    def inner(gm: Any, example_inputs: Sequence[Any], **options: Any) -> Any:
        count = len([n for n in gm.graph.nodes if n.op == "placeholder"])
        results = len(list(gm.graph.nodes)[-1].args[0])
        if (count, results) != (len(values), outputs):
            raise Refused("PyTorch wraps this graph in code of its own (outputs that alias, or inputs that change)")
        return compile_fx_inner(gm, example_inputs, **options)

    try:
        with torch.no_grad(), _patched(patches), _capturing(written):
            compile_fx(module, list(values), inner_compile=inner)
    except Exception as error:
        if not written:
            raise Refused(f"Inductor gives no code: {_first_line(error)}") from error
    if not written:
        raise Refused("Inductor gives no code: there is nothing to compute")
    return written[-1]


@contextmanager
def _capturing(written: list[str]) -> Iterator[None]:
    """Takes the text from Inductor's own hook and stops it before the C++ is compiled."""

    def take(code: str) -> None:
        written.append(code)
        raise _Written

    hook = "save_output_code"
    original = vars(GraphLowering)[hook]
    setattr(GraphLowering, hook, staticmethod(take))
    try:
        yield
    finally:
        setattr(GraphLowering, hook, original)


@contextmanager
def _patched(patches: Mapping[str, Any]) -> Iterator[None]:
    """Inductor's settings, those aside that this version does not have."""
    with (
        inductor_config.patch({name: value for name, value in patches.items() if _is_setting(name)}),
        torch._functorch.config.patch({"enable_autograd_cache": False}),
    ):
        yield


def _is_setting(name: str) -> bool:
    group, _, leaf = name.rpartition(".")
    return hasattr(getattr(inductor_config, group) if group else inductor_config, leaf)


def _wanted(value: Any, given: Any) -> TensorInput | str:
    if not isinstance(value, torch.Tensor):
        return repr(given)
    printer = PythonPrinter()

    def text(n: Any) -> str:
        return str(printer.doprint(n.node.expr)) if isinstance(n, torch.SymInt) else str(n)

    sizes, strides = tuple(map(text, value.shape)), tuple(map(text, value.stride()))
    return TensorInput(dtype=str(value.dtype), sizes=sizes, strides=strides)


def _guards(values: Sequence[Any]) -> tuple[str, ...]:
    """Conditions on the symbols under which the graph holds, as Python expressions."""
    sizes = [n for value in values for n in (*value.shape, *value.stride()) if isinstance(n, torch.SymInt)]
    if not sizes:
        return ()
    env = sizes[0].node.shape_env
    symbols = set().union(*(n.node.expr.free_symbols for n in sizes))
    printer = PythonPrinter()
    conditions = []
    for symbol in sorted(symbols, key=str):
        bounds = env.var_to_range[symbol]
        conditions.append(f"{symbol} >= {max(0, int(bounds.lower))}")
        if bounds.upper < 2**62:
            conditions.append(f"{symbol} <= {int(bounds.upper)}")
    for guard in env.guards:
        expr = env.replace(guard.expr)
        if expr.free_symbols and expr.free_symbols <= symbols:
            conditions.append(str(printer.doprint(expr)))
    return tuple(dict.fromkeys(conditions))


def _states(module: torch.nn.Module, again: torch.nn.Module) -> list[State]:
    """Parameters and buffers in the module's own order; `again` is the same module from another seed."""
    states = []
    first: dict[int, str] = {}
    for name, weight in module.named_parameters(remove_duplicate=False):
        kind = "parameter" if weight.requires_grad else "frozen"
        states.append(_state(name, weight, kind, same=first.setdefault(id(weight), name)))
    other = dict(again.named_buffers(remove_duplicate=False))
    for name, tensor in module.named_buffers(remove_duplicate=False):
        owner, _, leaf = name.rpartition(".")
        kind = "unsaved" if leaf in module.get_submodule(owner)._non_persistent_buffers_set else "buffer"
        fixed = tensor.nbytes <= EMBEDDED_BYTES and torch.equal(tensor, other[name])
        same = first.setdefault(id(tensor), name)
        states.append(_state(name, tensor, kind, same=same, value=tensor if fixed else None))
    return states


def _state(
    name: str, tensor: torch.Tensor, kind: str, same: str | None = None, value: torch.Tensor | None = None
) -> State:
    data = None
    if value is not None and value.numel():
        flat = value.detach().contiguous().reshape(-1).view(torch.uint8)
        data = bytes(flat.tolist()).hex()
    return State(
        name=name,
        kind=kind,
        dtype=str(tensor.dtype),
        shape=tuple(tensor.shape),
        stride=tuple(tensor.stride()),
        same=None if same == name else same,
        data=data,
    )


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]


def main() -> None:
    """Answer one order. What the problem's code prints goes to standard error."""
    # With its engine killed there is nobody left to answer.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    reply, order = os.fdopen(os.dup(1), "w"), json.load(sys.stdin)
    os.dup2(2, 1)
    try:
        answer = {"text": emit(order)}
    except Exception as error:
        kind = "" if isinstance(error, Refused) else f"{type(error).__name__}: "
        answer = {"reason": kind + _first_line(error)}
    json.dump(answer, reply)
    reply.flush()


if __name__ == "__main__":
    main()
