"""Triton: a tile of all features by PIXELS pixels, small and plain: many programs, no hints, as in a copy.

01 streamed tiles of 128 and more pixels; 05, the best, has plain accesses. This is its idea left to the compiler.
"""

import torch
import triton
import triton.language as tl

KNOBS = {"PIXELS": [64, 128, 32, 256], "WARPS": [4, 8, 2]}
PIXELS = 64
WARPS = 4


@triton.jit
def rms_norm(x, y, pixels, eps, features: tl.constexpr, tile: tl.constexpr):
    row = tl.arange(0, features)
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    place = tl.program_id(1).to(tl.int64) * features * pixels + row[:, None] * pixels + at[None, :]
    v = tl.load(x + place)
    root = tl.sqrt_rn(tl.sum(v * v, 0) / features + eps)
    tl.store(y + place, v * (1.0 / root)[None, :])


class ModelNew(torch.nn.Module):
    """x / sqrt(mean(x ** 2, dim=1) + eps)."""

    def __init__(self, num_features: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        batch, features = x.shape[:2]
        pixels = x.numel() // (batch * features)
        if features & (features - 1) or features > 256 or pixels % PIXELS or batch > 65535:
            return x / torch.sqrt(torch.mean(x**2, dim=1, keepdim=True) + self.eps)
        y = torch.empty_like(x)
        rms_norm[(pixels // PIXELS, batch)](x, y, pixels, self.eps, features=features, tile=PIXELS, num_warps=WARPS)
        return y
