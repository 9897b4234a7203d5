"""Functions of PyTorch by what they do with numbers that were drawn, as far as that is known for certain."""

DRAWS = frozenset(
    "rand rand_like randint randint_like randn randn_like bernoulli normal poisson random uniform exponential".split()
)
ORDERS = frozenset({"randperm", "multinomial"})
"""Draw a thing once, in any order."""
CASTS = frozenset("to type int long short char byte bool float double half bfloat16 contiguous clone detach".split())
"""Leave every number at its place."""
RESHAPED = frozenset("view reshape flatten unsqueeze squeeze transpose permute t swapaxes movedim".split())
ELEMENTWISE = frozenset(
    """
    add sub mul div truediv floordiv floor_divide true_divide remainder mod fmod pow neg abs sign square sqrt exp log
    floor ceil round trunc clamp clip clamp_min clamp_max gt ge lt le eq ne and or xor invert
    bitwise_and bitwise_or bitwise_xor bitwise_not logical_and logical_or logical_xor logical_not where masked_fill
    minimum maximum
    """.split()
)
JOINING = frozenset({"cat", "concat", "stack", "hstack", "vstack"})
OF_DATA = frozenset(
    "unique unique_consecutive nonzero argwhere masked_select repeat_interleave _unique2 unique_dim".split()
)
"""Give a tensor whose shape says something of the numbers."""
OF_ITS_FORM = frozenset(
    """
    __get__ __len__ __hash__ size dim ndimension numel nelement stride storage_offset element_size get_device
    is_floating_point is_complex is_contiguous
    """.split()
)
"""What is asked of a tensor that is none of its numbers."""


def plain_name(name: str) -> str:
    """A function's, without what says that it is in place, or has its operands turned."""
    plain = name.strip("_")
    marked = name.startswith("__") and plain[:1] in ("i", "r") and plain[1:] in ELEMENTWISE
    return plain[1:] if marked else plain


def is_turned(name: str) -> bool:
    """Whether the first operand is what Python had on the right, as of `7 % tensor`."""
    return name.startswith("__r") and name.strip("_")[1:] in ELEMENTWISE
