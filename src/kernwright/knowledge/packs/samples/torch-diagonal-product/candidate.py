"""diag(a) @ b without the matrix: rows times a column, in blocks of rows that stay in the cache for the second pass."""

import torch

KNOBS = {"ROWS": [16, 32, 64, 128, 1024]}
ROWS = 64


class ModelNew(torch.nn.Module):
    """diag(a) @ b * scale + shift."""

    def __init__(self, cols: int) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(cols))
        self.shift = torch.nn.Parameter(torch.zeros(cols))

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(b)
        for first in range(0, b.shape[0], ROWS):
            part = y[first : first + ROWS]
            torch.mul(b[first : first + ROWS], a[first : first + ROWS, None], out=part)
            torch.addcmul(self.shift, part, self.scale, out=part)
        return y
