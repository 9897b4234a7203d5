"""Results that are one and the same number whatever was tried: a kernel that computes nothing of them is not found."""

import torch

from .cases import Case
from .setting import Setting


class Unmoved:
    """Which these are of a workload, as far as was seen."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._numbers: dict[int, float] = {}
        if not setting.lean:  # there every look at a base draws it anew
            first = setting.bases[0].native
            self._numbers = {n: t.flatten()[0].item() for n, t in enumerate(first) if t.numel()}
            for base in setting.bases:
                self.see(base)

    def see(self, case: Case) -> None:
        """Another case with the reference's results."""
        known = {n: number for n, number in self._numbers.items() if _is_all(case.native[n], number)}
        self._numbers = known

    def tell(self) -> None:
        """A note for each that is left."""
        for index, number in self._numbers.items():
            self._setting.reference.note(
                f"{self._setting.names[index]} of workload {self._setting.workload.name!r} is {number:.6g} "
                "everywhere, in every draw and all that was tried: a kernel that computes nothing of it passes"
            )


def _is_all(tensor: torch.Tensor, number: float) -> bool:
    return bool((tensor == number).all())
