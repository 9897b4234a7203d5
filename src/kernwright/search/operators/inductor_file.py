"""The candidate's text around Inductor's generated code. Imports no PyTorch."""

import ast
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_KERNEL = re.compile(r'extern\s+"C"\s+((?:\w+\s+)*?void)\s+kernel\s*\(')
_INCLUDE = re.compile(r"^[ \t]*#include.*\n", re.MULTILINE)
_CTYPES = {"double": "c_double", "float": "c_float", "bool": "c_bool", "int": "c_int"}
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
            strides.append(_tuple(wanted.strides))
            checks.append(f"tuple(x[{i}].shape) == {_tuple(wanted.sizes)}")
            for d, size in enumerate(wanted.sizes):
                if size.isidentifier():
                    bound.setdefault(size, f"{size} = x[{i}].size({d})")
        lines += bound.values()
        used = _names(" and ".join(["True", *checks, *self.guards, _tuple(strides)]))
        if unknown := used - set(bound) - {"x", "torch", "tuple"} - _HARMLESS:
            raise Refused(f"the graph's sizes depend on {', '.join(sorted(unknown))}, which no input shows")
        every = " and ".join(f"({check})" for check in (*checks, *self.guards)) or "True"
        lines.append(f"return {_tuple(strides)} if {every} else None")
        return f"def {name}(x):\n" + textwrap.indent("\n".join(lines), "    ")


def expression_of(value: Any) -> str:
    """Nested tuples, lists and dictionaries of strings, each of which is an expression already.

    Raises:
        Refused: there is a container of another kind.
    """
    if isinstance(value, str):
        return value
    if type(value) is tuple:
        return _tuple([expression_of(item) for item in value])
    if type(value) is list:
        return "[" + ", ".join(map(expression_of, value)) + "]"
    if type(value) is dict:
        return "{" + ", ".join(f"{key!r}: {expression_of(item)}" for key, item in value.items()) + "}"
    raise Refused(f"the module returns a {type(value).__name__}")


class _Pieces:
    """C++ kernels, Python functions and the imports that these need, gathered over all graphs."""

    def __init__(self) -> None:
        self.kernels: dict[tuple[str, str], str] = {}
        self.prelude: dict[str, None] = {}
        self.functions: list[str] = []

    def add(self, name: str, code: str) -> None:
        """Take what the graph's `call` needs; it becomes a function of this name.

        Raises:
            Refused: the code holds something that does not stand alone.
        """
        tree = ast.parse(code)
        call = _call_of(tree)
        text = textwrap.dedent("\n".join(code.splitlines()[call.lineno - 1 : call.end_lineno]))
        text = re.sub(r"\Adef call\((self, )?args\):", f"def {name}(args):", text)
        used = _names(text)
        for node in reversed(tree.body):
            match node:
                case ast.Assign(targets=[ast.Name(id=target)], value=value) if target in used:
                    if _is_generator(value):
                        text = re.sub(rf"\b{target}\b", self._kernel(value), text)
                    else:
                        self._keep(target, node)
                        used |= _names(ast.unparse(value))
                case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                    if any((alias.asname or alias.name.partition(".")[0]) in used for alias in aliases):
                        self._keep("", node)
                case _:
                    pass
        self.functions.append(text)

    def _keep(self, target: str, node: ast.stmt) -> None:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value is None:
            raise Refused(f"the code needs the tensor {target}, which is not in its text")
        self.prelude.setdefault(ast.unparse(node))

    def _kernel(self, value: ast.expr) -> str:
        assert isinstance(value, ast.Call)
        if not isinstance(value.func, ast.Attribute) or value.func.attr != "cpp_pybinding":
            raise Refused(f"the code holds a kernel by {ast.unparse(value.func)}, not C++ for the processor")
        types, source = (ast.literal_eval(argument) for argument in value.args[:2])
        kinds = _tuple([_ctype(kind) for kind in types])
        return self.kernels.setdefault((kinds, source), f"kernel_{len(self.kernels)}")

    def source(self, lanes: int) -> str:
        """One translation unit with all kernels, so that the headers are read once."""
        parts = ["#include <torch/csrc/inductor/cpp_prefix.h>"]
        if lanes:
            parts.append(
                f"static_assert(at::vec::Vectorized<float>::size() == {lanes},\n"
                '              "generated for vectors of another width");'
            )
        for (_, source), name in self.kernels.items():
            text, count = _KERNEL.subn(lambda m, name=name: f'extern "C" {m[1]} {name}(', source)  # type: ignore[misc]
            if count != 1 or "'''" in text:
                raise Refused("a kernel's C++ has a form that is not known")
            parts += sorted(set(_INCLUDE.findall(text)) - _prefix_includes(text))
            parts.append(f"namespace of_{name} {{\n{_INCLUDE.sub('', text).strip()}\n}}")
        return "\n".join(parts) + "\n"


def render(
    *,
    graphs: Sequence[Graph],
    states: Mapping[str, Sequence[State]],
    constants: Sequence[State],
    patches: Mapping[str, Any],
    lanes: int,
    origin: str,
) -> str:
    """The whole file. `lanes` is how many floats a vector has, 0 where the code uses none."""
    pieces = _Pieces()
    conditions, table = [], []
    for i, graph in enumerate(graphs):
        pieces.add(f"graph_{i}", graph.code)
        conditions.append(graph.condition(f"serves_{i}"))
        table.append(
            f"    ({graph.key!r}, serves_{i}, graph_{i}, {graph.operands!r}, lambda r: {graph.result}),  # noqa"
        )
    body = [
        f'"""Code by Inductor ({origin}) as a file that stands alone: it needs PyTorch and a C++ compiler."""',
        "import ctypes",
        "\n".join(sorted({"import torch", "import torch._inductor.config", *pieces.prelude}, key=_order)),
        "from torch._inductor.codecache import CppCodeCache\nfrom torch.utils._pytree import tree_leaves",
    ]
    if pieces.kernels:
        body.append(f"SOURCE = r'''\n{pieces.source(lanes)}'''")
        body.append(f"with torch._inductor.config.patch({dict(patches)!r}):\n    library = CppCodeCache.load(SOURCE)")
        body.append(_BIND)
        body.append("\n".join(f"{name} = bind({name!r}, {kinds})" for (kinds, _), name in pieces.kernels.items()))
    body += pieces.functions + conditions
    body.append("GRAPHS = [\n" + "\n".join(table) + "\n]")
    rows = (
        f"    {key!r}: [\n" + "".join(f"        {s.text},\n" for s in own) + "    ]," for key, own in states.items()
    )
    body.append("STATES = {\n" + "\n".join(rows) + "\n}")
    body.append("CONSTANTS = [\n" + "".join(f"    {state.text},\n" for state in constants) + "]")
    body.append(_MODULE)
    return "\n\n".join(part.strip("\n") for part in body) + "\n"


def _order(statement: str) -> tuple[bool, str]:
    return not statement.startswith(("import", "from")), statement


def _prefix_includes(text: str) -> set[str]:
    """Inductor names its own header by a path in its cache or by its place among PyTorch's headers."""
    return {line for line in _INCLUDE.findall(text) if "cpp_prefix.h" in line or re.search(r'"/.*\.h"', line)}


def _call_of(tree: ast.Module) -> ast.FunctionDef:
    for node in tree.body:
        inside: Iterable[ast.stmt] = node.body if isinstance(node, ast.ClassDef) and node.name == "Runner" else [node]
        for inner in inside:
            if isinstance(inner, ast.FunctionDef) and inner.name == "call":
                return inner
    raise Refused("Inductor's code has no call()")


def _is_generator(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value.func).startswith("async_compile.")


def _names(text: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


def _ctype(kind: str) -> str:
    plain = kind.replace("const", "").strip()
    if plain.endswith("*"):
        return "None"
    name = _CTYPES.get(plain) or ("c_int64" if plain in ("int64_t", "long") else None)
    if name is None:
        raise Refused(f"a kernel takes a {plain}, which has no counterpart in ctypes")
    return f"ctypes.{name}"


def _tuple(items: Sequence[str]) -> str:
    return "(" + ", ".join(items) + ("," if len(items) == 1 else "") + ")"


_BIND = '''
def bind(name, kinds):
    """A kernel of the library as a function; a kind of None is a tensor, passed by its address."""
    function = getattr(library, name)
    function.argtypes = [kind or ctypes.c_void_p for kind in kinds]
    function.restype = None
    tensors = [kind is None for kind in kinds]

    def call(*args):
        function(*[arg.data_ptr() if tensor else arg for arg, tensor in zip(args, tensors)])

    return call
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


constants = {name: make("buffer", *rest, data) for name, _, *rest, _, data in CONSTANTS}


class ModelNew(torch.nn.Module):
    """For inference: weights are inputs of every call, gradients are not computed."""

    def __init__(self, *args):
        super().__init__()
        key = repr(list(args))
        if key not in STATES:
            raise ValueError(f"compiled for the constructor arguments {list(STATES)}, not for {key}")
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
            leaves = [x if s is None else torch.empty_strided(x.shape, s, dtype=x.dtype).copy_(x)
                      for x, s in zip(leaves, strides)]
        return result(graph([leaves[o] if type(o) is int else o[0][o[1]] for o in operands]))

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
