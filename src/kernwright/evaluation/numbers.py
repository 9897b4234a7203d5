"""Floating and complex tensors alike: both are numbers that may be scaled, moved and mixed."""

import random
from collections.abc import Callable, Iterable
from typing import Any

import torch

COMPLEX = (torch.complex64, torch.complex128)
SHORT = {
    torch.float8_e4m3fn,
    torch.float8_e4m3fnuz,
    torch.float8_e5m2,
    torch.float8_e5m2fnuz,
    torch.float8_e8m0fnu,
}
"""Of which PyTorch knows how to make other floats."""


def is_number(value: Any) -> bool:
    """Whether it is a tensor of floating or complex numbers, and has some; 8 bits allow hardly any arithmetic."""
    if not isinstance(value, torch.Tensor) or value.numel() == 0:
        return False
    return value.dtype in COMPLEX or (value.is_floating_point() and value.itemsize > 1)


def is_short(value: Any) -> bool:
    """Whether it is a tensor of floating numbers of 8 bits: what changes those goes through float32 and back."""
    return isinstance(value, torch.Tensor) and value.dtype in SHORT and value.numel() > 0


def generator_for(value: torch.Tensor, rng: random.Random) -> torch.Generator:
    """On the value's device."""
    return torch.Generator(value.device).manual_seed(rng.getrandbits(48))


def chances(like: torch.Tensor, rng: random.Random) -> torch.Tensor:
    """Of this shape, from 0 to 1, in float32; where it lies."""
    return torch.rand(like.shape, generator=generator_for(like, rng), device=like.device)


def same_bytes(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors of one type and shape are the same, numbers that are missing (NaN) too."""
    return one.shape == other.shape and one.dtype == other.dtype and torch.equal(_bytes(one), _bytes(other))


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().resolve_conj().resolve_neg().contiguous().reshape(-1).view(torch.uint8)


def told(numbers: Iterable[torch.Tensor]) -> list[float]:
    """Single numbers and truth values that lie on one device, which is waited for once."""
    each = [number.double() for number in numbers]
    return torch.stack(each).tolist() if each else []


def varies(tensor: torch.Tensor) -> bool:
    """Whether it is something, and more than one value all over; one number alone may be any."""
    return tensor.numel() == 1 or (tensor.numel() > 1 and bool((tensor != tensor.flatten()[0]).any()))


def real(tensor: torch.Tensor) -> torch.Tensor:
    """Complex numbers as pairs, along one more axis."""
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def by_parts(change: Callable[[torch.Tensor], torch.Tensor], value: torch.Tensor) -> torch.Tensor:
    """What a change of floating numbers makes of these; of complex ones the real and the imaginary parts each."""
    if not value.is_complex():
        return change(value)
    return torch.complex(change(value.real.contiguous()), change(value.imag.contiguous()))


def widened(value: Any) -> Any:
    """The same in the widest type of its kind; what is no number stays as it is."""
    if not isinstance(value, torch.Tensor):
        return value
    if value.is_complex():
        return value.to(torch.complex128)
    return value.double() if value.is_floating_point() else value
