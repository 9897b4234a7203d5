"""What is asked of some outputs beside the rule of errors, which goes by the size of a whole output."""

from collections.abc import Sequence

import torch

from .cases import Case
from .comparison import Verdict
from .setting import Setting
from .short_operands import asks, differs, operands_met
from .slices import parts_met, parts_near


def closely_met(setting: Setting, case: Case, outputs: Sequence[torch.Tensor]) -> Verdict:
    """Whether each part was computed, and products of whole operands; for outputs that met the rule of errors."""
    parts = parts_met(setting, case, outputs)
    return operands_met(setting, case, outputs) if parts.passed else parts


def closely_near(setting: Setting, case: Case, outputs: Sequence[torch.Tensor]) -> torch.Tensor:
    """Whether that needs no oracle to be said; a truth value where the outputs are, not waited for."""
    near = parts_near(case, outputs)
    return near & ~differs(outputs, case) if asks(setting, case) else near
