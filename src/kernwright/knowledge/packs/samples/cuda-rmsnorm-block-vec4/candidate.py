"""RMSNorm with a block a row, in 16-byte loads where rows allow it; the second sweep finds the sum in shared memory."""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"BLOCK": [128, 256, 512]}
BLOCK = 256

library = load("kernel.cu", defines={"BLOCK": BLOCK})
MOST_COLUMNS = 12 * 1024


class ModelNew(torch.nn.Module):
    """Both results of the reference, for rows that fit the shared memory that every block has."""

    def __init__(self, cols: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(cols))

    def forward(self, x: torch.Tensor, residual: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        cols = x.shape[-1]
        if cols > MOST_COLUMNS - 32:
            total = x + residual
            return torch.nn.functional.rms_norm(total, (cols,), self.weight, 1e-6), total
        x, residual = x.contiguous(), residual.contiguous()
        y, total = torch.empty_like(x), torch.empty_like(x)
        tensors = (x, residual, self.weight, y, total)
        vectors = cols % 4 == 0 and all(t.data_ptr() % 16 == 0 for t in tensors)
        kernel = library.rmsnorm_vectors if vectors else library.rmsnorm_scalars
        kernel(x.numel() // cols, BLOCK, *tensors, cols, shared=4 * cols)
        return y, total
