"""One reference, made for one workload, as a graph and as Inductor's text for that graph."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch._functorch.config
import torch._inductor.config as inductor_config
from torch._inductor.compile_fx import compile_fx, compile_fx_inner
from torch._inductor.graph import GraphLowering
from torch.export.graph_signature import InputKind
from torch.utils import _pytree as pytree
from torch.utils._sympy.printers import PythonPrinter

from kernwright.core.errors import first_line

from .inductor_file import Graph, Refused, TensorInput, expression_of
from .inductor_models import Model


class _Written(Exception):
    """Ends a compilation once its text is known."""


Constant = Callable[[str, torch.Tensor], str]
"""Keeps a tensor that is neither parameter nor buffer, by its name in the program, and names it in the file."""


def graph_of(
    model: Model, patches: Mapping[str, Any], constant: Constant, *, any_shape: bool, device: str = "cpu"
) -> Graph:
    """Inductor's code under these settings, for the model's sizes or, `any_shape`, for symbols.

    The model's tensors are the processor's; the code is for the device.

    Raises:
        Refused: the computation cannot be had as a graph, or the graph as text.
    """
    program = _export(model, any_shape)
    module = program.graph_module
    placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
    operands, values, inputs = [], [], []
    given = iter(pytree.tree_leaves(model.inputs))
    for node, name in zip(placeholders, _operands(program, constant), strict=True):
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
    if device != "cpu":
        values = _moved(module, values, torch.device(device, 0))
    results = _results(module)
    code = _inductor_code(module, values, patches)
    return Graph(
        key=model.key,
        code=code,
        operands=tuple(operands),
        inputs=tuple(inputs),
        guards=_guards(values),
        result=expression_of(pytree.tree_unflatten(results, program.call_spec.out_spec)),
    )


def _moved(module: Any, values: Sequence[Any], device: torch.device) -> list[Any]:
    """Let a graph that was captured on the processor work on another device."""
    for node in module.graph.nodes:
        if node.op == "call_function":
            move = pytree.tree_map_only(torch.device, lambda _: device, (node.args, node.kwargs))
            node.args, node.kwargs = move
    moved = []
    for value in values:
        with value.fake_mode:
            moved.append(torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=device))
    return moved


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


def _export(model: Model, any_shape: bool) -> Any:
    dynamic = _any_shape(model) if any_shape else None
    try:
        with torch.no_grad():
            return torch.export.export(model.module, tuple(model.inputs), dynamic_shapes=dynamic, strict=False)
    except Exception as error:
        raise Refused(f"the computation cannot be captured as a graph: {first_line(error)}") from error


def _any_shape(model: Model) -> tuple[Any, ...]:
    """All sizes free, nested as forward's signature has it: what `*inputs` takes is one tuple."""
    auto = torch.export.Dim.AUTO
    dynamic = tuple(
        pytree.tree_map(lambda x: {i: auto for i in range(x.dim())} if isinstance(x, torch.Tensor) else None, x)
        for x in model.inputs
    )
    kinds = [p.kind for p in inspect.signature(model.module.forward).parameters.values()]
    star = kinds.index(inspect.Parameter.VAR_POSITIONAL) if inspect.Parameter.VAR_POSITIONAL in kinds else None
    return dynamic if star is None else (*dynamic[:star], dynamic[star:])


def _operands(program: Any, constant: Constant) -> list[str | int]:
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
                names.append(constant(spec.target, program.constants[spec.target]))
            case _:
                raise Refused(f"the graph takes a {spec.kind.name.lower()}, which has no text")
    return names


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
        with torch.no_grad(), patched(patches), _capturing(written):
            compile_fx(module, list(values), inner_compile=inner)
    except Exception as error:
        if not written:
            raise Refused(f"Inductor gives no code: {first_line(error)}") from error
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
def patched(patches: Mapping[str, Any]) -> Iterator[None]:
    """Inductor's settings, those aside that this version does not have."""
    with (
        inductor_config.patch({name: value for name, value in patches.items() if is_setting(name)}),
        torch._functorch.config.patch({"enable_autograd_cache": False}),
    ):
        yield


def is_setting(name: str) -> bool:
    """Whether this PyTorch's Inductor has it."""
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
