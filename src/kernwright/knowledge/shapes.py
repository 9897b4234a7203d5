"""Sizes of a problem's inputs and layers, as far as its text gives them as numbers. Nothing is run."""

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

Env = Mapping[str, object]
Shape = tuple[int, ...]
_MADE = frozenset("randn rand randint ones zeros empty full normal".split())
_MOST = 8
"""Inputs that are looked at."""


@dataclass(frozen=True, slots=True)
class Product:
    """Of a matrix of m x k and one of k x n, so many times."""

    m: int
    n: int
    k: int
    batch: int = 1


def function(tree: ast.AST, name: str) -> ast.FunctionDef | None:
    """The first of this name."""
    return next((n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == name), None)


def inputs_of(tree: ast.Module, env: Env) -> tuple[Shape, ...]:
    """Shapes of what `get_inputs` returns; `()` in place of one that is not made of numbers."""
    made = function(tree, "get_inputs")
    if made is None:
        return ()
    local = {
        each.id: node.value
        for node in ast.walk(made)
        if isinstance(node, ast.Assign)
        for each in node.targets
        if isinstance(each, ast.Name)
    }
    returned = next((n.value for n in ast.walk(made) if isinstance(n, ast.Return)), None)
    if isinstance(returned, ast.ListComp):
        items: Sequence[ast.expr] = [returned.elt] * 3
    else:
        items = returned.elts if isinstance(returned, ast.List | ast.Tuple) else [returned] if returned else []
    return tuple(
        _shape(local.get(each.id, each) if isinstance(each, ast.Name) else each, env) for each in items[:_MOST]
    )


def arguments_of(tree: ast.Module, model: ast.AST, env: Env) -> dict[str, object]:
    """What the constructor's parameters are, by `get_init_inputs`; with the names of `env` that it leaves."""
    made, init = function(tree, "get_init_inputs"), function(model, "__init__")
    found = dict(env)
    if made is None or init is None:
        return found
    returned = next((n.value for n in ast.walk(made) if isinstance(n, ast.Return)), None)
    if isinstance(returned, ast.List | ast.Tuple):
        given = [number(each, env) for each in returned.elts]
        found |= dict(zip([each.arg for each in init.args.args[1:]], given, strict=False))
    return found


def number(node: ast.expr | None, env: Env) -> object:
    """An integer or a tuple of them that an expression stands for; None where it is something else."""
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return value
        case ast.Name(id=name):
            known = env.get(name)
            return int(known) if isinstance(known, float) and known.is_integer() else known
        case ast.Attribute(attr=name):
            return number(ast.Name(id=name), env)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            negated = number(inner, env)
            return -negated if isinstance(negated, int) else None
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            return tuple(number(each, env) for each in elts)
        case ast.BinOp(left=left, op=ast.Mult() | ast.FloorDiv() | ast.Add() | ast.Sub() as op, right=right):
            return _arithmetic(number(left, env), op, number(right, env))
        case _:
            return None


def products(model: ast.AST, inputs: Sequence[Shape], env: Env) -> Iterator[Product]:
    """Of linear layers, and of two inputs that fit together where the model multiplies some."""
    first = next((shape for shape in inputs if len(shape) > 1), ())
    multiplied = False
    for node in ast.walk(model):
        func = node.func if isinstance(node, ast.Call) else None
        name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
        if isinstance(node, ast.Call) and name == "Linear" and len(node.args) > 1 and first:
            k, n = (number(each, env) for each in node.args[:2])
            if isinstance(k, int) and isinstance(n, int) and k > 0:
                yield Product(max(1, math.prod(first) // first[-1]), n, k)
        multiplied |= name in ("matmul", "mm", "bmm") or (
            isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
        )
    if multiplied and len(inputs) == 2 and all(inputs):
        a, b = inputs
        if len(a) > 1 and len(b) > 1 and a[-1] == b[-2]:
            yield Product(a[-2], b[-1], a[-1], math.prod(a[:-2]))
        elif len(b) == 1 and a[-1] == b[0]:
            yield Product(math.prod(a[:-1]), 1, a[-1])


def _shape(node: ast.expr, env: Env) -> Shape:
    """Of the first tensor that an expression makes: what is done to its elements leaves its shape."""
    for each in ast.walk(node):
        func = each.func if isinstance(each, ast.Call) else None
        name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
        if isinstance(each, ast.Call) and name in _MADE:
            tuples = [arg for arg in each.args if isinstance(arg, ast.Tuple | ast.List)]
            found = number(tuples[0], env) if tuples else tuple(number(arg, env) for arg in each.args)
            whole = tuple(n for n in found if isinstance(n, int) and n > 0) if isinstance(found, tuple) else ()
            return whole if isinstance(found, tuple) and len(whole) == len(found) else ()
    return ()


def _arithmetic(left: object, op: ast.operator, right: object) -> object:
    if not isinstance(left, int) or not isinstance(right, int):
        return None
    match op:
        case ast.Mult():
            return left * right
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case _:
            return left // right if right else None
