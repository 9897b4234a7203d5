"""Inductor's Triton kernels as functions inside the candidate's text. Imports no PyTorch."""

import ast
import re
from collections.abc import Mapping, Sequence

from .inductor_file import Graph, Pieces, Refused, State, assemble

_STREAM = "_cuda_getCurrentRawStream"
_EXTERN = re.compile(r"\bextern_kernels\.(mm|addmm|bmm|baddbmm|convolution)\(")
"""Inductor's names for functions of PyTorch; importing them from Inductor costs a second."""
_ELSEWHERE = re.compile(rf"{_STREAM}|copy_if_misaligned|^\s+assert_size_stride\(arg|^\s+torch\.cuda\.set_device\(")
"""Streams, devices and inputs are seen to elsewhere: by this file, and by the guard around the launches."""
_ASSERTION = re.compile(r"^(\s+)assert_size_stride\((\w+), .*$")


class _Kernels:
    """Triton functions gathered over all graphs; what is the same up to its names is kept once."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        """The kernel's name -> its source, with the functions that it calls."""
        self.imports: dict[str, None] = {}
        self._known: dict[str, str] = {}
        self._taken: set[str] = set()

    def name(self, target: str, call: ast.Call) -> str:
        """The kernel's name in this file.

        Raises:
            Refused: it is no Triton kernel, or its source holds what is not known.
        """
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "triton":
            raise Refused(f"the code holds a kernel by {ast.unparse(call.func)}, not in Triton")
        kernel, source = (str(ast.literal_eval(argument)) for argument in call.args[:2])
        functions, text = self._functions(source)
        if kernel not in functions:
            raise Refused(f"the source of {kernel} does not define it")
        anonymous = _renamed(text, {name: f"_{i}" for i, name in enumerate(functions)})
        if anonymous not in self._known:
            new = {name: self._free(name) for name in functions}
            self.texts[new[kernel]] = _renamed(text, new)
            self._known[anonymous] = new[kernel]
        return self._known[anonymous]

    def _functions(self, source: str) -> tuple[list[str], str]:
        """Names and text of the functions in a kernel's source; its imports are kept."""
        names, texts, lines = [], [], source.splitlines()
        for node in ast.parse(source).body:
            match node:
                case ast.FunctionDef():
                    names.append(node.name)
                    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                    texts.append("\n".join(lines[first - 1 : node.end_lineno]))
                case ast.Import() | ast.ImportFrom():
                    self.imports.setdefault(ast.unparse(node))
                case ast.Expr(value=ast.Call() | ast.Constant()):
                    pass  # it chooses the driver, which a launch does again, and is in the way where no device is
                case _:
                    raise Refused(f"a kernel's source has a form that is not known: {ast.unparse(node)[:80]}")
        return names, "\n\n\n".join(texts)

    def _free(self, name: str) -> str:
        number, found = 0, name
        while found in self._taken:
            number += 1
            found = f"{name}_{number}"
        self._taken.add(found)
        return found


def render(
    *,
    graphs: Sequence[Graph],
    states: Mapping[str, Sequence[State]],
    constants: Sequence[State],
    origin: str,
) -> str:
    """The whole file."""
    kernels = _Kernels()
    pieces = Pieces(kernels.name)
    for i, graph in enumerate(graphs):
        pieces.add(f"graph_{i}", _plain(graph.code))
    head = [
        f'"""Code by Inductor ({origin}) as a file that stands alone: it needs PyTorch and Triton."""',
        pieces.imports("import os", "import torch", *kernels.imports),
        "from torch.utils._pytree import tree_leaves",
        _STREAM_OF,
        _LAYOUT,
        *kernels.texts.values(),
        *pieces.functions,
    ]
    tail = [_AHEAD.replace("@KERNELS@", ", ".join(kernels.texts))] if kernels.texts else []
    return assemble(head, graphs, states, constants, tail, aligned=True)


def _plain(code: str) -> str:
    """The code without what this file does itself or what only some versions of PyTorch have."""
    lines = []
    for line in code.splitlines():
        if _ELSEWHERE.search(line):
            continue
        line = _ASSERTION.sub(lambda m: f"{m[1]}{m[2]} = laid_out_as({m[2]}, {_strides(m[0])})", line)
        lines.append(_EXTERN.sub(lambda m: f"torch.{m[1]}(", line))
    return "\n".join(lines) + "\n"


def _strides(statement: str) -> str:
    """The strides that `assert_size_stride(buffer, sizes, strides, ...)` asks for."""
    call = ast.parse(statement.strip(), mode="eval").body
    assert isinstance(call, ast.Call)
    return ast.unparse(call.args[2])


def _renamed(text: str, names: Mapping[str, str]) -> str:
    if not names:
        return text
    pattern = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    return re.sub(rf"\b(?:{pattern})\b", lambda m: names[m[0]], text)


_STREAM_OF = f"""
# A PyTorch without CUDA has no streams, and can still compile the kernels.
get_raw_stream = getattr(torch._C, "{_STREAM}", None)
"""

_LAYOUT = '''
def laid_out_as(x, strides):
    """A library's result with the strides that the kernels after it read; mostly it has them."""
    if x.stride() == strides:
        return x
    return torch.empty_strided(x.shape, strides, dtype=x.dtype, device=x.device).copy_(x)
'''

_AHEAD = """
if os.environ.get("KERNWRIGHT_BUILDING"):
    # No device is here: Triton's cache is filled for the chip that the kernels name.
    triton_helpers.set_driver_to_gpu = lambda: None
    for kernel in [@KERNELS@]:
        kernel.precompile(warm_cache_only=True)
"""
