"""Whether what a problem's code gives are tensors that the judge knows: dense ones, in memory, of plain numbers."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from kernwright.core.errors import UserError
from kernwright.evaluation.numbers import is_short, same_bytes
from kernwright.evaluation.runner.structure import dtype_name, flatten

MOST_NAMED = 3
"""Parts of a list that are named one by one."""
KNOWN = "and the judge knows dense tensors of plain numbers"
PACKED = re.compile(r"float4\w+|bits\d\w*|u?int[1-7]")
"""Types of which PyTorch has the bytes and no arithmetic."""


@dataclass(frozen=True, slots=True)
class Odd:
    """A kind of tensor that is refused."""

    what: str
    given: str
    """What to do about an input."""
    returned: str
    """What to do about an output."""


NESTED = Odd(
    "is a nested tensor",
    "give one tensor of all its numbers and one of its lengths, and nest them in forward()",
    "return it padded: torch.nested.to_padded_tensor(output, 0.0)",
)
META = Odd(
    "is on the device 'meta', where tensors have no numbers",
    "make it on no device in particular: without device='meta'",
    "compute it from the inputs, on their device",
)
COMPLEX32 = Odd("is complex32", "give it as complex64", "return it as complex64: output.to(torch.complex64)")


def odd_kind(tensor: torch.Tensor) -> Odd | None:
    """What is wrong with its kind, found without a look at its numbers."""
    if tensor.is_nested:
        return NESTED
    if tensor.is_quantized:
        return Odd(
            f"is quantized ({dtype_name(tensor.dtype)})",
            "give it as float32 and quantize it in forward()",
            "return output.dequantize() or output.int_repr()",
        )
    if tensor.layout is not torch.strided:
        return Odd(
            f"is a tensor of {tensor.layout}",
            "give its indices and its values as inputs of their own, and make it of these in forward()",
            "return output.to_dense(), or where it is a gradient make its layer without sparse=True",
        )
    if type(tensor).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        return Odd(
            f"is a {type(tensor).__name__}, which computes in its own way",
            "give the tensors that it is made of as inputs of their own, and make it of these in forward()",
            "return the tensors that it is made of",
        )
    if tensor.dtype is torch.complex32:
        return COMPLEX32
    if PACKED.fullmatch(name := dtype_name(tensor.dtype)):
        return Odd(
            f"is {name}, which packs numbers into bytes",
            "give the bytes as uint8 and view them as that type in forward()",
            "return output.view(torch.uint8)",
        )
    return META if tensor.is_meta else None


def fit_for_sketch(values: Any) -> bool:
    """Whether what `get_inputs` gives on the device 'meta' tells what it gives elsewhere."""
    if not isinstance(values, list | tuple):
        return False
    return all(odd_kind(value) in (None, META) for value in values if isinstance(value, torch.Tensor))


def require_inputs(values: Any, problem: str) -> list[Any]:
    """What `get_inputs` gave.

    Raises:
        UserError: it is no list with a tensor in it, or one of its tensors is of a kind that the judge does not know.
    """
    if not isinstance(values, list | tuple) or not any(isinstance(v, torch.Tensor) for v in values):
        raise UserError(
            f"get_inputs() of problem {problem!r} must return a list with at least one tensor in it, on its own or "
            f"in lists, tuples or dicts; it returned {_named(values)}{_instead(values)}."
        )
    for number, value in enumerate(values):
        if isinstance(value, torch.Tensor) and (odd := odd_kind(value)):
            raise UserError(f"problem {problem!r}: input {number} of get_inputs() {odd.what}, {KNOWN}; {odd.given}.")
    return list(values)


def require_outputs(result: Any, problem: str, names: Callable[[int], Sequence[str]] | None = None) -> list[Any]:
    """What a call gave, tensors and numbers one after the other; `names`: what so many results are called.

    Raises:
        UserError: there is none, or one that is nothing of which numbers can be compared.
    """
    leaves = flatten(result)
    if not leaves:
        raise UserError(f"problem {problem!r} must return tensors; it returned {_named(result)}. Return tensors alone.")
    for number, leaf in enumerate(leaves):
        if isinstance(leaf, bool | int | float):
            continue
        name = names(len(leaves))[number] if names else f"output {number}"
        if not isinstance(leaf, torch.Tensor):
            which = f"its {name} is {_named(leaf)}"
            raise UserError(f"problem {problem!r} must return tensors; {which}. Return tensors alone{_instead(leaf)}.")
        if odd := odd_kind(leaf):
            raise UserError(f"problem {problem!r}: {name} {odd.what}, {KNOWN}; {odd.returned}.")
        if is_short(leaf):
            raise UserError(
                f"problem {problem!r}: {name} is {dtype_name(leaf.dtype)}, in which PyTorch compares no numbers. "
                "Return it as float32, which holds the same numbers: output.float()."
            )
    return leaves


def require_returned(changed: Mapping[int, torch.Tensor], outputs: Sequence[torch.Tensor], name: str) -> None:
    """`changed`: by their numbers inputs that a call works on in place, as it leaves them.

    Raises:
        UserError: one of them is no output, so that nobody would see whether a candidate leaves the same.
    """
    for number, left in changed.items():
        if not any(same_bytes(left.flatten(), each.flatten()) for each in outputs):
            raise UserError(
                f"problem {name!r}: a call changes its input {number} in place and does not return it, so nobody would "
                "see whether a candidate computes what is left there; return it too, or work on a copy: input.clone()."
            )


def require_weights(model: Any, problem: str) -> None:
    """Raises UserError where a weight has no numbers."""
    if not isinstance(model, torch.nn.Module):
        return
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        if tensor.is_meta:
            raise UserError(f"problem {problem!r}: weight {name!r} {META.what}; {META.given}.")


def _named(value: object) -> str:
    """In a few words; of what a short list holds too."""
    if value is None:
        return "None"
    if not isinstance(value, Sequence) or isinstance(value, str):
        return _with_article(value)
    each = " and ".join("None" if part is None else _with_article(part) for part in value)
    return f"{_with_article(value)} of {each if 0 < len(value) <= MOST_NAMED else len(value)}"


def _with_article(value: object) -> str:
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeio' or name == 'ndarray' else 'a'} {name}"


def _instead(value: object) -> str:
    """How it becomes what is wanted, where that is one call."""
    if isinstance(value, torch.Tensor):
        return ": return [x] in place of x"
    parts = value if isinstance(value, list | tuple) else [value]
    return ": torch.from_numpy makes a tensor of it" if any(type(p).__name__ == "ndarray" for p in parts) else ""
