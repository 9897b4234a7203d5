"""Inductor for a GPU: Triton code, written without the device and without the inputs' memory."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils import _pytree as pytree

from .inductor_fake_gpu import Chip, chip_of, fake_mode, pretended
from .inductor_file import Graph, Refused, State
from .inductor_models import Constants, Model, make_model, states_of
from .inductor_triton import render

ALWAYS = {
    "size_asserts": True,  # the file turns them into copies, where a library chose another layout
    "shape_padding": False,  # whether padding pays is measured, and there is nothing to measure on
    "triton.descriptive_names": "original_aten",
    "triton.autotune_at_compile_time": False,
    "triton.cudagraphs": False,
    "autotune_local_cache": False,  # its files are named after the candidate's, which holds many kernels
}
PRODUCTS = "triton.native_matmul"
LARGEST_REAL = 1 << 24
"""Elements of a module that is made in earnest, to learn the values of its buffers."""


class Gpu:
    """Fake tensors, on a chip that need not be there."""

    name = "cuda"
    slow_to_compile = True

    def __init__(self, order: Mapping[str, Any], patches: Mapping[str, Any]) -> None:
        self.patches = {**ALWAYS, **patches}
        self._order = order
        self._chip: Chip = chip_of(order["target"])
        self._constants = Constants()
        self._params: dict[str, Mapping[str, Any]] = {}
        self._real: dict[tuple[str, int], torch.nn.Module | None] = {}

    @contextmanager
    def there(self) -> Iterator[None]:
        """PyTorch believes in the chip while this is entered."""
        with pretended(self._chip, tf32=self._order["tf32"]):
            yield

    def make(self, params: Mapping[str, Any]) -> Model:
        """The reference for a workload, without memory for its tensors.

        They are the processor's: a PyTorch without CUDA cannot fill a tensor on a GPU, not even a fake one.

        Raises:
            Refused: the settings do not suit the precision.
        """
        with fake_mode():
            model = make_model(self._order, params)
        if self.patches.get(PRODUCTS) and not self._order["tf32"]:
            tensors = [*model.module.parameters(), *pytree.tree_leaves(model.inputs)]
            if any(isinstance(x, torch.Tensor) and x.dtype == torch.float32 for x in tensors):
                raise Refused("strict float32 keeps off tensor cores, where such kernels take minutes to compile")
        self._params[model.key] = params
        return model

    def constant(self, model: Model, name: str, tensor: torch.Tensor) -> str:
        """The name in the file of a tensor that is neither parameter nor buffer.

        Raises:
            Refused: its values are not known without a device.
        """
        value: Any = tensor
        if isinstance(tensor, FakeTensor):
            value = tensor.constant
        if value is None and (real := self._made(model.key, 0)) is not None:
            value = _attribute(real, name)
        if not isinstance(value, torch.Tensor):
            raise Refused(f"the values of the tensor {name} are not known without a device")
        return self._constants.keep(value.cpu())

    def states(self, model: Model, params: Mapping[str, Any]) -> list[State]:
        """The model's tensors, with the values of small buffers.

        Raises:
            Refused: a buffer outside the state dictionary has values that cannot be written down.
        """
        fake = states_of(model.module, None)
        if not any(state.kind in ("buffer", "unsaved") for state in fake):
            return fake
        real, again = self._made(model.key, 0), self._made(model.key, 1)
        known = {s.name: s.data for s in states_of(real, again)} if real is not None and again is not None else {}
        if lost := [s.name for s in fake if s.kind == "unsaved" and s.same is None and known.get(s.name) is None]:
            raise Refused(f"the buffer {lost[0]} is not in the state dictionary, and its values cannot be written down")
        return [_with_data(state, known.get(state.name)) for state in fake]

    def text(self, graphs: Sequence[Graph], states: Mapping[str, Sequence[State]]) -> str:
        """The whole file."""
        return render(
            graphs=graphs,
            states=states,
            constants=self._constants.states(),
            origin=f"torch {torch.__version__}, for {self._chip.name}",
        )

    def _made(self, key: str, seed: int) -> torch.nn.Module | None:
        """The module with values, on the processor; None where it is too large or cannot be made there."""
        if (key, seed) not in self._real:
            try:
                with fake_mode():
                    fake = make_model(self._order, self._params[key], inputs=False).module
                size = sum(tensor.numel() for tensor in (*fake.parameters(), *fake.buffers()))
                made = None
                if size <= LARGEST_REAL:
                    made = make_model(self._order, self._params[key], seed, inputs=False).module
                self._real[key, seed] = made
            except Exception:
                self._real[key, seed] = None
        return self._real[key, seed]


def _attribute(module: torch.nn.Module, name: str) -> Any:
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _with_data(state: State, data: str | None) -> State:
    return replace(state, data=data)
