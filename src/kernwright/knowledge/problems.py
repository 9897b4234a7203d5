"""What a problem is about, as far as its text says: operators, kinds of them, sizes, dtypes. Nothing is run."""

import ast
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from kernwright.core.problem import Problem

from .structure import built_like
from .vocabulary import canonical, words

_FAMILIES = {
    "attention": "scaled_dot_product_attention multi_head_attention multihead_attention MultiheadAttention",
    "softmax": "softmax Softmax log_softmax LogSoftmax softmin Softmin logsumexp cross_entropy CrossEntropyLoss "
    "gumbel_softmax Softmax2d",
    "matmul": "matmul mm bmm addmm baddbmm addbmm einsum Linear linear Bilinear bilinear mv dot outer tensordot "
    "MatMult chain_matmul multi_dot kron",
    "convolution": "Conv1d Conv2d Conv3d conv1d conv2d conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d "
    "conv_transpose1d conv_transpose2d conv_transpose3d unfold fold",
    "norm": "layer_norm LayerNorm rms_norm RMSNorm group_norm GroupNorm batch_norm BatchNorm1d BatchNorm2d BatchNorm3d "
    "instance_norm InstanceNorm1d InstanceNorm2d InstanceNorm3d normalize norm vector_norm local_response_norm",
    "scan": "cumsum cumprod cummax cummin logcumsumexp cumulative_trapezoid",
    "reduction": "sum mean amax amin max min argmax argmin prod any all var std logsumexp nansum var_mean "
    "std_mean median nanmean count_nonzero bincount histc trace",
    "pooling": "MaxPool1d MaxPool2d MaxPool3d AvgPool1d AvgPool2d AvgPool3d max_pool1d max_pool2d max_pool3d "
    "avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool2d AdaptiveAvgPool2d adaptive_max_pool2d AdaptiveMaxPool2d",
    "embedding": "Embedding embedding EmbeddingBag embedding_bag one_hot",
    "gather": "gather scatter scatter_ scatter_add scatter_add_ scatter_reduce index_select index_add take "
    "take_along_dim index_put index_copy masked_select nonzero",
    "jagged": "nested_tensor segment_reduce jagged offsets cu_seqlens lengths repeat_interleave pack_padded_sequence "
    "pad_sequence",
    "sort": "sort topk argsort kthvalue unique",
    "transpose": "transpose permute movedim contiguous t mT swapaxes",
    "loss": "cross_entropy CrossEntropyLoss mse_loss MSELoss kl_div KLDivLoss nll_loss NLLLoss binary_cross_entropy "
    "smooth_l1_loss SmoothL1Loss HuberLoss huber_loss hinge_embedding_loss triplet_margin_loss TripletMarginLoss "
    "cosine_similarity CosineSimilarity",
    "elementwise": "relu ReLU gelu GELU silu SiLU sigmoid Sigmoid tanh Tanh exp log sqrt rsqrt pow clamp hardtanh "
    "Hardtanh hardswish Hardswish leaky_relu LeakyReLU elu ELU selu SELU mish Mish softplus Softplus relu6 ReLU6 where "
    "abs dropout Dropout masked_fill logsigmoid softsign Softsign erf sin cos prelu PReLU",
    "rnn": "LSTM GRU RNN LSTMCell GRUCell RNNCell",
    "quantisation": "quantize_per_tensor fake_quantize quantize dequantize int8 float8_e4m3fn float8_e5m2",
}
FAMILIES = tuple(_FAMILIES)
"""Kinds of operators that a problem is read as."""
_FAMILY_OF: Mapping[str, tuple[str, ...]] = {
    name: tuple(family for family, names in _FAMILIES.items() if name in names.split())
    for name in {name for names in _FAMILIES.values() for name in names.split()}
}
_SPOKEN = {canonical(name): families for name, families in _FAMILY_OF.items() if len(name) > 5}
"""By which a docstring may name an operator; shorter names are also words of other things."""
_WITH = {"softmax": ("reduction",), "norm": ("reduction",), "attention": ("softmax", "matmul"), "loss": ("reduction",)}
"""What a family is made of."""
_IDIOMS = {"norm": ({"rsqrt", "sqrt"}, {"mean", "var", "var_mean"}), "softmax": ({"exp"}, {"sum"}, {"amax", "max"})}
"""What some families are spelt out as: one of each of these."""
_ALSO = {
    "tril": "triangular",
    "triu": "triangular",
    "diag": "diagonal",
    "flip": "reverse",
    "cosine_similarity": "cosine",
    "CosineSimilarity": "cosine",
    "TripletMarginLoss": "triplet",
    "triplet_margin_loss": "triplet",
    "hinge_embedding_loss": "hinge",
    "var_mean": "variance",
    "std_mean": "variance",
    "kthvalue": "topk",
    "sort": "topk",
    "bincount": "histogram",
    "histc": "histogram",
    "scatter_add": "atomics",
    "index_add": "atomics",
    "max_pool2d": "maxpool",
    "normalize": "norm",
}
"""What notes may call an operator beside its name."""
_ENDINGS = ("1d", "2d", "3d", "loss", "_")
SKINNY, WIDE, SMALL = 16, 1024, 1 << 18
"""A side of a product that is much shorter than another; elements of a problem that launches decide."""
HEAVY = ("attention", "convolution", "matmul", "rnn")
"""Whose arithmetic is most of a call's where they occur."""
DTYPES = ("float16", "bfloat16", "float32", "float64", "int8", "int32", "int64", "float8_e4m3fn", "float8_e5m2", "bool")
_OTHER_NAMES = {"half": "float16", "double": "float64", "long": "int64"}
_MINE = frozenset(
    "forward __init__ super get_inputs get_init_inputs size shape dim view reshape to float half type Parameter Module "
    "register_buffer register_parameter randn rand ones zeros empty full normal_ uniform_ xavier_uniform_ "
    "kaiming_normal_ Sequential ModuleList append range len int list tuple unsqueeze squeeze expand flatten".split()
)


@dataclass(frozen=True, slots=True)
class Signs:
    """What a problem is known by."""

    operators: tuple[str, ...]
    """Names that its model calls, in order, each once."""
    names: tuple[str, ...]
    """What notes may be tagged with for these operators alone: `layernorm`, `conv2d`, `depthwise`."""
    families: tuple[str, ...]
    """Kinds of them, the heaviest first."""
    dtypes: tuple[str, ...]
    sizes: Mapping[str, float]
    """Numbers that shapes are made of, by name."""
    structure: tuple[str, ...]
    """What it is built like, as notes may say it: `causal`, `recurrence`, `short-rows`, `split-k`."""
    precision: str
    """That its rules ask for."""
    prose: str
    """What its text says in sentences: name, docstrings."""


def signs_of(problem: Problem) -> Signs:
    """The same for the same source, workloads and rules."""
    return _signs(problem.name, problem.source, problem.entry, _numbers(problem), problem.rules.precision)


def likeness(a: Signs, b: Signs) -> float:
    """From 0 to 1: 0 unless operators and dtypes are the same; then the nearer, the less their sizes differ."""
    if a.operators != b.operators or a.dtypes != b.dtypes:
        return 0.0
    shared = a.sizes.keys() & b.sizes.keys()
    apart = sum(abs(math.log2(max(1.0, a.sizes[name]) / max(1.0, b.sizes[name]))) for name in shared)
    missing = len(a.sizes.keys() ^ b.sizes.keys())
    return 1.0 / (1.0 + apart / max(1, len(shared)) + missing)


def _numbers(problem: Problem) -> tuple[tuple[str, float], ...]:
    """Of each parameter of the workloads the geometric mean by weight: one number, however many workloads there are."""
    sums: dict[str, list[float]] = {}
    for workload in problem.timed:
        for name, value in workload.params.items():
            if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
                total = sums.setdefault(name, [0.0, 0.0])
                total[0] += workload.weight * math.log(value)
                total[1] += workload.weight
    return tuple(sorted((name, round(math.exp(total / weight), 6)) for name, (total, weight) in sums.items() if weight))


@lru_cache(maxsize=256)
def _signs(name: str, source: str, entry: str, numbers: tuple[tuple[str, float], ...], precision: str) -> Signs:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = ast.Module(body=[], type_ignores=[])
    model = next((n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == entry), tree)
    operators = tuple(dict.fromkeys(_called(model)))
    found = dict.fromkeys(f for operator in operators for f in _FAMILY_OF.get(operator, ()))
    prose = " ".join((name.replace("_", " "), *_sentences(tree)))
    spoken = [canonical(word) for word in words(prose)]
    found |= dict.fromkeys(f for word in spoken for f in _SPOKEN.get(word, (word,)) if f in _FAMILIES)
    found |= dict.fromkeys(family for family, parts in _IDIOMS.items() if all(part & set(operators) for part in parts))
    found |= dict.fromkeys(part for family in tuple(found) for part in _WITH.get(family, ()))
    if not found and any(isinstance(node, ast.BinOp) for node in ast.walk(model)):
        found["elementwise"] = None
    sizes = {**_constants(tree), **dict(numbers)}
    try:
        structure = tuple(dict.fromkeys(built_like(tree, model, operators, found, sizes)))
    except RecursionError:  # a formula nested beyond all reason
        structure = ()
    if "attention" in structure and "jagged" not in structure:
        found.pop("jagged", None)  # keys that several heads share are repeated too
    found |= dict.fromkeys(each for each in structure if each in FAMILIES)
    found |= dict.fromkeys(part for family in tuple(found) for part in _WITH.get(family, ()))
    dtypes = tuple(sorted({d for d in _names(tree) if d in DTYPES} | ({precision} & set(DTYPES)))) or ("float32",)
    return Signs(
        operators=operators,
        names=tuple(
            dict.fromkeys(
                (*_special(model), *_spelt_all(operators), *_shaped(found, sizes), *map(canonical, words(name)))
            )
        ),
        families=tuple(sorted(found, key=lambda family: (family not in HEAVY, family == "elementwise"))),
        dtypes=dtypes,
        sizes=sizes,
        structure=structure,
        precision=precision,
        prose=prose,
    )


def _called(tree: ast.AST) -> Iterator[str]:
    """Names of what is called, and of Python's operators that stand for one of PyTorch's."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            func = node.func
            name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
            # What `self` is asked for was made of something in its constructor, which counts.
            own = isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self"
            if name and name not in _MINE and not own:
                yield name
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            yield "matmul"
        elif isinstance(node, ast.Attribute) and node.attr in ("T", "mT", "H"):
            yield "transpose"


def _shaped(families: Iterable[str], sizes: Mapping[str, float]) -> Iterator[str]:
    """What sizes make of a problem, as far as they are numbers with names."""
    numbers = sorted(number for number in sizes.values() if number >= 1 and number == int(number))
    if not numbers:
        return
    if "matmul" in families and numbers[0] <= SKINNY and numbers[-1] >= WIDE:
        yield from ("skinny", "matvec") if numbers[0] == 1 else ("skinny",)
    if len(numbers) > 1 and math.prod(numbers) <= SMALL:
        yield "small"


def _spelt_all(operators: Iterable[str]) -> Iterator[str]:
    for operator in operators:
        yield from _spelt(operator)


def _spelt(operator: str) -> Iterator[str]:
    """Its name without separators, whole and without its ending, and what else it is called."""
    if operator in _ALSO:
        yield canonical(_ALSO[operator])
    name = operator.lower()
    yield canonical(name)
    for ending in _ENDINGS:
        if name.endswith(ending):
            yield canonical(name.removesuffix(ending))


def _special(tree: ast.AST) -> Iterator[str]:
    """Convolutions that are computed otherwise than dense ones."""
    for node in ast.walk(tree):
        func = node.func if isinstance(node, ast.Call) else None
        name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
        if not isinstance(node, ast.Call) or not name.lower().startswith("conv"):
            continue
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        given |= {"kernel_size": node.args[2]} if len(node.args) > 2 and name[0] == "C" else {}
        if "groups" in given and _number(given["groups"]) != 1:
            yield "depthwise"
        if _number(given.get("kernel_size")) == 1:
            yield "pointwise"
        if "dilation" in given and _number(given["dilation"]) != 1:
            yield "dilation"


def _number(node: ast.expr | None) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield _OTHER_NAMES.get(node.attr, node.attr)


def _constants(tree: ast.Module) -> dict[str, float]:
    """Numbers at module level, as KernelBench's files have their sizes."""
    found: dict[str, float] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
            pairs = [(target, value)]
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                pairs = list(zip(target.elts, value.elts, strict=False))
            for name, number in pairs:
                plain = number.value if isinstance(number, ast.Constant) else None
                if isinstance(name, ast.Name) and isinstance(plain, int | float) and not isinstance(plain, bool):
                    found[name.id] = float(plain)
    return found


def _sentences(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
            yield " ".join(words(text))
