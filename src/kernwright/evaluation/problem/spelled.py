"""What a problem's source spells out, which nothing runs for."""

import ast

GENERATORS = frozenset({"get_inputs", "get_init_inputs"})


def outside_generators(source: str) -> list[ast.stmt]:
    """A problem's statements but for the functions that draw its inputs."""
    tree = ast.parse(source).body
    return [node for node in tree if not (isinstance(node, ast.FunctionDef) and node.name in GENERATORS)]
