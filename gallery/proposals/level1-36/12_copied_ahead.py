"""Triton: a program goes through neighbouring tiles of pixels; the next ones are copied into shared memory.

Loads of the next tiles run under the stores of this one without registers for them; a program's tiles lie side by side.
"""

import torch
import triton
import triton.language as tl

KNOBS = {"PIXELS": [128, 64], "TILES": [8, 4, 16], "WARPS": [4, 8], "STAGES": [3, 2, 4]}
PIXELS = 128
TILES = 8
WARPS = 8
STAGES = 3


@triton.jit
def rms_norm(x, y, pixels, eps, features: tl.constexpr, tile: tl.constexpr, tiles: tl.constexpr, stages: tl.constexpr):
    row = tl.arange(0, features)
    start = tl.program_id(1).to(tl.int64) * features * pixels
    for i in tl.range(0, tiles, num_stages=stages):
        at = (tl.program_id(0) * tiles + i) * tile + tl.arange(0, tile)
        place = start + row[:, None] * pixels + at[None, :]
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
        if features & (features - 1) or features > 64 or pixels % (PIXELS * TILES) or batch > 65535:
            return x / torch.sqrt(torch.mean(x**2, dim=1, keepdim=True) + self.eps)
        y = torch.empty_like(x)
        rms_norm[(pixels // (PIXELS * TILES), batch)](
            x, y, pixels, self.eps, features=features, tile=PIXELS, tiles=TILES, stages=STAGES, num_warps=WARPS
        )
        return y
