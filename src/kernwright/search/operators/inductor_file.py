"""The candidate's text around Inductor's generated code. Imports no PyTorch."""

import ast
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_HARMLESS = {"and", "or", "not", "math", "min", "max", "abs", "True", "False"}


class Refused(Exception):
    """This computation cannot be had as a file that stands alone; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """One tensor of the module, by its dotted name."""

    name: str
    kind: str
    """`parameter`, `frozen` (without gradient), `buffer`, `unsaved` (a buffer outside the state dictionary)."""
    dtype: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    same: str | None = None
    """An earlier name of the very same tensor."""
    data: str | None = None
    """Its bytes in hexadecimal digits, where they are known."""

    @property
    def text(self) -> str:
        """A Python expression."""
        return (
            f"({self.name!r}, {self.kind!r}, {self.dtype}, {self.shape}, {self.stride}, {self.same!r}, {self.data!r})"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorInput:
    """What an input must be; sizes and strides are numbers or expressions of symbols."""

    dtype: str
    sizes: tuple[str, ...]
    strides: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """Inductor's code for one graph, and where it holds."""

    key: str
    """`repr` of the list of the constructor's arguments."""
    code: str
    operands: tuple[str | int, ...]
    """What the graph is called with: names of the module's tensors, places of inputs."""
    inputs: tuple[TensorInput | str, ...]
    """A string is the `repr` that an input which is no tensor must have."""
    guards: tuple[str, ...]
    result: str
    """Expression that arranges the outputs `r[0], r[1], ...` as the module returns them."""

    def condition(self, name: str) -> str:
        """A Python function from the list of inputs to the strides that they must have, or None: not for this graph.

        Raises:
            Refused: a symbol is no size of its own, so that it cannot be read off the inputs.
        """
        lines, checks, strides = [f"if len(x) != {len(self.inputs)}:", "    return None"], [], []
        bound: dict[str, str] = {}
        for i, wanted in enumerate(self.inputs):
            if isinstance(wanted, str):
                lines += [f"if repr(x[{i}]) != {wanted!r}:", "    return None"]
                strides.append("None")
                continue
            tensor = f"not isinstance(x[{i}], torch.Tensor) or x[{i}].dtype != {wanted.dtype}"
            lines += [f"if {tensor} or x[{i}].dim() != {len(wanted.sizes)}:", "    return None"]
            strides.append(tuple_of(wanted.strides))
            checks.append(f"tuple(x[{i}].shape) == {tuple_of(wanted.sizes)}")
            for d, size in enumerate(wanted.sizes):
                if size.isidentifier():
                    bound.setdefault(size, f"{size} = x[{i}].size({d})")
        lines += bound.values()
        used = names_in(" and ".join(["True", *checks, *self.guards, tuple_of(strides)]))
        if unknown := used - set(bound) - {"x", "torch", "tuple"} - _HARMLESS:
            raise Refused(f"the graph's sizes depend on {', '.join(sorted(unknown))}, which no input shows")
        every = " and ".join(f"({check})" for check in (*checks, *self.guards)) or "True"
        lines.append(f"return {tuple_of(strides)} if {every} else None")
        return f"def {name}(x):\n" + textwrap.indent("\n".join(lines), "    ")


def expression_of(value: Any) -> str:
    """Nested tuples, lists and dictionaries of strings, each of which is an expression already.

    Raises:
        Refused: there is a container of another kind.
    """
    if isinstance(value, str):
        return value
    if type(value) is tuple:
        return tuple_of([expression_of(item) for item in value])
    if type(value) is list:
        return "[" + ", ".join(map(expression_of, value)) + "]"
    if type(value) is dict:
        return "{" + ", ".join(f"{key!r}: {expression_of(item)}" for key, item in value.items()) + "}"
    raise Refused(f"the module returns a {type(value).__name__}")


class Pieces:
    """Functions of the graphs and the imports that these need; `kernel` keeps a kernel and names it in this file."""

    def __init__(self, kernel: Callable[[str, ast.Call], str]) -> None:
        self.prelude: dict[str, None] = {}
        self.functions: list[str] = []
        self._kernel = kernel

    def add(self, name: str, code: str) -> None:
        """Take what the graph's `call` needs; it becomes a function of this name.

        Raises:
            Refused: the code holds something that does not stand alone.
        """
        tree = ast.parse(code)
        call = _call_of(tree)
        text = textwrap.dedent("\n".join(code.splitlines()[call.lineno - 1 : call.end_lineno]))
        text = re.sub(r"\Adef call\((self, )?args\):", f"def {name}(args):", text)
        used = names_in(text)
        for node in reversed(tree.body):
            match node:
                case ast.Assign(targets=[ast.Name(id=target)], value=value) if target in used:
                    if isinstance(value, ast.Call) and ast.unparse(value.func).startswith("async_compile."):
                        text = re.sub(rf"\b{target}\b", self._kernel(target, value), text)
                    else:
                        self.keep(node)
                        used |= names_in(ast.unparse(value))
                case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                    if any((alias.asname or alias.name.partition(".")[0]) in used for alias in aliases):
                        self.keep(node)
                case _:
                    pass
        self.functions.append(text)

    def keep(self, node: ast.stmt) -> None:
        """An import, or a name given at module level."""
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=ast.Constant(value=None)):
                raise Refused(f"the code needs the tensor {target}, which is not in its text")
            case _:
                self.prelude.setdefault(ast.unparse(node))

    def imports(self, *always: str) -> str:
        """What comes before everything else."""
        return "\n".join(sorted({*always, *self.prelude}, key=_order))


def assemble(
    head: Sequence[str],
    graphs: Sequence[Graph],
    states: Mapping[str, Sequence[State]],
    constants: Sequence[State],
    tail: Sequence[str] = (),
    *,
    aligned: bool = False,
) -> str:
    """The whole file: `head` defines `graph_0`, `graph_1`, ... and imports `torch` and `tree_leaves`.

    `aligned` says that the code expects addresses which are multiples of 16.
    """
    body = [*head]
    table = []
    for i, graph in enumerate(graphs):
        body.append(graph.condition(f"serves_{i}"))
        table.append(
            f"    ({graph.key!r}, serves_{i}, graph_{i}, {graph.operands!r}, lambda r: {graph.result}),  # noqa"
        )
    body.append("GRAPHS = [\n" + "\n".join(table) + "\n]")
    rows = (
        f"    {key!r}: [\n" + "".join(f"        {s.text},\n" for s in own) + "    ]," for key, own in states.items()
    )
    body.append("STATES = {\n" + "\n".join(rows) + "\n}")
    body.append("CONSTANTS = [\n" + "".join(f"    {state.text},\n" for state in constants) + "]")
    body += [_ALIGNED] if aligned else []
    body += [_MODULE.replace(_PLACE, _ALIGN if aligned else ""), *tail]
    return "\n\n".join(part.strip("\n") for part in body) + "\n"


def _order(statement: str) -> tuple[bool, str]:
    return not statement.startswith(("import", "from")), statement


def _call_of(tree: ast.Module) -> ast.FunctionDef:
    for node in tree.body:
        inside: Iterable[ast.stmt] = node.body if isinstance(node, ast.ClassDef) and node.name == "Runner" else [node]
        for inner in inside:
            if isinstance(inner, ast.FunctionDef) and inner.name == "call":
                return inner
    raise Refused("Inductor's code has no call()")


def names_in(text: str) -> set[str]:
    """Every name that this code mentions."""
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


def tuple_of(items: Sequence[str]) -> str:
    """A tuple of these expressions."""
    return "(" + ", ".join(items) + ("," if len(items) == 1 else "") + ")"


_PLACE = "@ALIGN@"
_ALIGN = """        leaves = [aligned(x) if isinstance(x, torch.Tensor) and x.data_ptr() % 16 else x for x in leaves]
"""

_ALIGNED = '''
def aligned(x):
    """A copy with the same strides; kernels read 16 bytes at once."""
    span = 1 + sum((n - 1) * s for n, s in zip(x.shape, x.stride())) if x.numel() else 0
    return x.as_strided((span,), (1,)).clone().as_strided(x.shape, x.stride())
'''

_MODULE = '''
def make(kind, dtype, shape, stride, data):
    """The bytes given; else small random numbers, so that a module whose weights were not loaded is no zero."""
    tensor = torch.empty_strided(shape, stride, dtype=dtype).zero_()
    if data is not None:
        tensor.copy_(torch.frombuffer(bytearray.fromhex(data), dtype=dtype).reshape(shape))
    elif kind in ("parameter", "frozen"):
        tensor.normal_(std=0.02)
    return tensor


def add(root, name, kind, dtype, shape, stride, same, data):
    """Register one tensor under its dotted name, with empty modules on the way."""
    *path, leaf = name.split(".")
    owner = root
    for part in path:
        if part not in owner._modules:
            owner.add_module(part, torch.nn.Module())
        owner = owner._modules[part]
    tensor = make(kind, dtype, shape, stride, data) if same is None else None
    if kind in ("parameter", "frozen"):
        known = root.get_parameter(same) if same is not None else None
        made = known if known is not None else torch.nn.Parameter(tensor, requires_grad=kind == "parameter")
        owner.register_parameter(leaf, made)
        return owner._parameters, leaf
    owner.register_buffer(leaf, tensor if same is None else root.get_buffer(same), persistent=kind == "buffer")
    return owner._buffers, leaf


def laid_out(tensor, strides):
    """Whether the tensor has these strides wherever they matter."""
    return all(n < 2 or a == b for n, a, b in zip(tensor.shape, tensor.stride(), strides))


class ModelNew(torch.nn.Module):
    """For inference: weights are inputs of every call, gradients are not computed."""

    def __init__(self, *args):
        super().__init__()
        key = repr(list(args))
        if key not in STATES:
            raise ValueError(f"compiled for the constructor arguments {list(STATES)}, not for {key}")
        constants = {name: make("buffer", *rest, data) for name, _, *rest, _, data in CONSTANTS}
        self._places = {name: (constants, name) for name in constants}
        for state in STATES[key]:
            self._places[state[0]] = add(self, *state)
        self._graphs = [graph[1:] for graph in GRAPHS if graph[0] == key]
        self._known = {}

    @torch.no_grad()
    def forward(self, *inputs):
        leaves = tree_leaves(inputs)
        seen = tuple([(x.dtype, x.shape, x.stride()) if isinstance(x, torch.Tensor) else repr(x) for x in leaves])
        graph, operands, strides, result = self._known.get(seen) or self._choose(leaves, seen)
        if strides is not None:
            leaves = [x if s is None else torch.empty_strided(x.shape, s, dtype=x.dtype, device=x.device).copy_(x)
                      for x, s in zip(leaves, strides)]
@ALIGN@        return result(graph([leaves[o] if type(o) is int else o[0][o[1]] for o in operands]))

    def _choose(self, leaves, seen):
        for serves, graph, operands, result in self._graphs:
            strides = serves(leaves)
            if strides is not None:
                fits = all(s is None or laid_out(x, s) for x, s in zip(leaves, strides))
                places = [o if type(o) is int else self._places[o] for o in operands]
                self._known[seen] = (graph, places, None if fits else strides, result)
                return self._known[seen]
        raise ValueError(f"not compiled for inputs such as {seen}")
'''
