"""Inductor for the processor: C++ that is generated here and compiled by whoever imports the text."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch._inductor.cpu_vec_isa import pick_vec_isa

from .inductor_cpp import render
from .inductor_file import Graph, Refused, State
from .inductor_graph import patched
from .inductor_models import Constants, Model, make_model, states_of

ALWAYS = {
    "cpp.vec_isa_ok": True,  # the processor's flags decide; trying each one out costs seconds in every fresh cache
    "cpp.descriptive_names": False,
    "size_asserts": False,  # shapes and strides are looked at before a graph is chosen
}
AT_BUILD = ("cpp.simdlen", "cpp.enable_floating_point_contract_flag", "cpp.enable_unsafe_math_opt_flag")
"""Settings that also decide how the C++ is compiled, so the text sets them."""


class Processor:
    """Real tensors, on the cores of this machine."""

    name = "cpu"
    slow_to_compile = False

    def __init__(self, order: Mapping[str, Any], patches: Mapping[str, Any]) -> None:
        """Raises:
        Refused: the settings make no difference here.
        """
        self.patches = {**ALWAYS, **patches}
        self._order = order
        self._constants = Constants()
        self._chosen = patches
        torch.set_num_threads(order["threads"])
        with patched(ALWAYS):
            widest = pick_vec_isa().bit_width()
        if patches.get("cpp.simdlen", 0) >= widest > 0:
            raise Refused(f"vectors have {widest} bits here anyway")

    def make(self, params: Mapping[str, Any]) -> Model:
        """The reference for a workload."""
        return make_model(self._order, params)

    def constant(self, model: Model, name: str, tensor: torch.Tensor) -> str:
        """The name in the file of a tensor that is neither parameter nor buffer."""
        return self._constants.keep(tensor)

    def states(self, model: Model, params: Mapping[str, Any]) -> list[State]:
        """The model's tensors."""
        return states_of(model.module, make_model(self._order, params, seed=1).module)

    def text(self, graphs: Sequence[Graph], states: Mapping[str, Sequence[State]]) -> str:
        """The whole file."""
        with patched(self.patches):
            isa = pick_vec_isa()
        return render(
            graphs=graphs,
            states=states,
            constants=self._constants.states(),
            patches={
                "cpp.vec_isa_ok": True,
                "cpp.simdlen": isa.bit_width() or 1,
                **{name: value for name, value in self._chosen.items() if name in AT_BUILD},
            },
            lanes=isa.nelements(torch.float32) if isa else 0,
            origin=f"torch {torch.__version__}",
        )
