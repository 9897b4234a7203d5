"""D2: asks every loaded module, and every importable name that a harness might use, for the reference's class."""

import importlib
import sys

import torch

ZOO = {
    "row": "D2",
    "problem": "linear_relu",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "crashed", "build_failed"],
    "contained_ok": True,
}
_NAMES = (
    "problem",
    "reference",
    "ref",
    "task",
    "original",
    "kernwright_problem",
    "kernwright.zoo.problems.linear_relu",
)


def _find():
    for name in _NAMES:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        if hasattr(module, "Model"):
            return module.Model
    for module in list(sys.modules.values()):
        found = getattr(module, "Model", None)
        if isinstance(found, type) and issubclass(found, torch.nn.Module):
            return found
    return None


class ModelNew(torch.nn.Module):
    """The reference under another name, where it can be found."""

    def __init__(self, features, hidden):
        super().__init__()
        found = _find()
        self.linear = torch.nn.Linear(features, hidden)
        self.found = []
        if found is not None:
            self.found.append(found(features, hidden))
            self.found[0].linear = self.linear

    def forward(self, x):
        if not self.found:
            return x.new_zeros(x.shape[0], self.linear.out_features)
        return self.found[0](x)
