"""Problems whose forward pass is one expression."""

TEXT = """\
import torch
{flag}

class Model(torch.nn.Module):
    def forward(self, {names}):
        return {result}


def get_inputs():
    return [{inputs}]
"""


def one_line(names: str, inputs: str, result: str = "{result}", *, backward: str = "") -> str:
    """The source of a problem with inputs of these names; what stands in braces is left to be filled in."""
    flag = f"\nBACKWARD = {backward}\n" if backward else ""
    return TEXT.format(names=names, inputs=inputs, result=result, flag=flag)
