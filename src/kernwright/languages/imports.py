"""What a source imports, read off its tree: a docstring or comment that only mentions a module decides nothing."""

import ast
import re
import warnings
from collections.abc import Iterator, Mapping
from functools import lru_cache

_BY_NAME = ("import_module", "__import__")
"""Functions that import the module whose name they are given."""
INLINED = "# --- the loader, from "
"""Stands, with a module's name, as a line before that module's text in a file that has it in place of the import."""


def imports(files: Mapping[str, str], module: str) -> bool:
    """Whether any of these files imports the module, or something of it, at any depth, or has it inlined.

    Of a file that does not parse, the text decides: whoever mends it is told of the language that was meant.
    """
    return any(_imports(text, module) for text in files.values())


def _imports(text: str, module: str) -> bool:
    names = _imported(text)
    if names is None:
        named = re.escape(module.rpartition(".")[2])
        return re.search(rf"^[^#\n]*\b(?:import|from)\b[^#\n]*\b{named}\b", text, re.MULTILINE) is not None
    if any(name == module or name.startswith(f"{module}.") for name in names):
        return True
    return f"{INLINED}{module}" in text.splitlines()


@lru_cache(maxsize=8)  # every language asks for the same few files
def _imported(text: str) -> frozenset[str] | None:
    """Full names of the modules that a source imports, and of what it takes from them; None where it does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return frozenset(name for node in ast.walk(tree) for name in _names(node))


def _names(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module=str(module), names=names, level=0):
            yield module
            yield from (f"{module}.{alias.name}" for alias in names)
        case ast.Call(
            func=ast.Name(id=called) | ast.Attribute(attr=called), args=[ast.Constant(value=str(name)), *_]
        ) if called in _BY_NAME:
            yield name
