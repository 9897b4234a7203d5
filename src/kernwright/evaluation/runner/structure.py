"""Values on the wire: JSON with tuples kept, and tensors described by dtype, shape, strides and offset."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import torch

from kernwright.core.calls import CallSpec, TensorSpec

PAGE = 4096
MOST_MARKED = 256 << 20
"""Bytes that are marked to see whether two tensors of unlike layouts have one in common."""
_COPY, _NARROW = torch._C.TensorBase.copy_, torch._C.TensorBase.narrow
_SIZE, _STRIDE = torch._C.TensorBase.size, torch._C.TensorBase.stride
_LAZY = (torch._C.TensorBase.is_neg, torch._C.TensorBase.is_conj)
_DONE = (torch._C.TensorBase.resolve_neg, torch._C.TensorBase.resolve_conj)
"""Taken before a candidate could put its own in their place."""


def encode_calls(calls: Sequence[CallSpec]) -> list[Any]:
    """JSON form of what a build is told; TypeError as `encode`."""
    return [
        [encode(call.init), [_encode_argument(value) for value in call.inputs], call.nesting, call.cast]
        for call in calls
    ]


def decode_calls(data: Sequence[Any]) -> tuple[CallSpec, ...]:
    """The inverse of `encode_calls`."""
    return tuple(
        CallSpec(init=decode(init), inputs=tuple(map(_decode_argument, inputs)), nesting=nesting, cast=cast)
        for init, inputs, nesting, cast in data
    )


def _encode_argument(value: Any) -> Any:
    if isinstance(value, TensorSpec):
        return [value.dtype, list(value.shape), list(value.strides)]
    return [encode(value)]


def _decode_argument(data: Any) -> Any:
    if len(data) == 1:
        return decode(data[0])
    dtype, shape, strides = data
    return TensorSpec(dtype=dtype, shape=tuple(shape), strides=tuple(strides))


def encode(value: Any) -> Any:
    """JSON form of a constructor argument or scalar input.

    Raises:
        TypeError: the value is neither None, a number, a string nor a list, tuple or dict of such. Its text is the name
            of the type that cannot be passed on.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple):
        return {"tuple": [encode(item) for item in value]}
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {"dict": [[encode(k), encode(v)] for k, v in value.items()]}
    if isinstance(value, torch.dtype):
        return {"dtype": dtype_name(value)}
    if isinstance(value, torch.device):
        return {"device": str(value)}
    raise TypeError(type(value).__name__)


def decode(value: Any) -> Any:
    """The inverse of `encode`."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if isinstance(value, dict):
        ((kind, body),) = value.items()
        match kind:
            case "tuple":
                return tuple(decode(item) for item in body)
            case "dict":
                return {decode(k): decode(v) for k, v in body}
            case "dtype":
                return getattr(torch, body)
            case "device":
                return torch.device(body)
    return value


def dtype_name(dtype: torch.dtype) -> str:
    """`float32` for `torch.float32`."""
    return str(dtype).removeprefix("torch.")


def flags(values: Iterable[bool]) -> str:
    """Truth values in few characters, four each."""
    bits = "".join("1" if value else "0" for value in values)
    return f"{int(bits or '0', 2):0{-(-len(bits) // 4)}x}"


def flagged(said: Any, names: Sequence[str]) -> list[str]:
    """Those of the names that `flags` says; all of them where it says nothing that makes sense."""
    try:
        bits = f"{int(str(said)[: len(names) + 1], 16):0{len(names)}b}"
    except ValueError:
        bits = ""
    return [n for n, bit in zip(names, bits, strict=True) if bit == "1"] if len(bits) == len(names) else [*names]


def flatten(value: Any) -> list[Any]:
    """Leaves of nested tuples, lists and dictionaries (in order of insertion), without what is None in them."""
    if isinstance(value, Mapping):
        return [leaf for item in value.values() if item is not None for leaf in flatten(item)]
    if isinstance(value, tuple | list):
        return [leaf for item in value if item is not None for leaf in flatten(item)]
    return [value]


class OtherKeys:
    """Stands for a result with other keys than the reference's, or with None elsewhere."""

    def __init__(self, said: str) -> None:
        self.said = said


def settled(result: Any) -> Any:
    """What a call gave, without signs and conjugations that PyTorch leaves to whoever reads it: they are its work."""
    leaves = [result] if isinstance(result, torch.Tensor) else flatten(result)
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    if not any(lazy(tensor) for tensor in tensors for lazy in _LAZY):
        return result
    for done in _DONE:
        leaves = [done(leaf) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
    return leaves


def view(memory: torch.Tensor, spec: Mapping[str, Any]) -> torch.Tensor:
    """The tensor that `spec` describes inside `memory` (uint8)."""
    dtype = getattr(torch, spec["dtype"])
    start, extent = spec["offset"], spec["extent"]
    flat = memory[start : start + extent * dtype.itemsize].view(dtype)
    return torch.as_strided(flat, spec["shape"], spec["strides"])


def lay_out(tensors: Iterable[torch.Tensor], offset: int) -> tuple[list[dict[str, Any]], int]:
    """Specs of tensors placed one after the other from `offset`, page-aligned, and the end."""
    specs = []
    for tensor in tensors:
        strides = strides_of(tensor)
        extent = 1 + sum((n - 1) * s for n, s in zip(tensor.shape, strides, strict=True)) if tensor.numel() else 0
        spec = {"dtype": dtype_name(tensor.dtype), "shape": list(tensor.shape), "strides": strides}
        specs.append({**spec, "offset": offset, "extent": extent})
        offset += -(-extent * tensor.element_size() // PAGE) * PAGE
    return specs, offset


def strides_of(tensor: torch.Tensor) -> list[int]:
    """Strides that a copy of it gets for a runner: its own where it fills its memory."""
    fills = dense(tensor.shape, tensor.stride())
    return list(tensor.stride() if fills else torch.empty(tensor.shape, device="meta").stride())


def overlaps(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether elements of such a tensor share memory with one another, as those of windows that slide do."""
    end = 0
    for stride, n in sorted((s, n) for n, s in zip(shape, strides, strict=True) if n > 1):
        if stride <= end:
            return 0 not in shape
        end += (n - 1) * stride
    return False


def sharing(
    places: Sequence[tuple[int, int, Sequence[int], Sequence[int]]], allowed: Sequence[Sequence[int] | None]
) -> tuple[int, int] | None:
    """Two results that lie in the same memory, if any; of each its address, bytes of an element, shape and strides.

    `allowed`: for each those with which it may; None of one that may with all.
    """
    found = []
    for number, (start, size, shape, strides) in enumerate(places):
        if 0 not in shape and allowed[number] is not None:
            lies: Any = (*shape, size), (*(stride * size for stride in strides), 1)
            found.append((start, start + 1 + _last(*lies), number, *lies))
    found.sort(key=lambda each: each[0])
    for place, (start, end, number, *lies) in enumerate(found):
        for other_start, _, other, *other_lies in found[place + 1 :]:
            if other_start >= end:
                break
            if other not in (allowed[number] or ()) and _meet(other_start - start, *lies, *other_lies):
                return min(number, other), max(number, other)
    return None


@lru_cache(maxsize=256)
def _meet(
    gap: int, shape: tuple[int, ...], strides: tuple[int, ...], other: tuple[int, ...], others: tuple[int, ...]
) -> bool:
    """Whether two tensors have a byte in common, the second of which begins so many bytes behind the first."""
    if gap == 0:
        return True
    pairs = [*zip(shape, strides, other, others, strict=False)]
    if len(shape) == len(other) and all(s == t or n == m == 1 for n, s, m, t in pairs):
        steps = sorted(((s, n, m) for n, s, m, _ in pairs if n > 1 or m > 1), reverse=True)
        return _reaches(gap, steps)
    end = 1 + max(_last(shape, strides), gap + _last(other, others))
    if end > MOST_MARKED:
        return False
    marked = torch.zeros(end, dtype=torch.bool, device="cpu")
    torch.as_strided(marked, shape, strides).fill_(True)
    return bool(torch.as_strided(marked, other, others, gap).any())


def _reaches(gap: int, steps: Sequence[tuple[int, int, int]]) -> bool:
    """Whether steps of these sizes, so many forwards or backwards, lead over the gap; the largest come first."""
    if not steps:
        return gap == 0
    (step, forwards, backwards), rest = steps[0], steps[1:]
    if step == 0:
        return _reaches(gap, rest)
    near = (gap // step, -(-gap // step))
    return any(-backwards < count < forwards and _reaches(gap - count * step, rest) for count in {*near})


def _last(shape: Sequence[int], strides: Sequence[int]) -> int:
    return sum((n - 1) * s for n, s in zip(shape, strides, strict=True))


def lies_at(tensor: torch.Tensor) -> tuple[int, int, Sequence[int], Sequence[int]]:
    """As `sharing` wants it."""
    return tensor.data_ptr(), tensor.element_size(), tuple(_SIZE(tensor)), tuple(_STRIDE(tensor))


def dense(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether elements of such a tensor fill its memory, one place each, in whatever order; no for one without any."""
    end = 1
    for stride, n in sorted((s, n) for n, s in zip(shape, strides, strict=True) if n > 1):
        if stride != end:
            return False
        end *= n
    return 0 not in shape


def distinct(tensor: torch.Tensor) -> torch.Tensor:
    """One element for each place in memory, of a tensor that was expanded along some axes."""
    for axis, (stride, n) in enumerate(zip(_STRIDE(tensor), _SIZE(tensor), strict=True)):
        if stride == 0 and n > 1:
            tensor = _NARROW(tensor, axis, 0, 1)
    return tensor


def put(tensor: torch.Tensor, values: torch.Tensor) -> None:
    """Copy into a tensor that may have been expanded, where its elements are; windows that slide are left alone."""
    into = distinct(tensor)
    if overlaps(_SIZE(into), _STRIDE(into)):
        return
    for axis, n in enumerate(_SIZE(into)):
        values = _NARROW(values, axis, 0, n)
    _COPY(into, values)


MOST_RESULTS = 300
"""Tensors that a call may give: what they are has to fit into one message."""


def describe(values: Sequence[Any]) -> list[Any]:
    """What came back from a call, for the judge: type, dtype, shape, strides and device of each leaf; of one that says
    something of itself that."""
    return [
        [type(v).__name__, dtype_name(v.dtype), list(v.shape), list(v.stride()), v.device.type]
        if isinstance(v, torch.Tensor)
        else [type(v).__name__, *([v.said] if type(v) is OtherKeys else [])]
        for v in values[:MOST_RESULTS]
    ]
