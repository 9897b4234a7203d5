"""Inductor's C++ kernels as one translation unit inside the candidate's text. Imports no PyTorch."""

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any

from .inductor_file import Graph, Pieces, Refused, State, assemble, tuple_of

_KERNEL = re.compile(r'extern\s+"C"\s+((?:\w+\s+)*?void)\s+kernel\s*\(')
_INCLUDE = re.compile(r"^[ \t]*#include.*\n", re.MULTILINE)
_CTYPES = {"double": "c_double", "float": "c_float", "bool": "c_bool", "int": "c_int"}


class _Kernels:
    """C++ kernels gathered over all graphs, by their argument kinds and source."""

    def __init__(self) -> None:
        self.names: dict[tuple[str, str], str] = {}

    def name(self, target: str, call: ast.Call) -> str:
        """The kernel's name in this file."""
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "cpp_pybinding":
            raise Refused(f"the code holds a kernel by {ast.unparse(call.func)}, not C++ for the processor")
        types, source = (ast.literal_eval(argument) for argument in call.args[:2])
        kinds = tuple_of([_ctype(kind) for kind in types])
        return self.names.setdefault((kinds, source), f"kernel_{len(self.names)}")

    def source(self, lanes: int) -> str:
        """One translation unit with all kernels, so that the headers are read once."""
        parts = ["#include <torch/csrc/inductor/cpp_prefix.h>"]
        if lanes:
            parts.append(
                f"static_assert(at::vec::Vectorized<float>::size() == {lanes},\n"
                '              "generated for vectors of another width");'
            )
        for (_, source), name in self.names.items():
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
    kernels = _Kernels()
    pieces = Pieces(kernels.name)
    for i, graph in enumerate(graphs):
        pieces.add(f"graph_{i}", graph.code)
    head = [
        f'"""Code by Inductor ({origin}) as a file that stands alone: it needs PyTorch and a C++ compiler."""',
        "import ctypes",
        pieces.imports("import torch", "import torch._inductor.config"),
        "from torch._inductor.codecache import CppCodeCache\nfrom torch.utils._pytree import tree_leaves",
    ]
    if kernels.names:
        head.append(f"SOURCE = r'''\n{kernels.source(lanes)}'''")
        head.append(f"with torch._inductor.config.patch({dict(patches)!r}):\n    library = CppCodeCache.load(SOURCE)")
        head.append(_BIND)
        head.append("\n".join(f"{name} = bind({name!r}, {kinds})" for (kinds, _), name in kernels.names.items()))
    return assemble([*head, *pieces.functions], graphs, states, constants)


def _prefix_includes(text: str) -> set[str]:
    """Inductor names its own header by a path in its cache or by its place among PyTorch's headers."""
    return {line for line in _INCLUDE.findall(text) if "cpp_prefix.h" in line or re.search(r'"/.*\.h"', line)}


def _ctype(kind: str) -> str:
    plain = kind.replace("const", "").strip()
    if plain.endswith("*"):
        return "None"
    name = _CTYPES.get(plain) or ("c_int64" if plain in ("int64_t", "long") else None)
    if name is None:
        raise Refused(f"a kernel takes a {plain}, which has no counterpart in ctypes")
    return f"ctypes.{name}"


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
