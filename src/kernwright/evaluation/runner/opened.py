"""One workload that a runner has open: shared memory, input sets, output slots and the callable."""

import functools
import os
from collections.abc import Callable, Sequence
from typing import Any

import torch

from .structure import decode, dense, describe, flatten, lies_at, overlaps, put, settled, sharing, view

_COPY, _AS_STRIDED = torch._C.TensorBase.copy_, torch._C.TensorBase.as_strided
_SIZE, _STRIDE = torch._C.TensorBase.size, torch._C.TensorBase.stride
_DATA = vars(torch._C.TensorBase)["data"].__get__
"""Taken before a candidate could put its own in their place."""


class Opened:
    """One workload: its shared memory, input sets, output slots and callable."""

    def __init__(
        self,
        inputs: torch.Tensor,
        outputs: torch.Tensor,
        message: dict[str, Any],
        function: Callable[..., Any],
        weights: dict[str, torch.Tensor],
    ) -> None:
        self.function: Callable[..., Any] = lambda *arguments, **more: settled(function(*arguments, **more))
        self._weights, self._state, self._state_bytes = weights, message["state"], message["sizes"][0]
        self._judges = [_range(outputs)]
        self._fits: dict[int, Any] = {}
        """Of each result what of its kind was found to fit: hundreds of calls in one message give the same."""
        self._record: torch.Tensor | None = None
        self._places: list[list[torch.Tensor]] = []
        self.layouts: list[list[int]] | None = None
        """Strides that the results of the latest message lie with in their places; None: with their places' own."""
        self._seen = False
        self._own: torch.Tensor | None = None
        self._own_sets: list[list[torch.Tensor | None]] = []
        self._first, self.read_only = message["inputs"][0], message["read_only"]
        self._specs, self._reuses = message["outputs"], message["reuses"]
        starts = [[spec["offset"] for spec in specs if spec is not None] for specs in message["inputs"]]
        self._from = [inputs[min(offsets, default=0) :] for offsets in starts]
        self._sets = [[None if s is None else view(inputs, s) for s in specs] for specs in message["inputs"]]
        self._outputs = [view(outputs, spec) for spec in message["outputs"]]
        self.output_sizes = [slot.numel() * slot.element_size() for slot in self._outputs]

    def reweigh(self, runtime: Any, fd: int) -> None:
        """Put other values into the weights, where they lie."""
        memory = runtime.open(fd, self._state_bytes, read_only=False)
        os.close(fd)
        for name, tensor in self._weights.items():
            # `data` has a version of its own: whoever asks the weight's is told nothing.
            put(_DATA(tensor), view(memory, self._state[name]))
        runtime.settle()
        runtime.close(memory)

    def places(self) -> list[Any]:
        """Of each weight that the reference has, what it is and where it lies; None where it has no counterpart."""
        own = [self._weights.get(name) for name in self._state]
        return [None if w is None else [describe([w])[0], w.data_ptr()] for w in own]

    def arguments(self, message: dict[str, Any]) -> list[Any]:
        """Inputs of the chosen set; `values` fills the places that hold no tensor."""
        return _filled(self._sets[message["set"] % len(self._sets)], message["values"])

    def input_bytes(self, chosen: int) -> torch.Tensor:
        """What lies from the beginning of this input set on."""
        return self._from[chosen % len(self._from)]

    def calls(self, message: dict[str, Any], values: list[list[Any]], of: list[int]) -> list[Callable[[], Any]]:
        """As many calls as the message asks for, on one input set or each on its own; these have `values`, places that
        hold no tensor, and which of them each, `of`."""
        sets, count = message["sets"], message["count"]
        if not sets:
            return [functools.partial(self.function, *self.arguments(message))] * count
        chosen = [self._own_sets[(message["set"] + i) % sets] for i in range(count)]
        return [functools.partial(self.function, *_filled(s, values[n])) for s, n in zip(chosen, of, strict=True)]

    def keep_record(self, memory: torch.Tensor, stride: int, calls: int) -> None:
        """From now on the results of up to so many calls go here, each to its own place."""
        self._record, self._judges = memory, [self._judges[0], _range(memory)]
        places = [memory[i * stride : (i + 1) * stride] for i in range(calls)]
        self._places = [[view(place, spec) for spec in self._specs] for place in places]

    def take_inputs(self, memory: torch.Tensor, set_bytes: int, count: int) -> None:
        """From now on many calls have their inputs here, each its own."""
        self._own = memory
        places = [memory[i * set_bytes : (i + 1) * set_bytes] for i in range(count)]
        self._own_sets = [[None if s is None else view(place, s) for s in self._first] for place in places]

    def end_messages(self) -> list[torch.Tensor]:
        """No longer; memory of which nothing is in use any more."""
        kept = [memory for memory in (self._record, self._own) if memory is not None]
        self._record, self._own, self._own_sets, self._places = None, None, [], []
        del self._judges[1:]
        return kept

    def delivery(self, count: int) -> Callable[[int, Any], object]:
        """What is to be done with the result of each of so many calls."""
        self.layouts, self._seen = None, False
        if self._record is None:
            return lambda index, result: index < count - 1 or self.deliver(flatten(result))
        if self._reuses:
            return lambda index, result: self._keep(flatten(result), self._places[index])
        return self._one_later(count)

    def _one_later(self, count: int) -> Callable[[int, Any], object]:
        """The same when the next call has been made: whoever returns one buffer for all has overwritten it by then."""
        before: list[Any] = []

        def keep(index: int, result: Any) -> None:
            if before:
                self._keep(flatten(before.pop()), self._places[index - 1])
            if index == count - 1:
                self._keep(flatten(result), self._places[index])
            else:
                before.append(result)

        return keep

    def deliver(self, leaves: list[Any]) -> bool:
        """Copy results into the judge's slots; False where type, dtype or shape differ."""
        tensors = self.tensors(leaves)
        for tensor, slot in zip(tensors or (), self._outputs, strict=False):
            _COPY(slot, tensor)
        return tensors is not None

    def _keep(self, leaves: list[Any], places: list[torch.Tensor]) -> None:
        """Copy results to their places in the order in which those of a message's first call lie in memory: in another
        one a copy takes longer than a device needs to move them."""
        tensors = self.tensors(leaves)
        if tensors is None:
            return
        if not self._seen:
            self._seen, both = True, zip(tensors, places, strict=True)
            found = [list(_STRIDE(own if dense(_SIZE(own), _STRIDE(own)) else place)) for own, place in both]
            self.layouts = found if found != [list(_STRIDE(place)) for place in places] else None
        for number, (tensor, place) in enumerate(zip(tensors, places, strict=True)):
            layouts = self.layouts
            _COPY(place if layouts is None else _AS_STRIDED(place, _SIZE(place), layouts[number]), tensor)

    def tensors(self, leaves: list[Any]) -> list[torch.Tensor] | None:
        """Results as tensors; None where type, dtype or shape differ from the slots'."""
        if len(leaves) != len(self._outputs):
            return None
        tensors = list[torch.Tensor]()
        for leaf, slot, spec in zip(leaves, self._outputs, self._specs, strict=True):
            tensor = leaf
            if isinstance(leaf, bool | int | float):
                tensor = torch.as_tensor(leaf, dtype=slot.dtype, device=slot.device)
            kind = type(tensor)
            # By identity: a metaclass can say that its classes are equal to any other.
            if kind is not torch.Tensor and kind is not torch.nn.Parameter:
                return None
            lies = (tensor.dtype, tensor.shape, tensor.stride(), tensor.device)
            if lies != self._fits.get(len(tensors)):
                if lies[0] != slot.dtype or lies[1] != slot.shape or lies[3] != slot.device:
                    return None
                if overlaps(lies[1], lies[2]) and not spec["overlapping"]:
                    return None
                self._fits[len(tensors)] = lies
            if self._overlaps(tensor):
                return None
            tensors.append(tensor)
        if len(tensors) > 1 and sharing([*map(lies_at, tensors)], [spec["shares"] for spec in self._specs]):
            return None
        return tensors

    def _overlaps(self, tensor: torch.Tensor) -> bool:
        """Whether a result lies in the judge's own memory: its copy, which each message pays for, would be none."""
        at = tensor.data_ptr()
        return any(start <= at < end for start, end in self._judges)


def _range(memory: torch.Tensor) -> tuple[int, int]:
    """Its first address and the one behind it."""
    return memory.data_ptr(), memory.data_ptr() + memory.numel()


def _filled(tensors: Sequence[torch.Tensor | None], values: Sequence[Any]) -> list[Any]:
    """Arguments of a call; `values` fill the places that hold no tensor."""
    rest = iter(values)
    return [decode(next(rest)) if tensor is None else tensor for tensor in tensors]
