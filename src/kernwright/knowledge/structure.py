"""What a problem is built like: loops, masks, shapes of rows and products, algebra. Words as notes have them."""

import ast
import math
from collections.abc import Collection, Iterator, Mapping, Sequence

from .shapes import Product, Shape, arguments_of, function, inputs_of, number, products

_ALONG = frozenset(
    "softmax log_softmax logsumexp sum mean amax amin max min argmax argmin var std norm cumsum cumprod topk sort "
    "Softmax LogSoftmax prod var_mean normalize".split()
)
"""What works along one axis; without one along all."""
_WHOLE = frozenset("sum mean norm max min var std prod mse_loss kl_div cross_entropy smooth_l1_loss MSELoss".split())
_MASKS = frozenset("tril triu masked_fill is_causal".split())
EXPONENTIALS = frozenset(
    "softmax log_softmax exp gelu GELU silu SiLU sigmoid Sigmoid tanh Tanh softplus Softplus mish Mish logsumexp "
    "cross_entropy elu ELU selu SELU".split()
)
_NOT_ROWS = frozenset({"attention", "matmul", "convolution", "embedding", "rnn"})
"""Families whose results have other rows than the inputs."""
SHORT, LONG, FEW, NARROW = 1024, 32768, 512, 256
"""Elements of a row; rows that leave most of a device idle; what a program of its own is too much for."""
FLAT, BLOCK, ENOUGH = 64, 128, 132
"""Rows of a product that a tile is too tall for; a tile's side; tiles that fill a device."""
BEYOND = 1 << 25
"""Elements of two matrices that no cache holds together."""
SMALL = 1 << 18
"""Elements of all inputs that launches decide about rather than bytes."""


def built_like(
    tree: ast.Module, model: ast.AST, operators: Collection[str], families: Collection[str], sizes: Mapping[str, float]
) -> Iterator[str]:
    """The most telling first."""
    inputs = inputs_of(tree, sizes)
    env = arguments_of(tree, model, sizes)
    forward = function(model, "forward") or model
    found = (*_attention(forward, operators, families, inputs), *_loops(forward))
    yield from found
    yield from _algebra(forward, operators)
    yield from _channels(model, env)
    for product in products(model, inputs, env):
        yield from _product(product)
    if not set(families) & _NOT_ROWS and "attention" not in found:
        rows = tuple(_rows(model, inputs, env))
        yield from rows
        if "scan" in families and "split" in rows:
            yield from ("look-back", "single-pass")
    if "recurrence" not in found:
        yield from _made_of(operators, families)
    if inputs and all(inputs) and sum(map(math.prod, inputs)) <= SMALL:
        yield from ("small", "launch", "overhead")


def _attention(
    forward: ast.AST, operators: Collection[str], families: Collection[str], inputs: Sequence[Shape]
) -> Iterator[str]:
    """Spelt out it is a softmax between two products."""
    count = sum(_multiplies(node) for node in ast.walk(forward))
    if "attention" not in families and not ("softmax" in families and count > 1):
        return
    yield from ("attention", "flash-attention")
    # Masked means that some is skipped; the word of a sequence's end is not a mask.
    if _MASKS & set(operators) or any(isinstance(n, ast.keyword) and n.arg in _MASKS for n in ast.walk(forward)):
        yield from ("causal", "mask")
    if len(inputs) > 1 and min(map(len, inputs[:2])) > 1 and len(inputs[0]) > 2 and inputs[0][-2] == 1 < inputs[1][-2]:
        yield from ("decoding", "kv-cache", "split")
    names = {n.arg for n in ast.walk(forward) if isinstance(n, ast.arg)}
    if any("page" in name or "table" in name for name in names):
        yield from ("paged", "kv-cache", "jagged", "gather")
    if any("len" in name for name in names):
        yield "jagged"


def _loops(forward: ast.AST) -> Iterator[str]:
    for loop in (n for n in ast.walk(forward) if isinstance(n, ast.For)):
        if not isinstance(loop.iter, ast.Call):
            continue  # over layers
        body = [n for statement in loop.body for n in ast.walk(statement)]
        if any(isinstance(n, ast.Slice) and _indexed(n.lower) and _indexed(n.upper) for n in body):
            yield from ("jagged", "segment", "nested", "load-balance")
        carried = {
            t.id for n in body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)
        } & _first_read(loop.body)
        if carried:
            yield "recurrence"
            yield from ("rnn", "persistent") if any(map(_multiplies, body)) else ("scan", "associative", "cumulative")
        yield from ("launch", "small")


def _first_read(statements: Sequence[ast.stmt]) -> set[str]:
    """Names that a loop's body reads before it sets them: these are handed from step to step."""
    read: set[str] = set()
    written: set[str] = set()
    for statement in statements:
        names = [n for n in ast.walk(statement) if isinstance(n, ast.Name)]
        read |= {n.id for n in names if isinstance(n.ctx, ast.Load)} - written
        written |= {n.id for n in names if isinstance(n.ctx, ast.Store)}
    return read & written


def _algebra(forward: ast.AST, operators: Collection[str]) -> Iterator[str]:
    """Where fewer operations give the same."""
    count = sum(_multiplies(node) for node in ast.walk(forward))
    if "softmax" not in operators and (count > 1 or (count and {"sum", "mean", "diag"} & set(operators))):
        yield from ("algebra", "reassociation")
    nones = [n for n in ast.walk(forward) if isinstance(n, ast.Tuple) and any(_is_none(each) for each in n.elts)]
    minus = any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Sub) for n in ast.walk(forward))
    if "cdist" in operators or (len(nones) > 1 and minus):
        yield from ("pairwise", "distance")


def _channels(model: ast.AST, env: Mapping[str, object]) -> Iterator[str]:
    """Convolutions that are almost products, and those of pictures' first layers."""
    for node in ast.walk(model):
        func = node.func if isinstance(node, ast.Call) else None
        name = func.attr if isinstance(func, ast.Attribute) else ""
        if isinstance(node, ast.Call) and name.startswith("Conv") and len(node.args) > 2:
            inside, _, kernel = (number(each, env) for each in node.args[:3])
            if kernel in (1, (1, 1)):
                yield "pointwise"
            if isinstance(inside, int) and inside <= 4:
                yield from ("small-channels", "direct")


def _product(product: Product) -> Iterator[str]:
    tiles = product.batch * math.ceil(product.m / BLOCK) * math.ceil(product.n / BLOCK)
    if min(product.m, product.n) <= FLAT:
        yield from ("skinny", "matvec")
    if tiles < ENOUGH and product.k > 4 * BLOCK and product.k >= max(product.m, product.n):
        yield from ("split-k", "deterministic")
    if product.batch > 1 and max(product.m, product.n, product.k) <= BLOCK:
        yield from ("batched", "small")
    if tiles >= ENOUGH:
        yield from ("tiling", "tiles")
        if (product.m + product.n) * product.k > BEYOND:
            yield "program-order"
    if (product.k % 8 or product.n % 8) and min(product.k, product.n) >= FLAT:
        yield from ("alignment", "vector-loads")


def _rows(model: ast.AST, inputs: Sequence[Shape], env: Mapping[str, object]) -> Iterator[str]:
    shape = inputs[0] if inputs else ()
    total = math.prod(shape)
    for node in ast.walk(model):
        func = node.func if isinstance(node, ast.Call) else None
        name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
        if not isinstance(node, ast.Call) or not name:
            continue
        axis, given = _axis(node, func, name, env)
        if name in ("LayerNorm", "layer_norm", "RMSNorm", "rms_norm"):
            sizes = [number(each, env) for each in (*node.args, *(keyword.value for keyword in node.keywords))]
            width = next((n for n in sizes if isinstance(n, int | tuple)), shape[-1] if shape else 0)
            width = math.prod(n for n in width if isinstance(n, int)) if isinstance(width, tuple) else width
            yield from _row(width, total // width if width else 0)
        elif name in ("cross_entropy", "CrossEntropyLoss") and len(shape) > 1:
            yield from _row(shape[1], total // shape[1])
        elif name.lower().startswith(("adaptive_avg", "adaptiveavg", "adaptive_max", "adaptivemax")) and len(shape) > 2:
            yield from ("mean", *_row(math.prod(shape[2:]), math.prod(shape[:2])))
        elif name in _ALONG and isinstance(axis, tuple) and (last := _trailing(axis, len(shape))):
            yield from _row(math.prod(shape[-last:]), math.prod(shape[:-last]))
        elif name in _ALONG and isinstance(axis, int) and -len(shape) <= axis < len(shape):
            if math.prod(shape[axis % len(shape) + 1 :]) > 1:
                yield from ("column", "coalescing")
            else:
                yield from _row(shape[axis], total // shape[axis])
        elif name in _WHOLE and not given:
            yield from ("mean", "atomics")


def _trailing(axes: tuple[object, ...], count: int) -> int:
    """How many axes these are, where they are the last of so many."""
    places = {axis % count for axis in axes if isinstance(axis, int) and count}
    return len(places) if places == set(range(count - len(places), count)) else 0


def _axis(node: ast.Call, func: ast.expr | None, name: str, env: Mapping[str, object]) -> tuple[object, bool]:
    """The axis that a call works along, and whether it names any."""
    named = next((keyword.value for keyword in node.keywords if keyword.arg in ("dim", "axis")), None)
    if named is not None:
        return number(named, env), True
    module = isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id in ("torch", "F")
    place = (0 if name[0].isupper() else 1 if module else 0) + (name == "topk")
    given = node.args[place] if len(node.args) > place else None
    return (number(given, env), True) if given is not None and name in _ALONG else (None, False)


def _row(width: int, rows: int) -> Iterator[str]:
    if width <= 0 or rows <= 0:
        return
    if (width > LONG and rows <= FEW) or width > 8 * LONG:
        yield from ("long-rows", "split", "cluster", "online")
    elif width > LONG:
        yield from ("online", "streaming")
    elif width > SHORT:
        yield from ("row", "registers")
    else:
        yield from ("row", "short-rows", "warp-shuffle", *(("row-blocks",) if width <= NARROW else ()))


def _made_of(operators: Collection[str], families: Collection[str]) -> Iterator[str]:
    if "rnn" in families:
        yield from ("recurrence", "persistent", "launch")
    if set(families) == {"elementwise"}:
        yield from ("bandwidth", "vectorisation", "streaming")
    if "norm" in families and any("ayer" in each or "var" in each or "roup" in each for each in operators):
        yield "variance"


def _multiplies(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.MatMult)
    func = node.func if isinstance(node, ast.Call) else None
    return isinstance(func, ast.Attribute) and func.attr in ("matmul", "mm", "bmm", "einsum", "linear")


def _indexed(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Subscript)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
