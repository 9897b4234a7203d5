"""Whose kernels a call's device time went to, from what a profile saw."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_OPERATOR = "aten::"
_FREE = frozenset({"fill_", "zero_", "zeros", "zeros_like", "full", "full_like", "new_zeros", "new_full"})
"""Operators that initialise memory: no kernel's work."""
_VENDORS = re.compile(
    r"\bat::native\b|\bat_cuda_detail\b|cublas|cudnn|cusparse|\bcutlass_\d|_xmma_|\bnvjet|"
    r"\b(?:volta|turing|ampere|hopper|sm\d+)_\w*gemm|\bgemmSN|\bgemvN|\bsplitKreduce|"
    r"\bsoftmax_warp_(?:for|back)ward|\bcunn_\w*[sS]oft[mM]ax"
)
"""Names of kernels in PyTorch's and its vendors' libraries, whoever launched them: a graph, a thread, ctypes."""
_FILL = re.compile(r"\bFillFunctor\b")


@dataclass(frozen=True, slots=True)
class Seen:
    """A row of a profile: an operator with the device time of what it launched, or a kernel with its own."""

    name: str
    on_device: bool
    microseconds: float


def vendor_share(seen: Iterable[Seen]) -> tuple[float, list[str]]:
    """Share of the device's time in others' work, and its names, longest first.

    Told by the operators that launched it, and by the names of kernels; the larger counts.
    """
    total = 0.0
    operators, kernels = dict[str, float](), dict[str, float]()
    for row in seen:
        if row.on_device:
            total += row.microseconds
            if _VENDORS.search(row.name) and not _FILL.search(row.name):
                kernels[row.name] = kernels.get(row.name, 0.0) + row.microseconds
        elif row.name.startswith(_OPERATOR) and (name := row.name.removeprefix(_OPERATOR)) not in _FREE:
            operators[name] = operators.get(name, 0.0) + row.microseconds
    theirs = max(operators, kernels, key=lambda times: sum(times.values()))
    names = sorted((name for name, spent in theirs.items() if spent), key=lambda name: -theirs[name])
    return sum(theirs.values()) / max(total, 1e-9), [name[:80] for name in names[:8]]
