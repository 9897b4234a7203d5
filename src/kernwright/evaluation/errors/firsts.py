"""Whether a reference says which of equal numbers comes first: nobody chooses then."""

import ast

import torch

from kernwright.evaluation.probes.probe import changed
from kernwright.evaluation.problem.cases import Case
from kernwright.evaluation.problem.setting import Setting


def takes_first(setting: Setting, base: Case) -> list[bool]:
    """For each output: whether it is 0 everywhere on equal inputs, as the index of the first of several maxima is.

    Or counts up along an axis, of a problem whose source says `stable=True`.
    """
    equal = setting.reference.outputs(setting.model, changed(setting, base, torch.ones_like))
    stable = _says_stable(setting.reference.problem.source)
    return [not t.is_floating_point() and (not bool(t.any()) or (stable and _counts_up(t))) for t in equal]


def _says_stable(source: str) -> bool:
    keywords = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.keyword) and node.arg == "stable"]
    return bool(keywords) and all(isinstance(k.value, ast.Constant) and k.value.value is True for k in keywords)


def _counts_up(output: torch.Tensor) -> bool:
    for axis, n in enumerate(output.shape):
        shape = [-1 if each == axis else 1 for each in range(output.dim())]
        count = torch.arange(n, device=output.device).view(shape)
        if n > 1 and bool((output == count).all()):
            return True
    return False
